"""Where the settings of sources say that their data lie, and how they are read as pictures."""

from typing import get_args

from whatchanged.datasets.preparation import PREPARATIONS
from whatchanged.recipes import DatasetConfig, PoolConfig
from whatchanged.recipes.sources.dataset import PreparationName

DATASET = DatasetConfig(path="a", features="f", merges="m", examples="scenes", exchange=True, wording="full")
POOL = PoolConfig(path="a", tokens="t", merges="m", wording="full", validation=8)


def test_a_recipe_names_the_preparations_that_there_are():
    """Named twice: reading recipes must not load what computes with them."""
    assert set(get_args(PreparationName)) == set(PREPARATIONS)


def test_data_move_to_other_folders():
    assert DatasetConfig(validation=3).with_folders("a", "b") == DatasetConfig(
        path="a", features="b", validation=3
    )
    pool = PoolConfig(wording="full").with_folders("a", "b")
    assert pool == PoolConfig(path="a", tokens="b", wording="full") and pool.stored == "b"


def test_no_folder_is_published():
    assert DATASET.without_folders() == DatasetConfig(examples="scenes", exchange=True, wording="full")
    assert POOL.without_folders() == PoolConfig(wording="full", validation=8)


def test_the_same_pairs_as_pictures():
    assert DATASET.as_pictures() == DatasetConfig(path="a", wording="full")
    assert POOL.as_pictures() == PoolConfig(path="a", wording="full", validation=8)


def test_the_pairs_of_another_folder_are_a_data_set():
    assert DATASET.of_folder("b") == DatasetConfig(path="b")
    assert POOL.of_folder("b") == DatasetConfig(path="b", validation=8)
