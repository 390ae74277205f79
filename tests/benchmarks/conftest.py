"""Each test module names the benchmark script that it tests as ``SCRIPT``."""

import importlib
import sys
from pathlib import Path

import pytest
from learning_plan import make_places


@pytest.fixture(scope="module")
def bench(request):
    """The script as a module of the package ``benchmarks``, which lies at the root of the checkout."""
    root = str(Path(__file__).parents[2])
    sys.path.insert(0, root)
    yield importlib.import_module(f"benchmarks.{request.module.SCRIPT}")
    sys.path.remove(root)


@pytest.fixture(scope="session")
def learning_places(tiny_pool, tmp_path_factory):
    """What the small plans of the learning curves read."""
    return make_places(tiny_pool, tmp_path_factory.mktemp("learning_places"))
