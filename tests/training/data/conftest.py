"""A recipe that reads the tiny data set."""

import pytest

from whatchanged.recipes.reader import load_recipe


@pytest.fixture
def recipe(tiny_dataset):
    return load_recipe("pcl-tiny", [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"])
