"""A method with a recurrent decoder from another package: its state is of no shape that ours have."""

import ast
import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from whatchanged.captioner.runtime import load

HERE = Path(__file__).parent
OURS = HERE.parents[1] / "src"
PROMISES = HERE.parents[1] / "docs" / "promises.md"
RECIPE = """
name = "toy"
description = "A recurrent method of another package"
seed = 3
[method]
name = "toy-lstm"
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
tasks = { toy-words = 1 }
steps = 60
batch = 12
lr = 1e-2
evaluate_every = 30
"""


def imported_names(package):
    """Module and name of everything that a package imports of ours."""
    for path in sorted((HERE / package / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("whatchanged"):
                yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("package", ["toy_method", "toy_lstm"])
def test_a_method_needs_promised_names_alone(package):
    promised, names = PROMISES.read_text("utf-8"), list(imported_names(package))
    assert len(names) > 10
    for module, name in names:
        assert f"`{module}`" in promised
        assert name in import_module(module).__all__, (module, name)


def test_no_file_of_ours_names_it():
    names = ("toy_lstm", "toy-lstm", "ToyLSTM", "toy-words")
    texts = {path: path.read_text("utf-8") for path in OURS.rglob("*") if path.suffix in (".py", ".toml")}
    assert len(texts) > 100
    assert not [path for path, text in texts.items() if any(name in text for name in names)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_keeps_the_contract(site):
    site.install_project(HERE / "toy_lstm")
    from whatchanged.testing.methods import MethodCase, check_method

    sys.modules.pop("toy_lstm.settings", None)
    check_method(MethodCase(import_module("toy_lstm.settings").ToyLSTMConfig(width=16)))


@pytest.mark.slow
def test_train_export_caption(site, tmp_path, whatchanged):
    """The bundle's graphs begin with the encoder's first state; beams reorder it; the run says the same."""
    site.install_project(HERE / "toy_lstm")
    site.install_project(HERE / "toy_world")
    recipe = tmp_path / "toy.toml"
    recipe.write_text(RECIPE)
    data, run, model = (tmp_path / name for name in ("data", "run", "model"))
    for step in (
        ("synth", "toy-squares", data, "--scenes", "40", "--size", "24x16"),
        ("train", recipe, "--data", data, "--output", run, "--device", "cpu"),
        ("export", run, model),
    ):
        code, _, err = whatchanged(*step)
        assert code == 0, (step[0], err)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    losses = [line["toy-words"] for line in lines if "toy-words" in line]
    assert losses[-1] < losses[0]
    for beams in (1, 3):
        said = {}
        for source, place in (("--model", model), ("--run", run)):
            out = tmp_path / f"{source[2:]}{beams}.jsonl"
            code, _, err = whatchanged("caption", data, source, place, "-o", out, "--beams", beams)
            assert code == 0, err
            said[source] = [json.loads(line)["caption"] for line in out.read_text().splitlines()]
        assert said["--model"] == said["--run"] and len(said["--run"]) == 40
    graphs = load(model)._graphs
    assert {"first_cache_hidden", "first_cache_cell", "first_cache_words"} <= set(graphs._encoder.outputs)
    assert graphs._decoder.inputs["cache_hidden"].shape[1:] == [24]
    one, two = np.zeros((16, 24, 3), np.uint8), np.full((16, 24, 3), 255, np.uint8)
    alone = load(model).describe(one, two, beams=3)
    assert load(model).describe([two, one], [one, two], beams=3)[1].sentence == alone.sentence
