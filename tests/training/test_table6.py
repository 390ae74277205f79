"""The rows of SCORER's Table 6 and its recipes for every data set, through the command line, at toy size."""

import json

import pytest

from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.training.checkpoint import read_checkpoint

OTHERS = ("scorer-tiny", "scorer-ui-train")
NAMES = [name for name in recipe_names() if name.startswith("scorer-") and name not in OTHERS]
SMALL = [
    "method.width=32",
    "method.word_width=12",
    "method.heads=4",
    "method.max_length=28",
    "vision.rows=3",
    "vision.columns=3",
    "vision.feature_width=24",
    "stage.train.steps=4",
    "stage.train.batch=6",
    "stage.train.lr=1e-3",
    "stage.train.evaluate_every=2",
    "stage.train.log_every=1",
]


def run_row(name, preset, dataset, run, whatchanged):
    recipe = load_recipe(name)
    settings = [*SMALL, f"method.preset={preset}"]
    settings += ["method.repaired=[]"] if preset == "paper" else []
    overrides = [part for setting in settings for part in ("--set", setting)]
    places = ["--data", dataset, "--features", dataset / "features", "--output", run, "--device", "cpu"]
    code, out, err = whatchanged("train", name, *places, *overrides)
    assert code == 0, err
    assert json.loads(out)["finished"] is True
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    terms = {key for line in lines for key in line if key.startswith("caption")}
    assert terms == {"caption"} | {
        f"caption/{term}"
        for term, weight in (("view", recipe.method.view_weight), ("reason", recipe.method.reason_weight))
        if weight
    }
    assert [line["step"] for line in lines if "CIDEr-D" in line] == [2, 4]
    weights = read_checkpoint(run / "checkpoints" / "best.safetensors").tensors
    assert any("model.reasoning." in n for n in weights) == bool(recipe.method.reason_weight)
    layers = {n.split(".")[2] for n in weights if n.startswith("model.layers.")}
    assert len(layers) == (0 if recipe.method.difference == "subtract" else recipe.method.layers)


def test_eleven_recipes_are_looked_at():
    assert len(NAMES) == 11 and sum(name.startswith("scorer-table6-") for name in NAMES) == 5


@pytest.mark.parametrize("name", NAMES)
def test_every_row_runs_from_its_recipe_to_scored_captions(name, tiny_dataset, tmp_path, whatchanged):
    run_row(name, load_recipe(name).method.preset, tiny_dataset, tmp_path / "run", whatchanged)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_row_runs_with_the_other_preset_too(name, tiny_dataset, tmp_path, whatchanged):
    other = {"paper": "authors", "authors": "paper"}[load_recipe(name).method.preset]
    run_row(name, other, tiny_dataset, tmp_path / "run", whatchanged)
