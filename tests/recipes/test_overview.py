"""Recipes in groups, by what one must have to train them."""

import pytest

from whatchanged.recipes import overview
from whatchanged.recipes.overview import CLIP, DRAWN, FEATURES, PICTURES, TABLES, grouped_recipes
from whatchanged.recipes.reader import recipe_names


@pytest.fixture(scope="module")
def groups():
    return grouped_recipes()


def entry(groups, group, name):
    """The entry of a recipe, which stands in this group."""
    (found,) = (entry for entry in groups[group] if entry.name == name)
    return found


def test_every_recipe_stands_in_one_group(groups):
    assert list(groups) == [PICTURES, FEATURES, DRAWN, CLIP, TABLES] == list(overview.GROUPS)
    assert sorted(entry.name for entries in groups.values() for entry in entries) == list(recipe_names())
    assert all(groups.values())


def test_pictures_alone(groups):
    assert entry(groups, PICTURES, "pcl-pixels").needs == ()
    assert entry(groups, PICTURES, "own-finetune").needs == (
        "a vision that has learned (--init clevr-pcl, or a run)",
    )


def test_features_are_named_by_their_grid(groups):
    assert entry(groups, FEATURES, "pcl-clevr-paper").needs == ("features of 7 x 7 x 2,048",)
    assert entry(groups, FEATURES, "clip4idc-ui-train").needs == ("features of 14 x 14 x 112",)


def test_drawn_pairs_and_what_learned_on_them_before(groups):
    assert entry(groups, DRAWN, "clevr-see").needs == ("drawn scenes (whatchanged synth clevr-pool)",)
    (drawn, vision) = entry(groups, DRAWN, "clevr-scorer").needs
    assert "clevr-pool" in drawn and "--init" in vision


def test_clips_weights(groups):
    assert entry(groups, CLIP, "clip4idc-spot-paper").needs == (
        "CLIP's weights (--init) and merges (data.merges)",
    )


def test_rows_of_tables_say_what_else_they_read(groups):
    needs = entry(groups, TABLES, "pcl-table5-4-b2w-cub-nabirds").needs
    assert needs == (
        "features of 7 x 7 x 2,048",
        "single pictures with captions (data.single)",
        "pictures of labelled classes (data.labelled)",
    )
    assert "CLIP" in entry(groups, TABLES, "clip4idc-clevr-ft1").needs[0]


def test_every_recipe_says_its_time(groups):
    """After "Hours and machine:" at its head."""
    silent = [entry.name for entries in groups.values() for entry in entries if not entry.time]
    assert silent == []
    assert entry(groups, FEATURES, "pcl-clevr-paper").time == "66 h on one GTX 1080 Ti as published"


def test_a_head_that_says_no_time_gives_none(monkeypatch):
    monkeypatch.setattr(overview, "recipe_text", lambda name: "# A recipe.\n#   whatchanged train x\n")
    assert overview.time_of("x") == ""
