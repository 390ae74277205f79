"""The recipes inside the runs and bundles of old formats among the fixtures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from whatchanged.recipes import DatasetConfig, FeaturesConfig, ObjectsConfig, PatchesConfig, PoolConfig
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.recipes.reader import parse_saved_recipe

FIXTURES = Path(__file__).parents[1] / "fixtures" / "old"
TINY_PCL = PCLConfig(
    width=8, heads=2, ffn=8, cross_layers=1, dropout=0.1, max_length=20, negatives=1, every_word=True
)
TINY_OBJECTS = ObjectsConfig(
    image_width=48,
    image_height=32,
    channels=(4, 4, 6),
    blocks=1,
    keep=4,
    matching=True,
    guided_attention=True,
)
SQUARES = PatchesConfig(image_width=48, image_height=32, patch=16)
RUNS = {
    "clevr-see": (
        TINY_PCL,
        TINY_OBJECTS,
        PoolConfig(path="pool", wording="full", ordered_pairs="all", validation=200),
        [{"detection": 1}],
    ),
    "clevr-pcl": (
        TINY_PCL,
        replace(TINY_OBJECTS, scene_context=True),
        PoolConfig(path="pool", wording="clear", ordered_pairs="all", validation=800),
        [{"matching": 1}, {"mlm": 8, "mvcl": 1, "fda": 2, "matching": 2}, {"caption": 6, "matching": 1}],
    ),
    "pcl-pixels": (
        TINY_PCL,
        replace(TINY_OBJECTS, keep=0, matching=False, guided_attention=False),
        DatasetConfig(path="data", validation=64),
        [{"mlm": 8, "mvcl": 1, "fda": 2}, {"caption": 1}],
    ),
    "pcl-tiny": (
        replace(TINY_PCL, every_word=False),
        FeaturesConfig(rows=4, columns=6, feature_width=6),
        DatasetConfig(path="data", features="grids", validation=16),
        [{"mlm": 8, "mvcl": 1, "fda": 2}, {"caption": 1}],
    ),
    "pcl-birds": (
        PCLCrossTaskConfig(
            width=8,
            heads=2,
            ffn=8,
            cross_layers=1,
            max_length=20,
            negatives=1,
            distractor_judging=False,
            classes=6,
        ),
        SQUARES,
        DatasetConfig(
            path="birds/birds_to_words",
            single="birds/cub",
            single_preparation="pcl-cub",
            labelled="birds/nabirds",
            preparation="pcl-birds",
            validation=0,
        ),
        [{"mlm": 9, "mvcl": 1, "fda": 2}, {"mlm": 9, "mvcl": 1, "fda": 2, "fgvc": 3}, {"caption": 1}],
    ),
    "scorer-tiny": (
        ScorerConfig(
            width=8, word_width=6, heads=2, layers=1, decoder_layers=1, max_length=20, reason_weight=0.01
        ),
        SQUARES,
        DatasetConfig(path="data", examples="scenes", exchange=True, validation=16),
        [{"caption": 1}],
    ),
    "clip4idc-tiny": (
        CLIP4IDCConfig(
            width=8,
            heads=2,
            ffn=8,
            intra_layers=1,
            inter_layers=1,
            text_width=8,
            text_heads=2,
            text_ffn=8,
            text_layers=1,
            context=20,
            joint_width=8,
            decoder_width=8,
            decoder_heads=2,
            decoder_ffn=8,
            decoder_layers=1,
            dropout=0.0,
            max_words=20,
            max_length=20,
            freeze=False,
        ),
        PatchesConfig(image_width=32, image_height=32, patch=16),
        DatasetConfig(path="data", validation=16),
        [{"retrieval": 1}, {"caption": 1}],
    ),
}
"""Method, vision, data and each stage's tasks of the runs among the fixtures."""


@pytest.mark.parametrize("name", RUNS)
def test_the_recipes_of_old_runs_and_their_bundles(name):
    texts = [(FIXTURES / "runs" / name / "recipe.toml").read_text()]
    card = FIXTURES / "bundles" / name / "bundle.json"
    if card.is_file():
        texts.append(json.loads(card.read_text())["provenance"]["resolved_recipe"])
    assert len(texts) == (1 if name == "clevr-see" else 2)
    for text in texts:
        found = parse_saved_recipe(text, name)
        # a card leaves out where the data lie, which says more of a machine than of a model
        data = replace(
            found.data, **{key: value for key, value in vars(RUNS[name][2]).items() if _place(key)}
        )
        assert (found.method, found.vision, data) == RUNS[name][:3]
        assert [dict(stage.tasks) for stage in found.stages] == RUNS[name][3]
        assert {stage.steps for stage in found.stages} == {2}
        assert {stage.max_grad_norm for stage in found.stages} == {1.0 if name == "clevr-pcl" else 0.0}
    assert parse_saved_recipe(texts[0], name).data == RUNS[name][2]


def _place(key):
    return key in ("path", "features", "single", "labelled", "tokens")


def test_every_run_of_the_fixtures_is_among_them():
    assert {run.name for run in (FIXTURES / "runs").iterdir()} == set(RUNS)
