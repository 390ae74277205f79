"""Recipes of before 0.2, as runs and bundles keep them. ``old`` holds texts that the program wrote then."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes import (
    DatasetConfig,
    FeaturesConfig,
    ObjectsConfig,
    PatchesConfig,
    PoolConfig,
)
from whatchanged.recipes.compatibility import current_form, is_of_before
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.recipes.reader import load_recipe, parse_recipe, parse_saved_recipe
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.recipes.values import dump_recipe

OLD = Path(__file__).parent / "old"
SHIPPED = Path(__file__).parents[2] / "src/whatchanged/models/clevr-pcl/bundle.json"


def saved(name):
    return parse_saved_recipe((OLD / f"{name}.toml").read_text(), name)


EXPECTED = {
    "clevr-pcl": Recipe(
        name="clevr-pcl",
        description="The shipped model: PCL with matched tokens, on drawn triples",
        seed=72,
        method=PCLConfig(
            width=128,
            heads=4,
            ffn=512,
            cross_layers=3,
            dropout=0.1,
            max_length=28,
            every_word=True,
        ),
        vision=ObjectsConfig(
            image_width=240,
            image_height=160,
            channels=(24, 48, 96),
            blocks=4,
            keep=16,
            matching=True,
            scene_context=True,
            guided_attention=True,
        ),
        data=PoolConfig(wording="clear", ordered_pairs="all", augment="examples", validation=800),
        stages=(
            StageConfig(
                "match",
                {"matching": 1.0},
                steps=3000,
                batch=128,
                lr=2e-3,
                schedule="cosine",
                warmup=100,
                optimizer="adamw",
                weight_decay=1e-4,
                train_vision=False,
                max_grad_norm=1.0,
                save_every=500,
            ),
            StageConfig(
                "pretrain",
                {"mlm": 8.0, "mvcl": 1.0, "fda": 2.0, "matching": 2.0},
                steps=600,
                batch=64,
                lr=8e-4,
                schedule="inverse_sqrt",
                warmup=100,
                optimizer="adamw",
                weight_decay=1e-4,
                train_vision=False,
                max_grad_norm=1.0,
                precision="bf16",
                save_every=500,
            ),
            StageConfig(
                "caption",
                {"caption": 6.0, "matching": 1.0},
                steps=4500,
                batch=64,
                lr=9e-4,
                schedule="cosine",
                warmup=300,
                optimizer="adamw",
                weight_decay=1e-4,
                train_vision=False,
                max_grad_norm=1.0,
                precision="bf16",
                evaluate_every=1500,
                save_every=500,
            ),
        ),
    ),
    "pcl-pixels": Recipe(
        name="pcl-pixels",
        description="PCL on the pictures of any data set folder: small",
        seed=11,
        method=PCLConfig(
            width=64,
            heads=4,
            ffn=128,
            cross_layers=2,
            dropout=0.1,
            max_length=28,
            every_word=True,
        ),
        # a backbone of then has the heads of object tokens, so its weights fit this kind and no other
        vision=ObjectsConfig(image_width=120, image_height=80, channels=(16, 32, 48), blocks=2, keep=0),
        data=DatasetConfig(validation=64),
        stages=(
            StageConfig(
                "pretrain",
                {"mlm": 8.0, "mvcl": 1.0, "fda": 2.0},
                steps=150,
                batch=28,
                lr=1e-3,
                schedule="inverse_sqrt",
                warmup=50,
                save_every=50,
            ),
            StageConfig(
                "caption",
                {"caption": 1.0},
                steps=450,
                batch=32,
                lr=1e-3,
                schedule="cosine",
                warmup=50,
                evaluate_every=150,
                save_every=150,
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_recipe_becomes_the_new_one_field_by_field(name):
    assert saved(name) == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "method", "vision"),
    [
        ("pcl-tiny", PCLConfig, FeaturesConfig),
        ("pcl-table5-4-b2w-cub-nabirds", PCLCrossTaskConfig, FeaturesConfig),
        ("clip4idc-clevr-authors", CLIP4IDCConfig, PatchesConfig),
        ("scorer-clevr-authors", ScorerConfig, FeaturesConfig),
    ],
)
def test_recipes_that_have_not_changed_read_alike_then_and_now(name, method, vision):
    then, now = saved(name), load_recipe(name)
    assert then == now
    assert (type(then.method), type(then.vision)) == (method, vision)


BEFORE = {"occlusion": False, "landmarks": False}
"""What tokens of the shipped model's kind were not told in those days."""


def test_a_recipe_that_only_tells_its_tokens_more_reads_alike():
    then, now = saved("own-finetune"), load_recipe("own-finetune")
    assert then == replace(now, description=then.description, vision=replace(now.vision, **BEFORE))
    assert (type(then.method), type(then.vision)) == (PCLConfig, ObjectsConfig)


def test_settings_that_had_no_effect_are_kept():
    """Today's recipe says nothing of captions, as its one stage learns none."""
    then, now = saved("clevr-see"), load_recipe("clevr-see")
    assert then == replace(
        now,
        description=then.description,
        method=replace(now.method, dropout=0.1, every_word=True),
        vision=replace(now.vision, guided_attention=True, **BEFORE),
    )


def test_every_old_text_is_known_as_one_and_no_new_one_is():
    assert len(list(OLD.iterdir())) == 8
    for file in OLD.iterdir():
        text = file.read_text()
        assert "clip = " in text and "scene_truth" in text
        recipe = parse_saved_recipe(text, file.name)
        assert parse_saved_recipe(dump_recipe(recipe), "again") == recipe


