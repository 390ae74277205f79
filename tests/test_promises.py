"""What docs/promises.md promises: files of earlier versions are read, and their names are there.

``fixtures/make_files.py`` made them, in each version.
"""

import csv
import gzip
import inspect
import json
import shutil
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer

import whatchanged
from whatchanged import cli, errors
from whatchanged.captioner.bundle import SHIPPED, open_bundle
from whatchanged.captioner.runtime import load
from whatchanged.datasets import open_dataset
from whatchanged.evaluation.io.predictions import read_predictions
from whatchanged.recipes import METHODS, schema
from whatchanged.recipes.reader import parse_saved_recipe
from whatchanged.recipes.tables import DATA, VISION

FIXTURES = Path(__file__).parent / "fixtures"
VERSIONS = ("0.2", "0.3")
NAMES = {
    version: json.loads((FIXTURES / version / "names.json").read_text(encoding="utf-8"))
    for version in VERSIONS
}
DEMO = SHIPPED / "demo"


def promised(key):
    """A version and one of the names below a key, for each that was promised."""
    return [(version, name) for version in VERSIONS for name in NAMES[version][key]]


@pytest.fixture(scope="module", params=VERSIONS)
def files(request, tmp_path_factory):
    """The files of a version, with the pictures that their list names; to be read only."""
    folder = shutil.copytree(FIXTURES / request.param, tmp_path_factory.mktemp("formats") / request.param)
    for packed in sorted(folder.rglob("*.gz")):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    (folder / "pictures").mkdir()
    for picture in DEMO.glob("*.png"):
        shutil.copy(picture, folder / "pictures")
    return folder


def expected(files):
    """What the version said of its files."""
    return json.loads((files / "expected.json").read_text(encoding="utf-8"))


def listed(files):
    """The rows of the list, read by no code of ours."""
    return list(csv.DictReader((files / "pairs.csv").read_text(encoding="utf-8").splitlines()))


# Files


def test_the_list_is_read(files):
    results = open_dataset(files / "pairs.csv").records
    rows = listed(files)
    assert [record.pair_id for record in results] == [row["id"] for row in rows]
    assert [record.captions for record in results] == [(row["captions"],) for row in rows]
    assert [record.before for record in results] == [files / row["before"] for row in rows]


def test_the_bundle_says_what_it_said(files):
    assert json.loads((files / "bundle" / "bundle.json").read_text())["format"] == 2
    captioner = load(files / "bundle")
    pairs = [[DEMO / f"{number:02d}-{side}.png" for side in ("before", "after")] for number in range(10)]
    results = [captioner.describe(*pair) for pair in pairs]
    assert [each.sentence for each in results] == expected(files)["sentences"]
    assert [each.no_change for each in results] == pytest.approx(expected(files)["no_change"], abs=1e-3)
    assert len(set(expected(files)["sentences"])) > 6


def test_the_predictions_are_read_and_scored(files, whatchanged):
    results = read_predictions(files / "predictions.jsonl")
    assert [each.caption for each in results] == expected(files)["sentences"]
    assert [each.pair_id for each in results] == [row["id"] for row in listed(files)]
    assert {each.answer for each in results} == {"tiny"}
    paths = files / "predictions.jsonl", files / "pairs.csv"
    code, out, _ = whatchanged("evaluate", *paths, "--no-meteor", "--no-java")
    written_by = json.loads((files / "predictions.jsonl.meta.json").read_text(encoding="utf-8"))
    assert code == 0 and f"tiny {written_by['model']['version']}" in out.splitlines()[-1]


