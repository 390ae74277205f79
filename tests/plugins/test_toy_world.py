"""A world from another package, added with no line of ours changed: the commands run with it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from whatchanged.datasets import open_dataset
from whatchanged.testing import check_dataset, check_drawer, check_world
from whatchanged.worlds import find_world, world_of

PROJECT = Path(__file__).parent / "toy_world"
OURS = Path(__file__).parents[2] / "src"


@pytest.fixture
def toy(site):
    """The toy world, installed; and its World."""
    site.install_project(PROJECT)
    return find_world("toy")


@pytest.fixture
def drawn(toy, tmp_path, whatchanged):
    """A folder that the command drew."""
    out = tmp_path / "squares"
    given = ("--scenes", "20", "--seed", "3", "--size", "24x16", "--unchanged", "0.5", "--ground", "dark")
    code, printed, err = whatchanged("synth", "toy-squares", out, *given)
    assert (code, printed) == (0, f"{out}\n") and f"20 pairs of squares in {out}" in err
    return out


def test_no_file_of_ours_names_it():
    names = ("toy_world", "toy-world", "toy_squares", "toy-squares")
    texts = {path: path.read_text("utf-8") for path in OURS.rglob("*") if path.suffix in (".py", ".toml")}
    assert len(texts) > 100
    assert not [path for path, text in texts.items() if any(name in text for name in names)]


def test_it_keeps_the_contract(toy, tmp_path):
    from toy_world.world import Square

    red, blue, aside = Square("red", 1, 1), Square("blue", 1, 1), Square("red", 3, 1)
    green = replace(red, color="green")
    truths = [(red, blue), (red, green), (red, red), (red, aside), (aside, red), (blue, blue), (blue, red)]
    check_world(toy, truths)
    check_drawer(toy, "toy-squares", tmp_path, 20, (".", "pairs.jsonl"))
    check_dataset(tmp_path / "first", "toy_squares")


def test_synth_draws_it_with_its_own_options(drawn, whatchanged):
    records = open_dataset(drawn).records
    assert len(records) == 20 and {record.change_type for record in records} == {"none", "moved", "recolored"}
    with Image.open(records[0].before) as picture:
        assert picture.size == (24, 16) and picture.getextrema()[1][0] == 25  # the dark ground
    assert "toy-squares" in whatchanged("synth", "--help")[1]
    refused = whatchanged("synth", "toy-squares", drawn.parent / "no", "--scenes", "5", "--doubles", "0.5")
    assert refused[0] == 2 and "toy-squares has no such option" in refused[2]


def test_dataset_tells_what_it_is(drawn, whatchanged):
    code, out, _ = whatchanged("dataset", drawn)
    assert code == 0 and "toy_squares, 20 pairs" in out
    kinds = [line for line in out.splitlines() if "recolored" in line]
    assert kinds and all(line.index("recolored") < line.index("none") for line in kinds)
    assert "toy_squares  (plug-in, toy-world 1.5)" in whatchanged("dataset", "--list")[1]
    assert "world toy of toy-world 1.5, found" in whatchanged("doctor")[1]


def test_the_world_of_its_folder_and_of_its_list(drawn):
    assert world_of("toy_squares").name == world_of("plain", drawn / "pairs.jsonl").name == "toy"


@pytest.fixture
def said(drawn, bundle_folder, tmp_path, whatchanged):
    """What a small model says of the drawn pairs: that the square changed, or that nothing did."""
    out = tmp_path / "said.jsonl"
    assert whatchanged("caption", drawn, "-o", out, "--model", bundle_folder)[0] == 0
    return out


def test_a_model_captions_it_and_its_sentences_are_judged(said, drawn):
    world = find_world("toy")
    records = {record.pair_id: record for record in open_dataset(drawn).records}
    truths = world.truth.read(drawn, list(records.values()))
    lines = [json.loads(line) for line in said.read_text("utf-8").splitlines()]
    assert len(lines) == 20
    for line in lines:
        verdict = world.language.judge(line["caption"], truths[line["id"]])
        assert verdict.parsed and verdict.true == (verdict.unchanged != records[line["id"]].changed)


@pytest.mark.parametrize("references", [".", "pairs.jsonl"])
def test_evaluate_judges_its_sentences(references, drawn, tmp_path, whatchanged):
    """By the folder and by the list in it; a wrong kind, a wrong color and nonsense, counted by hand."""
    records = open_dataset(drawn).records
    nonsense = "the square turned mauve"
    wrong = {"none": "the square moved", "moved": "the square turned red", "recolored": nonsense}
    spoiled = {kind: next(r.pair_id for r in records if r.change_type == kind) for kind in wrong}
    said = tmp_path / "said.jsonl"
    with said.open("w") as file:
        for record in records:
            is_spoiled = spoiled[record.change_type] == record.pair_id
            caption = wrong[record.change_type] if is_spoiled else record.captions[0]
            file.write(json.dumps({"id": record.pair_id, "caption": caption}) + "\n")
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    code, out, err = whatchanged("evaluate", said, drawn / references, "--json", report, "--html", page)
    assert code == 0, err
    assert "kind right" in out and nonsense in out and nonsense in page.read_text("utf-8")
    found = json.loads(report.read_text("utf-8"))["scene"]
    counts = {kind: sum(record.change_type == kind for record in records) for kind in wrong}
    for kind in ("moved", "recolored"):
        share = found["types"][kind]["true"]
        assert (share["count"], share["of"]) == (counts[kind] - 1, counts[kind])
    share = found["distractor"]["kind_right"]
    assert (share["count"], share["of"]) == (counts["none"] - 1, counts["none"])
    assert found["unparsable"]["sentences"] == [{"id": spoiled["recolored"], "caption": nonsense}]


@pytest.mark.slow
def test_it_can_be_installed_by_pip(tmp_path):
    """From its own folder, without a network."""
    pytest.importorskip("setuptools")
    target = tmp_path / "target"
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--target", target)
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", PROJECT, copy], check=True)  # the build writes into the folder
    subprocess.run([sys.executable, "-m", "pip", "install", *options, copy], check=True)
    paths = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "whatchanged", "synth", "toy-squares", tmp_path / "out", "--scenes", "5"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "toy_squares.json").is_file()
