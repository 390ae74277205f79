"""Sentences straight from a run are those of the model that is exported from it."""

import json
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch
from PIL import Image
from tiny_run import BACKBONE, SMALL_PICTURES

from whatchanged.captioner.runtime import load
from whatchanged.datasets import open_dataset
from whatchanged.errors import ImageError, RecipeError
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
    captioner = open_run_captioner(run, tiny_dataset, None, "cpu", "auto")
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
    captioner = open_run_captioner(run, tiny_dataset, None, "cpu", "auto")
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
        captioner = open_run_captioner(run, tiny_dataset, None, "cpu", "auto", precision)
        with torch.no_grad():
            captioner.method.distractor.weight.mul_(0.01)  # far from certain
        judged.append([found.no_change for found in captioner.describe(pairs, 16)])
    assert judged[1] != judged[0] == pytest.approx(judged[1], abs=0.02)


def test_a_broken_picture_spoils_its_own_pair_alone(run, pairs, tiny_dataset, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    captioner = open_run_captioner(run, tiny_dataset, None, "cpu", "last")
    first, second, *_ = pairs
    alone = list(captioner.describe([first, second], 8))
    results = list(captioner.describe([first, (tmp_path / "broken.png", first[1]), second], 8))
    assert [results[0].sentence, results[2].sentence] == [said.sentence for said in alone]
    assert isinstance(results[1], ImageError)


def test_a_run_that_never_captioned_is_refused(tiny_dataset, tmp_path):
    settings = [f"data.path={tiny_dataset}", "vision.kind=backbone", *BACKBONE, *SMALL_PICTURES]
    recipe = load_recipe(
        "pcl-tiny", [*settings, "stage.pretrain.tasks={ mlm = 1 }", "stage.pretrain.steps=1"]
    )
    run_recipe(replace(recipe, stages=recipe.stages[:1]), tmp_path / "run", quiet=True, device="cpu")
    with pytest.raises(RecipeError, match="no stage of it learned to caption"):
        open_run_captioner(tmp_path / "run", tiny_dataset, None, "cpu", "auto")


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
    code, _, said = whatchanged(*asked, "--force", "--beams", "2")
    assert code == 2 and "goes without --beams" in said


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
