"""Each test module names the benchmark script that it tests as ``SCRIPT``."""

import importlib
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def bench(request):
    """The script as a module of the package ``benchmarks``, which lies at the root of the checkout."""
    root = str(Path(__file__).parents[2])
    sys.path.insert(0, root)
    yield importlib.import_module(f"benchmarks.{request.module.SCRIPT}")
    sys.path.remove(root)
