"""Tiny data for the recipes, drawn when the first test asks for it."""

import pytest


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory):
    from support.tiny_data import TinyData

    return TinyData(tmp_path_factory.mktemp("data"))
