"""Each test module names the benchmark script that it tests as ``SCRIPT``."""

import importlib

import pytest
from support.learning_plan import make_places


@pytest.fixture(scope="module")
def bench(request):
    """The script as a module of the package ``benchmarks``, which lies at the root of the checkout."""
    return importlib.import_module(f"benchmarks.{request.module.SCRIPT}")


@pytest.fixture(scope="session")
def learning_places(tiny_pool, tmp_path_factory):
    """What the small plans of the learning curves read."""
    return make_places(tiny_pool, tmp_path_factory.mktemp("learning_places"))
