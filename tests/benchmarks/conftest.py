"""The scripts under test: they are no package, so each test module names its own as ``SCRIPT``."""

import importlib
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def bench(request):
    """The script, with the modules beside it."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    yield importlib.import_module(request.module.SCRIPT)
    sys.path.remove(folder)
