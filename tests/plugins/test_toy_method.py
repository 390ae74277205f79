"""A method and a world from other packages, added with no line of ours changed: from drawing to a score."""

import json
from pathlib import Path

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe

HERE = Path(__file__).parent
OURS = HERE.parents[1] / "src"
RECIPE = """
name = "toy"
description = "A method and a world of other packages"
seed = 3
[method]
name = "toy-mean"
[vision]
kind = "backbone"
image_width = 24
image_height = 16
channels = [4, 6, 8]
blocks = 1
[data]
source = "dataset"
validation = 0
[[stages]]
name = "caption"
tasks = { toy-caption = 1 }
steps = 12
batch = 6
lr = 3e-3
evaluate_every = 6
"""


@pytest.fixture
def recipe(site, tmp_path):
    """Both packages installed, and a recipe that names the method."""
    site.install_project(HERE / "toy_method")
    site.install_project(HERE / "toy_world")
    path = tmp_path / "toy.toml"
    path.write_text(RECIPE)
    return path


def test_no_file_of_ours_names_it():
    names = ("toy_method", "toy-method", "toy-mean", "ToyMean", "toy-caption")
    texts = {path: path.read_text("utf-8") for path in OURS.rglob("*") if path.suffix in (".py", ".toml")}
    assert len(texts) > 100
    assert not [path for path, text in texts.items() if any(name in text for name in names)]


def test_its_settings_are_checked_like_our_own(recipe, whatchanged):
    assert load_recipe(recipe, ["method.width=8"]).method.width == 8
    with pytest.raises(RecipeError, match="Did you mean width"):
        load_recipe(recipe, ["method.widht=8"])
    with pytest.raises(RecipeError, match=r"method\.width: got 0, wanted a number above 0"):
        load_recipe(recipe, ["method.width=0"])
    with pytest.raises(RecipeError, match="Known: toy-caption"):
        load_recipe(recipe, ["stage.caption.tasks={ mlm = 1 }"])
    assert "toy-mean" in whatchanged("recipes")[1]


def test_from_drawing_to_a_score(recipe, tmp_path, whatchanged):
    """Synth, train, export, caption, evaluate."""
    data, run, model, said = (tmp_path / name for name in ("data", "run", "model", "said.jsonl"))
    steps = (
        ("synth", "toy-squares", data, "--scenes", "40", "--size", "24x16"),
        ("train", recipe, "--data", data, "--output", run, "--device", "cpu"),
        ("export", run, model),
        ("caption", data, "--model", model, "-o", said),
        ("evaluate", said, data, "--no-java", "--json", tmp_path / "report.json"),
    )
    for step in steps:
        code, _, err = whatchanged(*step)
        assert code == 0, (step[0], err)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert any("CIDEr-D" in line for line in lines) and any("toy-caption" in line for line in lines)
    card = json.loads((model / "bundle.json").read_text())
    assert (card["method"], card["world"], card["no_change"]["by"]) == ("toy-mean", "toy", "sentences")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["scene"]["semantic"]["true"]["of"] > 0


def test_another_run_begins_from_its_weights(recipe, tmp_path, whatchanged):
    data, first, second = (tmp_path / name for name in ("data", "first", "second"))
    assert whatchanged("synth", "toy-squares", data, "--scenes", "40", "--size", "24x16")[0] == 0
    train = ("train", recipe, "--data", data, "--device", "cpu", "--set", "stage.caption.steps=1")
    assert whatchanged(*train, "--output", first)[0] == 0
    code, _, err = whatchanged(*train, "--output", second, "--init", first)
    assert code == 0 and "0 keep their own start" in err
