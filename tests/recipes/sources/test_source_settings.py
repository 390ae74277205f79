"""Where the settings of sources say that their data lie, and how they are read as pictures."""

from typing import get_args

from whatchanged.datasets.preparation import PREPARATIONS
from whatchanged.recipes import DatasetConfig, PoolConfig, RegionPairsConfig
from whatchanged.recipes.sources.dataset import PreparationName

DATASET = DatasetConfig(path="a", features="f", merges="m", examples="scenes", exchange=True, wording="full")
POOL = PoolConfig(path="a", tokens="t", merges="m", wording="full", validation=8)
REGIONS = RegionPairsConfig(path="a", features="f")
BOTH = RegionPairsConfig(path="a", features="f", real_path="r", real_features="g", real_repeats=2)


def test_a_recipe_names_the_preparations_that_there_are():
    """Named twice: reading recipes must not load what computes with them."""
    assert set(get_args(PreparationName)) == set(PREPARATIONS)


def test_data_move_to_other_folders():
    assert DatasetConfig(validation=3).with_folders("a", "b") == DatasetConfig(
        path="a", features="b", validation=3
    )
    pool = PoolConfig(wording="full").with_folders("a", "b")
    assert pool == PoolConfig(path="a", tokens="b", wording="full") and pool.stored == "b"
    regions = REGIONS.with_folders("b", "g")
    assert regions == RegionPairsConfig(path="b", features="g") and regions.stored == "g"


def test_real_pairs_lie_beside_the_drawn_ones():
    assert REGIONS.paths == ("a",) and BOTH.paths == ("a", "r")
    assert RegionPairsConfig(path="a", real_path="r").paths == ("a",)


def test_no_folder_is_published():
    assert DATASET.without_folders() == DatasetConfig(examples="scenes", exchange=True, wording="full")
    assert POOL.without_folders() == PoolConfig(wording="full", validation=8)
    assert REGIONS.without_folders() == RegionPairsConfig()
    assert BOTH.without_folders() == RegionPairsConfig(real_repeats=2)
    assert BOTH.with_folders("b", "h").real_path == "r"


def test_the_same_pairs_as_pictures():
    assert DATASET.as_pictures() == DatasetConfig(path="a", wording="full")
    assert POOL.as_pictures() == PoolConfig(path="a", wording="full", validation=8)
    assert REGIONS.as_pictures() == DatasetConfig(path="a", validation=0)


def test_the_pairs_of_another_folder_are_a_data_set():
    assert DATASET.of_folder("b") == DatasetConfig(path="b")
    assert POOL.of_folder("b") == DatasetConfig(path="b", validation=8)
    assert REGIONS.of_folder("b") == DatasetConfig(path="b", validation=0)