def test_the_recipe_inside_the_shipped_model_reads():
    text = json.loads(SHIPPED.read_text())["provenance"]["resolved_recipe"]
    shipped, now = parse_saved_recipe(text, "bundle"), load_recipe("clevr-pcl")
    assert (shipped.method, shipped.vision) == (now.method, now.vision)
    assert [stage.tasks for stage in shipped.stages] == [stage.tasks for stage in now.stages]


CHANGES = {
    "features of a pool are tokens": (
        "clevr-pcl",
        'features = ""',
        'features = "seen"',
        lambda r: r.data.tokens == "seen",
    ),
    "variation is augmentation": (
        "clevr-pcl",
        'vary = "examples"',
        'vary = "batches"',
        lambda r: r.data.augment == "batches",
    ),
    "features of a data set": (
        "pcl-tiny",
        'features = ""',
        'features = "grids"',
        lambda r: r.data.features == "grids",
    ),
    "a path": ("pcl-tiny", 'path = ""', 'path = "a b"', lambda r: r.data.path == "a b"),
    "clip is the largest gradient norm": (
        "pcl-tiny",
        "clip = 0.0",
        "clip = 0.5",
        lambda r: [s.max_grad_norm for s in r.stages] == [0.5, 0.5],
    ),
    "a survey is a scene context": (
        "clevr-pcl",
        "survey = true",
        "survey = false",
        lambda r: not r.vision.scene_context,
    ),
    "guided attention is the vision's": (
        "clevr-pcl",
        "guided_attention = true",
        "guided_attention = false",
        lambda r: not r.vision.guided_attention,
    ),
    "guided attention of features is nobody's": (
        "pcl-tiny",
        "guided_attention = false",
        "guided_attention = true",
        lambda r: r.vision == load_recipe("pcl-tiny").vision,
    ),
    "seeing is detection": (
        "clevr-see",
        "seeing = 1.0",
        "seeing = 2.0",
        lambda r: dict(r.stages[0].tasks) == {"detection": 2.0},
    ),
    "birds are cross-task data": (
        "pcl-table5-4-b2w-cub-nabirds",
        "margin = 0.4",
        "margin = 0.3",
        lambda r: (r.method.name, r.method.margin) == ("pcl-cross-task", 0.3),
    ),
    "settings of other kinds are forgotten": (
        "pcl-tiny",
        "keep = 24",
        "keep = 5",
        lambda r: r == load_recipe("pcl-tiny"),
    ),
}


@pytest.mark.parametrize(("name", "old", "new", "holds"), CHANGES.values(), ids=CHANGES)
def test_what_each_old_key_is_called_now(name, old, new, holds):
    text = (OLD / f"{name}.toml").read_text()
    assert old in text
    assert holds(parse_saved_recipe(text.replace(old, new), name))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('kind = "features"', 'kind = "dreams"'),
        ('kind = "features"', "kind = [1]"),
        ("[method]", "[methods]"),
        ("[data]", "[dta]"),
        ('source = "dataset"', ""),
        ("[[stages]]", "[[stage]]"),
        ("tasks = { caption = 1.0 }", "tasks = 3"),
        ('name = "pcl"', 'name = ["pcl"]'),
        ('name = "pcl"', 'name = "plc"'),
        ("width = 32", "width = 32\nwidht = 3"),
        ("steps = 30", 'steps = "all"'),
    ],
)
def test_a_damaged_old_recipe_is_one_message(old, new):
    text = (OLD / "pcl-tiny.toml").read_text()
    assert old in text
    with pytest.raises(RecipeError, match=r"^run/recipe\.toml: "):
        parse_saved_recipe(text.replace(old, new), "run/recipe.toml")


def test_what_is_not_of_before_stays_as_it_is():
    for table in ({}, {"vision": 3}, {"vision": {"kind": "features"}}, {"vision": {"scene_truth": True}}):
        assert not is_of_before(table)
        assert current_form(table) == table


REGIONS = Path(__file__).parents[1] / "fixtures" / "regions-0.2"
"""Recipes in which something learned from regions of screens, and the card of a model of such a run."""
GONE = r": it holds a network that judges regions of screens\. .* Version 0\.2 reads it"


@pytest.mark.parametrize("name", ["run/recipe.toml", "screens-pcl.toml"])
def test_a_run_that_learned_from_regions_is_refused_with_the_version_that_reads_it(name):
    text = (REGIONS / name).read_text()
    with pytest.raises(RecipeError, match=f"^run{GONE}"):
        parse_saved_recipe(text, "run")
    with pytest.raises(RecipeError, match=f"^mine{GONE}"):
        parse_recipe(text, "mine")


@pytest.mark.parametrize(
    "part", ['[method]\nname = "regions"', '[vision]\nkind = "regions"', '[data]\nsource = "regions"']
)
def test_so_is_a_recipe_by_each_of_its_parts(part):
    with pytest.raises(RecipeError, match=f"^mine{GONE}"):
        parse_recipe(part, "mine")


@pytest.mark.parametrize("name", ["screens-pcl", "screens-regions", "screens-real"])
def test_so_is_a_recipe_that_was_shipped(name):
    with pytest.raises(RecipeError, match=f"^{name}{GONE}"):
        load_recipe(name)
