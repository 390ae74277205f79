"""Sentences straight from a run are those of the model that is exported from it."""

import json
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from support.tiny_run import BACKBONE, SMALL_PICTURES

from whatchanged.captioner.attention import AttentionFiles
from whatchanged.captioner.runtime import load
from whatchanged.datasets import open_dataset
from whatchanged.errors import ImageError, RecipeError
from whatchanged.evaluation.io.predictions import aligned, read_predictions
from whatchanged.launch import Launch
from whatchanged.recipes.reader import load_recipe
from whatchanged.testing.method_case import shaken
from whatchanged.training.caption import open_run_captioner
from whatchanged.training.checkpoint import save_checkpoint
from whatchanged.training.export import export_run
from whatchanged.training.run import run_recipe
from whatchanged.training.run_folder import open_run


@pytest.fixture(scope="module")
def run(tiny_dataset, tmp_path_factory):
    """A run on pictures, with weights so large that its words follow the pictures."""
    settings = [
        "vision.kind=backbone",
        *BACKBONE,
        *SMALL_PICTURES,
        f"data.path={tiny_dataset}",
        "stage.pretrain.tasks={ mlm = 1 }",
        "stage.pretrain.steps=2",
        "stage.caption.steps=1",
        "stage.caption.evaluate_every=0",
    ]
    folder = tmp_path_factory.mktemp("captions") / "run"
    run_recipe(load_recipe("pcl-tiny", settings), folder, quiet=True, device="cpu")
    _, method, state = open_run(folder)
    save_checkpoint(folder / "checkpoints" / "last.safetensors", state, shaken(method), None)
    return folder


@pytest.fixture(scope="module")
def pairs(tiny_dataset):
    return [(record.before, record.after) for record in open_dataset(tiny_dataset).records]


@pytest.mark.slow
def test_the_sentences_are_those_of_the_exported_model(run, pairs, tiny_dataset, tmp_path):
    captioner = open_run_captioner(run, tiny_dataset, None, "auto", Launch("cpu"))
    said = list(captioner.describe(pairs, 16))
    sentences = [found.sentence for found in said]
    export_run(run, tmp_path / "model", "tiny")
    model = load(str(tmp_path / "model"))
    wanted = model.describe([before for before, _ in pairs], [after for _, after in pairs])
    assert sentences == [found.sentence for found in wanted] and len(set(sentences)) > 1
    calibrated = [model.card.no_change.calibrated(found.no_change) for found in said]
    assert calibrated == pytest.approx([found.no_change for found in wanted], abs=1e-4)
    assert [found.sentence for found in captioner.describe(pairs, 7)] == sentences
    assert list(captioner.describe([], 7)) == []


def test_the_probability_is_that_of_the_head_where_there_is_one(tiny_dataset, run, pairs):
    captioner = open_run_captioner(run, tiny_dataset, None, "auto", Launch("cpu"))
    with torch.no_grad():
        captioner.method.distractor.weight.zero_()
        captioner.method.distractor.bias.copy_(torch.tensor([3.0, 1.0]).log())  # nothing changed, changed
    assert [found.no_change for found in captioner.describe(pairs[:2], 2)] == pytest.approx([0.75, 0.75])
    captioner.method.distractor = None
    assert [found.no_change for found in captioner.describe(pairs[:2], 2)] == [None, None]


@pytest.mark.slow
def test_sixteen_bit_change_the_probabilities_little(run, pairs, tiny_dataset):
    judged = []
    for precision in ("fp32", "bf16"):
        captioner = open_run_captioner(run, tiny_dataset, None, "auto", Launch("cpu", precision=precision))
        with torch.no_grad():
            captioner.method.distractor.weight.mul_(0.01)  # far from certain
        judged.append([found.no_change for found in captioner.describe(pairs, 16)])
    assert judged[1] != judged[0] == pytest.approx(judged[1], abs=0.02)


