import json
import os
import subprocess
import sys

import pytest
from PIL import Image
from support.trees import state

ROWS = [
    {"id": "1", "before": "a.png", "after": "b.png", "captions": ["the cube moved", "the block moved"]},
    {"id": "2", "before": "a.png", "after": "c.png", "captions": ["no change was made"]},
]


@pytest.fixture
def files(tmp_path):
    """Predictions and references (their pictures are nowhere: scoring needs none)."""
    references, predictions = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    references.write_text("\n".join(map(json.dumps, ROWS)))
    lines = [{"id": "2", "caption": "no change was made"}, {"id": "1", "caption": "The cube moved."}]
    predictions.write_text("\n".join(map(json.dumps, lines)))
    return predictions, references


def test_table_json_and_markdown(files, tmp_path, whatchanged):
    code, out, err = whatchanged(
        "evaluate", *files, "--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md"
    )
    assert (code, err) == (0, "")
    assert "CIDEr-D" in out and "tokenizer ptb" in out
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["overall"]["ROUGE-L"] == pytest.approx(100)
    assert report["signature"]["pairs"] == {"overall": 2, "semantic": 1, "distractor": 1}
    assert (tmp_path / "r.md").read_text().startswith("### Against the references")


def test_who_made_the_captions_is_named(files, tmp_path, whatchanged):
    predictions, _ = files
    note = predictions.with_name(predictions.name + ".meta.json")
    model = {"name": "tiny", "version": "1.2", "fingerprint": "f", "preparation": "ier"}
    note.write_text(json.dumps({"model": {**model, "odd": [1]}, "beams": 3, "threshold": 0.25}))
    code, out, _ = whatchanged("evaluate", *files, "--json", tmp_path / "r.json")
    assert code == 0 and "tiny 1.2, 3 beam(s), trained on captions prepared as 'ier'" in out
    made_by = json.loads((tmp_path / "r.json").read_text())["signature"]["made_by"]
    assert made_by == {"model": model, "beams": 3, "threshold": 0.25}
    damaged = ("{", "[]", '{"model": {}, "beams": 1}', '{"model": [], "beams": 1}')
    for number, text in enumerate((*damaged, json.dumps({"model": model, "beams": float("inf")}))):
        note.write_text(text)
        report = tmp_path / f"{number}.json"
        assert whatchanged("evaluate", *files, "--json", report)[0] == 0
        assert json.loads(report.read_text())["signature"]["made_by"] is None


def test_the_other_tokeniser(files, tmp_path, whatchanged):
    code, out, _ = whatchanged("evaluate", *files, "--tokenizer", "plain", "--json", tmp_path / "r.json")
    assert code == 0 and "tokenizer plain" in out
    assert json.loads((tmp_path / "r.json").read_text())["overall"]["ROUGE-L"] < 90


def test_failed_pairs(files, whatchanged):
    predictions, _ = files
    predictions.write_text('{"id": "1", "error": "gone"}\n{"id": "2", "caption": "no change was made"}')
    code, out, err = whatchanged("evaluate", *files)
    assert (code, out) == (2, "") and "1 pair (first: 1): failed" in err
    code, out, _ = whatchanged("evaluate", *files, "--failed-as-empty")
    assert code == 0 and "failed pairs as empty: 1" in out


