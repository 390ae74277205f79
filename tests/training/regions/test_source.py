"""Pairs with their stored regions as examples of a recipe."""

import json

import numpy as np
import pytest
from support.drawn_regions import drawn_pair, write_set
from support.tiny_sets import ui_train

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


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Two labelled pairs to learn from, one to validate on, and their regions."""
    folder = tmp_path_factory.mktemp("real")
    ui_train(folder / "set")
    store_regions(open_dataset(folder / "set"), folder / "set", folder / "regions", quiet=True, regions=4)
    return folder / "set", folder / "regions"


def beside(real, repeats):
    names = f'data.real_path="{real[0]}"', f'data.real_features="{real[1]}"'
    return *names, f"data.real_repeats={repeats}"


def test_real_pairs_stand_beside_drawn_ones_as_often_as_the_recipe_says(drawn, real, tmp_path):
    sources = open_sources(recipe(*drawn, *beside(real, 3)), tmp_path)
    assert (len(sources.train), len(sources.validation)) == (3 * 2 + 8, 1 + 2)
    rng = np.random.default_rng(0)
    ids = [sources.train.example(index, rng).record.pair_id for index in range(len(sources.train))]
    assert ids == [*(3 * ["ab-001", "ab-002"]), *(str(number) for number in range(8))]
    assert sources.train.example(0, rng).truth.changes[0].kind == "moved"
    assert sources.validation.example(0, rng).truth.doubtful


def test_real_pairs_alone_are_a_set_like_any_other(real, tmp_path):
    sources = open_sources(recipe(*real), tmp_path)
    assert (len(sources.train), len(sources.validation)) == (2, 1)


def test_folders_of_real_pairs_are_named_where_they_are_read_and_only_there(drawn, real, tmp_path):
    with pytest.raises(RecipeError, match=r"real_path is empty.*--set data.real_path=FOLDER"):
        open_sources(recipe(*drawn, "data.real_repeats=2"), tmp_path)
    with pytest.raises(RecipeError, match=r"real_features is empty.*--set data.real_features=FOLDER"):
        open_sources(recipe(*drawn, beside(real, 2)[0], "data.real_repeats=2"), tmp_path)
    with pytest.raises(RecipeError, match=r"no effect without real pairs: data.real_repeats is 0"):
        recipe(*drawn, beside(real, 2)[0])
    with pytest.raises(RecipeError, match=r"data.real_repeats: got -1"):
        recipe(*drawn, "data.real_repeats=-1")