def test_a_broken_picture_spoils_its_own_pair_alone(run, pairs, tiny_dataset, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    captioner = open_run_captioner(run, tiny_dataset, None, "last", Launch("cpu"))
    first, second, *_ = pairs
    alone = list(captioner.describe([first, second], 8))
    results = list(captioner.describe([first, (tmp_path / "broken.png", first[1]), second], 8))
    assert [results[0].sentence, results[2].sentence] == [said.sentence for said in alone]
    assert isinstance(results[1], ImageError)


@pytest.mark.slow
def test_beams_and_maps_are_those_of_the_exported_model(run, pairs, tiny_dataset, tmp_path):
    captioner = open_run_captioner(run, tiny_dataset, None, "auto", Launch("cpu"), beams=3, maps=True)
    said = list(captioner.describe(pairs, 16))
    export_run(run, tmp_path / "model", "tiny")
    model = load(str(tmp_path / "model"))
    wanted = model.describe([before for before, _ in pairs], [after for _, after in pairs], beams=3)
    assert [found.sentence for found in said] == [found.sentence for found in wanted]
    assert captioner.grid == model.attention.shape
    assert captioner.layer == model.card.provenance["attention"]
    for found, exported in zip(said, wanted, strict=True):
        assert [word for word, _ in found.words] == [word for word, _ in exported.words]
        for (_, maps), (_, others) in zip(found.words, exported.words, strict=True):
            np.testing.assert_allclose(maps, others, atol=1e-4)


def test_a_run_on_features_needs_no_pictures_and_writes_maps_for_the_pointing_game(
    stored_run, tmp_path, whatchanged
):
    asked = ["caption", stored_run / "data", "--run", stored_run / "run", "--split", "val", "--device", "cpu"]
    asked += ["--features", stored_run / "features", "--beams", "2", "--quiet"]
    out, maps = tmp_path / "captions.jsonl", tmp_path / "maps"
    assert whatchanged(*asked, "-o", out, "--attention", maps)[0] == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    written = AttentionFiles(maps)
    assert written.grid == (3, 3) and written.about["model"]["name"] == "scorer-tiny"
    assert all(written.words(line["id"]) == tuple(line["caption"].split()) for line in lines)
    code, _, err = whatchanged(*asked, "-o", out, "--force", "--attention", tmp_path / "no" / "maps")
    assert code == 2 and "Make it first" in err
    scored = ["evaluate", out, stored_run / "data", "--split", "val", "--attention", maps]
    scored += ["--no-meteor", "--no-java", "--resamples", "0"]
    code, _, err = whatchanged(*scored)
    assert code == 2 and "its picture is not there" in err and "--picture-size" in err
    code, _, err = whatchanged(*scored, "--picture-size", "48 x 32")
    assert code == 2 and "is not WIDTHxHEIGHT" in err
    assert whatchanged(*scored, "--picture-size", "48x32", "--json", tmp_path / "report.json")[0] == 0
    pointing = json.loads((tmp_path / "report.json").read_text())["pointing"]
    assert pointing["canvas"] == "48 x 32, as told" and pointing["grid"] == [3, 3]
    assert pointing["subsets"]["overall"]["hits"]["of"] == 8  # two boxes of each of four changes


@pytest.mark.parametrize("form", ["coco", "two-files", "pcl"])
def test_a_run_writes_the_formats_of_the_field(form, stored_run, tmp_path, whatchanged):
    asked = ["caption", stored_run / "data", "--run", stored_run / "run", "--split", "val", "--device", "cpu"]
    asked += ["--features", stored_run / "features", "--quiet"]
    assert whatchanged(*asked, "-o", tmp_path / "ours.jsonl")[0] == 0
    assert whatchanged(*asked, "-o", tmp_path / "out", "--format", form)[0] == 0
    records = open_dataset(stored_run / "data", split="val", pictures=False).records
    own, ours = (
        aligned(read_predictions(path), records) for path in (tmp_path / "out", tmp_path / "ours.jsonl")
    )
    assert [(p.pair_id, p.caption) for p in own] == [(p.pair_id, p.caption) for p in ours]
    assert (tmp_path / "out.lines.jsonl").read_bytes() == (tmp_path / "ours.jsonl").read_bytes()


def test_features_that_are_missing_leave_nothing_behind(stored_run, tmp_path, whatchanged):
    asked = ["caption", stored_run / "data", "--run", stored_run / "run", "--device", "cpu"]
    code, _, err = whatchanged(*asked, "-o", tmp_path / "out.jsonl", "--features", tmp_path)
    assert code == 2 and "no features of CLEVR_default_000000.png" in err
    code, _, err = whatchanged(*asked, "-o", tmp_path / "out.jsonl")
    assert code == 2 and "--features FOLDER" in err
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_never_captioned_is_refused(tiny_dataset, tmp_path):
    settings = [f"data.path={tiny_dataset}", "vision.kind=backbone", *BACKBONE, *SMALL_PICTURES]
    recipe = load_recipe(
        "pcl-tiny", [*settings, "stage.pretrain.tasks={ mlm = 1 }", "stage.pretrain.steps=1"]
    )
    run_recipe(replace(recipe, stages=recipe.stages[:1]), tmp_path / "run", quiet=True, device="cpu")
    with pytest.raises(RecipeError, match="no stage of it learned to caption"):
        open_run_captioner(tmp_path / "run", tiny_dataset, None, "auto", Launch("cpu"))


def test_the_command_writes_a_line_a_pair(run, tiny_dataset, tmp_path, whatchanged, monkeypatch):
    out = tmp_path / "captions.jsonl"
    asked = ["caption", str(tiny_dataset), "-o", str(out), "--run", str(run), "--device", "cpu"]
    assert whatchanged(*asked, "--split", "val")[0] == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 8
    assert all([*line] == ["id", "caption", "no_change", "answer", "before", "after"] for line in lines)
    assert {line["answer"] for line in lines} == {"pcl-tiny"}
    records = {record.pair_id: record for record in open_dataset(tiny_dataset).records}
    assert all((tiny_dataset / line["before"]).samefile(records[line["id"]].before) for line in lines)
    assert all((tiny_dataset / line["after"]).samefile(records[line["id"]].after) for line in lines)
    precisions = []
    monkeypatch.setattr(
        "whatchanged.training.caption.in_precision", lambda name, _: precisions.append(name) or nullcontext()
    )
    assert whatchanged(*asked, "--split", "val", "--force", "--precision", "bf16")[0] == 0
    assert precisions == ["bf16"]
    code, _, said = whatchanged(*asked, "--force", "--html", str(tmp_path / "page.html"))
    assert code == 2 and "works without --html" in said


@pytest.mark.parametrize(
    "option", [("--precision", "bf16"), ("--device", "cuda"), ("--checkpoint", "last"), ("--features", "f")]
)
def test_what_is_for_a_run_is_refused_without_one(option, tiny_dataset, tmp_path, whatchanged):
    code, _, said = whatchanged("caption", tiny_dataset, "-o", tmp_path / "captions.jsonl", *option)
    assert code == 2 and f"{option[0]} is for a run's sentences; name the run (--run)" in said
    assert not (tmp_path / "captions.jsonl").exists()


def test_lines_of_a_run_lose_the_note_of_the_model_that_wrote_before(
    run, tiny_dataset, tmp_path, whatchanged
):
    out, note = tmp_path / "captions.jsonl", tmp_path / "captions.jsonl.meta.json"
    asked = ["caption", str(tiny_dataset), "-o", str(out), "--split", "val"]
    assert whatchanged(*asked)[0] == 0 and note.is_file()
    assert whatchanged(*asked, "--run", str(run), "--device", "cpu", "--force")[0] == 0
    assert not note.exists()
    code, _, said = whatchanged(*asked, "--resume")
    assert code == 2 and "cannot be continued" in said


def test_lines_of_a_run_go_where_a_link_leads(run, tiny_dataset, tmp_path, whatchanged):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "real.jsonl").write_text("before")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "far" / "real.jsonl")
    asked = ["caption", str(tiny_dataset), "-o", str(tmp_path / "link.jsonl"), "--split", "val", "--force"]
    assert whatchanged(*asked, "--run", str(run), "--device", "cpu")[0] == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len((tmp_path / "far" / "real.jsonl").read_text().splitlines()) == 8


def test_without_a_run_no_torch_is_loaded(tmp_path):
    for name in ("a.png", "b.png"):
        Image.new("RGB", (48, 32), (200, 0, 0)).save(tmp_path / name)
    (tmp_path / "pairs.csv").write_text("before,after\na.png,b.png\n")
    program = (
        "import sys; from whatchanged.cli import main\n"
        "sys.argv = ['whatchanged', 'caption', 'pairs.csv', '-o', 'out.jsonl', '--quiet']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1