def test_what_caption_left_out_is_left_out_again(files, tmp_path, whatchanged):
    """Pair 2 misses a picture, so that `caption --skip-missing` said nothing of it."""
    predictions, _ = files
    for name in ("a.png", "b.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    predictions.write_text('{"id": "1", "caption": "the cube moved"}')
    code, out, err = whatchanged("evaluate", *files)
    assert (code, out) == (2, "") and "1 pair (first: 2): no prediction" in err
    code, _, err = whatchanged("evaluate", *files, "--skip-missing", "--json", tmp_path / "r.json")
    assert code == 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["signature"]["pairs"] == {"overall": 1, "semantic": 1}
    assert whatchanged("evaluate", *files, "--skip-missing", "--dataset", "plain")[0] == 0
    code, out, err = whatchanged("evaluate", *files, "--dataset", "clevr_dc")
    assert (code, out) == (2, "") and "split.json: missing" in err


def test_bad_input_writes_nothing(files, tmp_path, whatchanged):
    predictions, references = files
    predictions.write_text('{"id": "1", "caption": "a"}')
    code, _, err = whatchanged("evaluate", *files, "--json", tmp_path / "r.json")
    assert code == 2 and "1 pair (first: 2): no prediction" in err
    assert not (tmp_path / "r.json").exists()
    code, _, err = whatchanged("evaluate", references, references)
    assert code == 2 and "pair 1 has neither a caption nor an error" in err
    code, _, err = whatchanged("evaluate", *files, "--json", references)
    assert code == 2 and "this is one of the inputs" in err
    assert json.loads(references.read_text().splitlines()[0]) == ROWS[0]


def test_outputs_are_looked_at_before_anything_is_computed(files, tmp_path, whatchanged, monkeypatch):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "sc_results.json").write_text("[]")
    monkeypatch.setattr("whatchanged.evaluation.report.from_files.report_from_files", None)  # not called
    references = files[1]
    out = tmp_path / "r.json"
    for inputs, options, message in (
        (files, ("--json", out, "--markdown", out), "one of the inputs or outputs"),
        (files, ("--json", out, "--markdown", tmp_path / "no" / "r.md"), "the folder"),
        (files, ("--json", tmp_path), "this is a folder"),
        ((folder, references), ("--json", folder / "sc_results.json"), "belongs to one of the inputs"),
    ):
        code, _, err = whatchanged("evaluate", *inputs, *options)
        assert code == 2 and message in err and not out.exists()
    assert (folder / "sc_results.json").read_text() == "[]"


def test_links_and_pipes_stay_what_they_are(files, tmp_path, whatchanged):
    link, place, pipe = tmp_path / "link.json", tmp_path / "place.json", tmp_path / "pipe"
    link.symlink_to(place)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert whatchanged("evaluate", *files, "--json", link, "--markdown", pipe)[0] == 0
    assert link.is_symlink() and json.loads(place.read_text())["overall"]
    assert os.read(reader, 100).startswith(b"### Against the references") and pipe.is_fifo()
    os.close(reader)


def test_the_models_own_threshold_is_used(tmp_path, whatchanged):
    ids = {"000001.png": "the cube moved", "000001.png_n": "nothing has changed"}
    references, predictions = tmp_path / "references.json", tmp_path / "out.jsonl"
    annotations = [{"image_id": name, "id": i, "caption": text} for i, (name, text) in enumerate(ids.items())]
    references.write_text(json.dumps({"images": [{"id": name} for name in ids], "annotations": annotations}))
    lines = [{"id": name, "caption": text, "no_change": 0.4} for name, text in ids.items()]
    predictions.write_text("\n".join(map(json.dumps, lines)))
    note = {"model": {"name": "tiny", "version": "1"}, "beams": 1, "threshold": 0.3}
    predictions.with_name(predictions.name + ".meta.json").write_text(json.dumps(note))
    for options, threshold in (((), 0.3), (("--threshold", "0.6"), 0.6)):
        report = tmp_path / f"{threshold}.json"
        code, _, err = whatchanged("evaluate", predictions, references, "--json", report, *options)
        assert code == 0, err
        assert json.loads(report.read_text())["no_change"]["threshold"] == threshold


