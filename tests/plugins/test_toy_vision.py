"""A world with eyes of its own, and a source of examples, from other packages: no line of ours changed."""

import json
from pathlib import Path

import pytest

from whatchanged.errors import PluginError, RecipeError
from whatchanged.recipes.reader import load_recipe, parse_saved_recipe
from whatchanged.recipes.values import dump_recipe

HERE = Path(__file__).parent
OURS = HERE.parents[1] / "src"
RECIPE = """
name = "toy"
description = "A world that is seen by eyes of its own"
seed = 3
[method]
name = "scorer"
width = 16
heads = 2
word_width = 12
[vision]
kind = "toy-eyes"
finds = true
[data]
{data}
[[stages]]
name = "look"
tasks = {{ toy-find = 1 }}
steps = 40
batch = 6
lr = 3e-2
log_every = 10
[[stages]]
name = "caption"
tasks = {{ caption = 2, toy-find = 1 }}
steps = 10
batch = 6
lr = 3e-3
evaluate_every = 5
"""
DATA = {"dataset": 'source = "dataset"\nvalidation = 0', "toy-squares": 'source = "toy-squares"'}


@pytest.fixture
def packages(site):
    """The packages of the world and of its eyes, installed."""
    for name in ("toy_world", "toy_vision"):
        site.install_project(HERE / name)


@pytest.fixture
def recipe(packages, tmp_path):
    path = tmp_path / "toy.toml"
    path.write_text(RECIPE.format(data=DATA["dataset"]))
    return path


def test_no_file_of_ours_names_it():
    names = ("toy_vision", "toy-vision", "toy-eyes", "ToyEyes", "toy-find", "toy-squares")
    texts = {path: path.read_text("utf-8") for path in OURS.rglob("*") if path.suffix in (".py", ".toml")}
    assert len(texts) > 100
    assert not [path for path, text in texts.items() if any(name in text for name in names)]


def test_its_settings_are_checked_like_our_own(recipe):
    loaded = load_recipe(recipe, ["vision.numbers=8"])
    assert loaded.vision.numbers == 8
    assert parse_saved_recipe(dump_recipe(loaded), "saved") == loaded
    for override, message in {
        "vision.numers=8": "unknown key vision.numers. Did you mean numbers",
        "vision.numbers=0": "vision.numbers: got 0, wanted a number above 0",
        "vision.image_width=25": "wanted a multiple of the places in a row",
        "vision.patch=8": 'no effect with vision.kind = "toy-eyes": it is a setting of "patches"',
        "vision.kind=toy-eye": "wanted one of features, patches, backbone, objects, toy-eyes",
        "vision.finds=false": 'It needs vision.kind = "toy-eyes" with vision.finds = true.',
        "data.source=pol": "wanted one of dataset, pool, toy-squares. Did you mean pool?",
    }.items():
        with pytest.raises(RecipeError) as raised:
            load_recipe(recipe, [override])
        assert message in str(raised.value), override


def test_another_kind_leaves_its_keys_out(recipe):
    overrides = [
        "vision.kind=patches",
        "stage.look.tasks={ caption = 1 }",
        "stage.caption.tasks={ caption = 1 }",
    ]
    assert load_recipe(recipe, overrides).vision.kind == "patches"


@pytest.mark.parametrize("source", ["dataset", pytest.param("toy-squares", marks=pytest.mark.slow)])
def test_from_drawing_to_a_score(packages, source, tmp_path, whatchanged):
    """Synth, plan, train, export, caption, evaluate."""
    recipe = tmp_path / "toy.toml"
    recipe.write_text(RECIPE.format(data=DATA[source]))
    data, run, model, said = (tmp_path / name for name in ("data", "run", "model", "said.jsonl"))
    steps = (
        ("synth", "toy-squares", data, "--scenes", "40", "--size", "24x18"),
        ("train", recipe, "--data", data, "--plan"),
        ("train", recipe, "--data", data, "--output", run, "--device", "cpu"),
        ("export", run, model, "--data", data),
        ("caption", data, "--model", model, "-o", said),
        ("evaluate", said, data, "--no-java", "--json", tmp_path / "report.json"),
    )
    for step in steps:
        code, out, err = whatchanged(*step)
        assert code == 0, (step[0], err)
        assert "--plan" not in step or "look" in out
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    results = [line["toy-find"] for line in lines if "toy-find" in line and line.get("stage") == "look"]
    assert results[-1] < 0.7 * results[0]  # the truth taught it where the squares are
    card = json.loads((model / "bundle.json").read_text())
    assert (card["world"], card["input"]["size"]) == ("toy", [24, 18])
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["scene"]["semantic"]["true"]["of"] > 0


def test_doctor_finds_both(packages, whatchanged):
    out = whatchanged("doctor")[1]
    assert "plug-in: vision toy-eyes of toy-vision 1.5, found" in out
    assert "plug-in: source toy-squares of toy-vision 1.5, found" in out


BROKEN = """
from dataclasses import dataclass
from whatchanged.recipes import BackboneConfig
from whatchanged.recipes.visions import VisionSettings
from whatchanged.recipes.sources import DataSettings

@dataclass(frozen=True)
class Unchecked(VisionSettings):
    kind: str = "unchecked"

class Bare(VisionSettings):
    def check(self, where):
        pass

Other = BackboneConfig

@dataclass(frozen=True)
class Nameless(Bare):
    pass

@dataclass(frozen=True)
class Folderless(DataSettings):
    source: str = "folderless"
    path: str = ""
"""


@pytest.mark.parametrize(
    ("table", "value", "message"),
    [
        ("vision.kind", "unchecked", "TypeError: Unchecked lacks check"),
        ("vision.kind", "other", "it calls itself 'backbone'"),
        ("vision.kind", "nameless", "Nameless.kind has no default; it should be 'nameless'"),
        ("vision.kind", "gone", "ModuleNotFoundError"),
        ("vision.kind", "number", "wanted a class derived from whatchanged.recipes.visions.VisionSettings"),
        ("data.source", "folderless", "Folderless lacks as_pictures, check, with_folders"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_package(site, table, value, message):
    entries = {
        "whatchanged.visions": {
            "unchecked": "broken:Unchecked",
            "other": "broken:Other",
            "nameless": "broken:Nameless",
            "gone": "no_such_module:Eyes",
            "number": "broken:__name__",
        },
        "whatchanged.sources": {"folderless": "broken:Folderless"},
    }
    site.install("bad-eyes", entries, broken=BROKEN)
    with pytest.raises(PluginError) as raised:
        load_recipe("pcl-tiny", [f"{table}={value}"])
    assert f"{value!r} of bad-eyes 1.5 cannot be used: " in str(raised.value)
    assert message in str(raised.value)
