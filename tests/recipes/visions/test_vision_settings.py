"""What the settings of visions check, and what they say of themselves."""

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes import BackboneConfig, FeaturesConfig, ObjectsConfig, PatchesConfig
from whatchanged.recipes.tables import VISION
from whatchanged.recipes.visions import kinds_that


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


@pytest.mark.parametrize(
    ("config", "size"),
    [
        (FeaturesConfig(), None),
        (PatchesConfig(image_width=96, image_height=64), (96, 64)),
        (BackboneConfig(image_width=96, image_height=64), (96, 64)),
        (ObjectsConfig(), (240, 160)),
    ],
)
def test_what_reads_pixels_names_their_size(config, size):
    assert config.picture_size == size
    assert config.stored is (size is None)


def test_kinds_in_words():
    assert kinds_that(lambda kind: kind.learns) == '"backbone" or "objects"'
    assert kinds_that(lambda kind: kind.stored) == '"features"'
    assert kinds_that(lambda kind: kind is PatchesConfig) == '"patches"'


def test_what_a_task_needs_is_said_of_every_task_of_a_vision():
    assert set(ObjectsConfig.task_needs) == set(ObjectsConfig(matching=True).tasks)
