from dataclasses import fields
from typing import get_args

import pytest

from whatchanged.datasets.preparation import PREPARATIONS
from whatchanged.errors import RecipeError
from whatchanged.recipes import (
    BackboneConfig,
    DatasetConfig,
    FeaturesConfig,
    ObjectsConfig,
    PatchesConfig,
    PoolConfig,
)
from whatchanged.recipes.schema import StageConfig
from whatchanged.recipes.sources.dataset import PreparationName
from whatchanged.recipes.tables import TABLES, VISION


def test_a_recipe_names_the_preparations_that_there_are():
    """Named twice: reading recipes must not load what computes with them."""
    assert set(get_args(PreparationName)) == set(PREPARATIONS)


@pytest.mark.parametrize("table", TABLES.values())
def test_the_first_field_of_each_kind_is_its_tag(table):
    tags = [fields(kind)[0] for kind in table.kinds()]
    assert len({tag.name for tag in tags}) == 1
    assert len({tag.default for tag in tags}) == len(tags)


@pytest.mark.parametrize("kind", VISION.kinds())
def test_the_defaults_of_a_vision_fit_each_other(kind):
    kind().check("here")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (FeaturesConfig(rows=0), "vision.rows: got 0, wanted a number above 0"),
        (PatchesConfig(patch=0), "vision.patch: got 0"),
        (PatchesConfig(image_width=100), "vision.image_width: got 100, wanted a multiple of vision.patch"),
        (BackboneConfig(image_width=100), "vision.image_width: got 100, wanted a multiple of 8"),
        (ObjectsConfig(image_height=60), "vision.image_height: got 60, wanted a multiple of 8"),
        (BackboneConfig(channels=(24, 48)), "vision.channels: got [24, 48], wanted three or four numbers"),
        (BackboneConfig(channels=(24, 0, 96)), "vision.channels: got [24, 0, 96], wanted three or four"),
        (BackboneConfig(channels=5 * (8,)), "wanted three or four numbers above 0, one a convolution"),
        (
            BackboneConfig(channels=4 * (8,), image_height=120),
            "vision.image_height: got 120, wanted a multiple of 16",
        ),
        (ObjectsConfig(channels=4 * (8,)), "vision.channels: got [8, 8, 8, 8], wanted three numbers above 0"),
        (BackboneConfig(blocks=-1), "vision.blocks: got -1, wanted 0 or more"),
        (ObjectsConfig(keep=-1), "vision.keep: got -1, wanted 0 (all) to 600, the cells of a picture"),
        (ObjectsConfig(keep=601), "vision.keep: got 601, wanted 0 (all) to 600"),
        (
            ObjectsConfig(scene_context=True),
            "vision.scene_context: got true, wanted false without vision.matc",
        ),
    ],
)
def test_what_a_vision_cannot_be(config, message):
    with pytest.raises(RecipeError) as raised:
        config.check("here")
    assert str(raised.value).startswith("here: ") and message in str(raised.value)


@pytest.mark.parametrize(
    ("config", "every"),
    [
        (FeaturesConfig(), True),
        (PatchesConfig(), True),
        (BackboneConfig(), True),
        (ObjectsConfig(keep=0), True),
        (ObjectsConfig(keep=600), True),
        (ObjectsConfig(keep=599), False),
    ],
)
def test_whether_all_cells_of_a_picture_are_tokens(config, every):
    assert config.keeps_every_cell is every


def test_only_object_tokens_have_tasks_of_their_own():
    assert [dict(kind().tasks) for kind in (FeaturesConfig, PatchesConfig, BackboneConfig)] == 3 * [{}]
    assert set(ObjectsConfig().tasks) == {"detection"}
    tasks = ObjectsConfig(matching=True).tasks
    assert {name: task.number for name, task in tasks.items()} == {"detection": 1, "matching": 6}
    assert all(task.truth for task in tasks.values())
    assert [name for name, task in tasks.items() if task.vision_only] == ["detection"]


def test_data_move_to_other_folders():
    assert DatasetConfig(validation=3).with_folders("a", "b") == DatasetConfig(
        path="a", features="b", validation=3
    )
    pool = PoolConfig(wording="full").with_folders("a", "b")
    assert pool == PoolConfig(path="a", tokens="b", wording="full") and pool.stored == "b"


@pytest.mark.parametrize(
    ("settings", "learns"),
    [
        ({}, True),
        ({"train_vision": False}, False),
        ({"rates": {"vision": 0.0}}, False),
        ({"rates": {"vision": 0.1}}, True),
        ({"rates": {"method": 0.0}}, True),
    ],
)
def test_whether_a_stage_trains_the_vision(settings, learns):
    assert StageConfig("s", {"caption": 1.0}, 1, 1, 1.0, **settings).learns_vision is learns
