"""Pairs with their stored regions as examples of a recipe."""

import json

import numpy as np
import pytest
from support.drawn_regions import drawn_pair, write_set

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.data.sources import open_sources
from whatchanged.training.regions.store import RegionFiles, store_regions


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("regions")
    path = write_set(folder / "set")
    store_regions(open_dataset(path), path, folder / "regions", quiet=True, regions=4)
    return path, folder / "regions"


def recipe(path="", regions="", *more):
    return load_recipe(
        "screens-regions", [f'data.path="{path}"', f'data.features="{regions}"', "method.regions=4", *more]
    )


def test_each_pair_is_an_example_with_its_regions_and_its_truth(drawn, tmp_path):
    path, regions = drawn
    sources = open_sources(recipe(path, regions), tmp_path)
    assert (len(sources.train), len(sources.validation)) == (8, 2)
    example = sources.train.example(3, np.random.default_rng(0))
    stored = RegionFiles(regions).read("images/3_before.png", "images/3_after.png")
    for found, wanted in zip((example.measured, example.before, example.after), stored[:3], strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert example.truth.changes == drawn_pair(3)[2].changes
    assert example.caption == "" and example.record.pair_id == "3"


def test_folders_that_are_not_named_and_other_numbers_of_regions(drawn, tmp_path):
    path, regions = drawn
    for given, message in (
        (recipe(), "data.path is empty.*--data"),
        (recipe(path), "data.features is empty.*--features"),
    ):
        with pytest.raises(RecipeError, match=message):
            open_sources(given, tmp_path)
    with pytest.raises(DatasetError, match=r"4 regions a pair; the recipe wants 5"):
        open_sources(recipe(path, regions, "method.regions=5"), tmp_path)


def test_a_set_without_pairs_to_train_on_is_refused(drawn, tmp_path):
    path = write_set(tmp_path / "set", 3)
    lines = [{**json.loads(line), "split": "val"} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(DatasetError, match="no pairs in its train split"):
        open_sources(recipe(path, drawn[1]), tmp_path)