def test_a_split_sets_other_predictions_aside(tmp_path, whatchanged):
    folder = tmp_path / "set"
    folder.mkdir()
    captions = {f"CLEVR_default_{i:06d}.png": ["the cube moved"] for i in (0, 1)}
    for name, value in {
        "splits": {"train": [0], "val": [], "test": [1]},
        "type_mapping": {"move": ["000000.png", "000001.png"]},
        "change_captions": captions,
        "no_change_captions": captions,
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    ids = [f"{i:06d}.png{end}" for i in (0, 1) for end in ("", "_n")]
    predictions = tmp_path / "out.jsonl"
    predictions.write_text("\n".join(json.dumps({"id": i, "caption": "the cube moved"}) for i in ids))
    code, out, _ = whatchanged(
        "evaluate", predictions, folder, "--split", "test", "--json", tmp_path / "r.json"
    )
    assert code == 0 and "predictions of other splits set aside: 2" in out
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["signature"]["pairs"] == {"overall": 2, "semantic": 1, "distractor": 1, "move": 1}
    predictions.write_text(json.dumps({"id": "000007.png", "caption": "a"}))
    code, _, err = whatchanged("evaluate", predictions, folder)
    assert code == 2 and "1 prediction (first: 000007.png): no such id" in err


def test_comparison_and_seeds(files, tmp_path, whatchanged):
    other = tmp_path / "other.jsonl"
    lines = [{"id": "1", "caption": "a cube"}, {"id": "2", "caption": "no change was made"}]
    other.write_text("\n".join(map(json.dumps, lines)))
    code, out, _ = whatchanged("evaluate", *files, "--compare", other, "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    cell = report["comparison"]["overall"]["ROUGE-L"]
    assert code == 0 and "A - B" in out
    assert cell["a"] == report["overall"]["ROUGE-L"] and cell["difference"] > 10
    code, out, _ = whatchanged(
        "evaluate",
        *files,
        "--seeds",
        other,
        "--seeds",
        other,
        "--resamples",
        20,
        "--json",
        tmp_path / "r.json",
    )
    seeds = json.loads((tmp_path / "r.json").read_text())["seeds"]
    assert code == 0 and "Over 3 seeds" in out
    assert seeds["overall"]["ROUGE-L"]["mean"] == pytest.approx((cell["a"] + 2 * cell["b"]) / 3)


def test_several_systems_ask_for_the_same_pairs(files, tmp_path, whatchanged):
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "1", "caption": "a cube"}')
    code, _, err = whatchanged("evaluate", *files, "--compare", other)
    assert code == 2 and str(other) in err and "1 pair (first: 2): no prediction" in err
    code, _, err = whatchanged("evaluate", *files, "--compare", other, "--seeds", other)
    assert code == 2 and "--seeds" in err
    code, _, err = whatchanged("evaluate", *files, "--compare", other, "--resamples", 0)
    assert code == 2 and "--resamples" in err
    code, _, err = whatchanged("evaluate", *files, "--compare", other, "--json", other)
    assert code == 2 and "this is one of the inputs" in err


def test_choices_are_named(files, tmp_path, whatchanged):
    code, out, _ = whatchanged(
        "evaluate",
        *files,
        "--document-frequencies",
        "corpus",
        "--resamples",
        0,
        "--json",
        tmp_path / "r.json",
    )
    report = json.loads((tmp_path / "r.json").read_text())
    assert code == 0 and "document frequencies of the corpus" in out
    assert report["signature"]["document_frequencies"] == "corpus" and report["intervals"] == {}


def test_a_report_on_standard_output_is_alone_there(files):
    command = [sys.executable, "-m", "whatchanged", "evaluate", *files, "--json", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "CIDEr-D" in done.stderr
    assert json.loads(done.stdout)["overall"]["ROUGE-L"] == pytest.approx(100)


@pytest.mark.parametrize("target", ["../victim/file", "../victim/new", "r.json"])
def test_a_planted_link_is_named_and_nothing_written(files, tmp_path, whatchanged, target):
    for name in ("victim", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "victim" / "file").write_text("mine")
    (tmp_path / "work" / "r.json").symlink_to(target)
    before = state(tmp_path)
    code, _, err = whatchanged("evaluate", *files, "--json", tmp_path / "work" / "r.json")
    assert code == 2 and "r.json: this " in err and state(tmp_path) == before