def test_a_line_keeps_its_keys_in_their_order(files):
    pictures = [DEMO / f"00-{side}.png" for side in ("before", "after")]
    line = whatchanged.Answerer(files / "bundle").answer(*pictures).as_json("0", "a", "b", 1)
    keys = NAMES[files.name]["prediction"]
    assert [key for key in line if key in keys] == [key for key in keys if key in line]
    first = json.loads((files / "predictions.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first.keys() <= line.keys()


def test_the_saved_recipe_is_read(files):
    place = files / "run" / "recipe.toml"
    recipe = parse_saved_recipe(place.read_text(encoding="utf-8"), str(place))
    assert recipe.method.name == "pcl" and recipe.vision.channels == (4, 6, 8)
    assert [(stage.name, stage.steps) for stage in recipe.stages] == [("caption", 400)]


def test_the_run_is_opened_and_says_what_its_bundle_says(files):
    pytest.importorskip("torch")
    from whatchanged.images import open_image, resize
    from whatchanged.training.run_folder import open_run
    from whatchanged.training.validation import decode

    recipe, method, state = open_run(files / "run")
    assert state.finished
    size = recipe.vision.image_width, recipe.vision.image_height
    before, after = (
        np.stack([resize(open_image(DEMO / f"{number:02d}-{side}.png"), size) for number in range(10)])
        for side in ("before", "after")
    )
    import torch

    rows = decode(method, torch.from_numpy(before), torch.from_numpy(after))
    assert [method.vocabulary.text(row.ids) for row in rows] == expected(files)["sentences"]


def test_training_starts_from_the_bundle_and_from_the_run(files):
    pytest.importorskip("torch")
    from whatchanged.training.run_folder import open_run
    from whatchanged.training.weights.bundle_weights import read_bundle

    _, trained, _ = open_run(files / "run")
    _, read, missing = read_bundle(open_bundle(files / "bundle"))
    assert read.vocabulary.entries == trained.vocabulary.entries and not missing
    weights = trained.state_dict()
    assert len(weights) > 20
    for name, tensor in read.state_dict().items():
        assert np.allclose(tensor.float(), weights[name].float(), atol=2e-3, rtol=2e-3), name


def test_the_features_are_read(files):
    pytest.importorskip("torch")
    from whatchanged.training.data.grid_files import GridFiles, read_header

    about, pictures = read_header(files / "features" / "00000.safetensors")
    count, cells, width = expected(files)["features"]["shape"]
    assert len(pictures) == count and about["rows"] * about["columns"] == cells
    stored = GridFiles(files / "features")
    stored.check(about["rows"], about["columns"], width)
    results = [stored.read(name) for name in pictures]
    assert np.sum(results, dtype=np.float64) == pytest.approx(expected(files)["features"]["sum"], rel=1e-6)


# Names


@pytest.mark.parametrize(("version", "module"), promised("names"))
def test_public_names_are_there(version, module):
    found = import_module(module)
    assert set(NAMES[version]["names"][module]) <= set(found.__all__)


@pytest.mark.parametrize(("version", "function"), promised("parameters"))
def test_parameters_are_there_and_new_ones_have_defaults(version, function):
    module, _, name = function.rpartition(".")
    parameters = inspect.signature(getattr(import_module(module), name)).parameters
    wanted = NAMES[version]["parameters"][function]
    assert [given for given in parameters if given in wanted] == wanted
    added = [parameter for given, parameter in parameters.items() if given not in wanted]
    assert all(parameter.default is not inspect.Parameter.empty for parameter in added)


@pytest.mark.parametrize("version", VERSIONS)
def test_errors_are_there(version):
    assert all(
        issubclass(getattr(errors, name), errors.WhatchangedError) for name in NAMES[version]["errors"]
    )


@pytest.mark.parametrize(("version", "command"), promised("commands"))
def test_options_are_there(version, command):
    found = typer.main.get_command(cli.app).commands[command]
    given = {name for option in found.params for name in option.opts}
    assert set(NAMES[version]["commands"][command]) <= given


@pytest.mark.parametrize("version", VERSIONS)
def test_exit_codes_stay(version):
    codes = {"bad input": cli.BAD_INPUT, "fault": cli.FAULT, "interrupted": cli.INTERRUPTED}
    assert codes == NAMES[version]["exit codes"]


@pytest.mark.parametrize("version", VERSIONS)
def test_keys_of_recipes_are_there(version):
    tables = {"stages": schema.StageConfig, "recipe": schema.Recipe}
    tables |= {f"vision {kind.kind}": kind for kind in VISION.kinds()}
    tables |= {f"data {source.source}": source for source in DATA.kinds()}
    for name, place in METHODS.items():
        module, _, found = place.partition(":")
        tables[f"method {name}"] = getattr(import_module(module), found)
    for place, keys in NAMES[version]["recipe"].items():
        assert set(keys) <= {field.name for field in fields(tables[place])}, place
