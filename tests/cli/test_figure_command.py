"""``whatchanged figure``: what it draws by a model, what it refuses; runs: tests/training/test_figures.py."""

import io
import json
import sys

import pytest
from PIL import Image


@pytest.fixture
def out(tmp_path):
    return tmp_path / "figure.png"


def size(path):
    return Image.open(io.BytesIO(path.read_bytes())).size


def test_the_words_of_a_model(whatchanged, bundle_folder, pictures, out):
    words = ("figure", "words", *pictures, "--model", bundle_folder, "-o", out)
    code, stdout, err = whatchanged(*words)
    assert (code, stdout, err) == (0, "", f"words: {out}\n")
    small = size(out)
    assert "exists already" in whatchanged(*words)[2]
    assert whatchanged(*words, "--force", "--tile", 240)[0] == 0
    assert size(out)[0] > small[0]
    svg = out.with_suffix(".svg")
    assert whatchanged("figure", "words", *pictures, "--model", bundle_folder, "-o", svg)[0] == 0
    assert [word in svg.read_text() for word in ("the", "square", "changed")] == [True] * 3


def test_a_report_becomes_a_plot(whatchanged, tmp_path, out):
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"overlap": {"IoU 0.3-0.4": {"CIDEr-D": 50}}}))
    assert whatchanged("figure", "overlap", report, "-o", out)[0] == 0 and size(out)[0] > 200
    both = whatchanged("figure", "overlap", report, report, "-o", out.with_suffix(".svg"))
    assert both[0] == 0, both
    report.write_text("{")
    code, _, err = whatchanged("figure", "overlap", report, "-o", out, "--force")
    assert code == 2 and "no report can be read here" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["words", "BEFORE"], "needs both pictures"),
        (["words", "BEFORE", "AFTER", "--caption", "a"], "--caption TEXT"),
        (["text-to-image", "BEFORE", "AFTER"], "--caption TEXT"),
        (["words", "BEFORE", "AFTER", "--cell", "1,1"], "--cell is for alignment"),
        (["alignment", "BEFORE", "AFTER", "--cell", "1;1"], "is not ROW,COLUMN"),
        (["words", "BEFORE", "AFTER", "--model", "a", "--run", "b"], "leave one out"),
        (["overlap", "BEFORE", "--run", "b"], "drawn from reports"),
        (["words", "BEFORE", "AFTER", "--model", "/no/such"], "/no/such"),
        (["words", "BEFORE", "/no/after.png"], "/no/after.png"),
    ],
)
def test_what_does_not_go_together_is_named(whatchanged, pictures, out, options, message):
    named = {"BEFORE": pictures[0], "AFTER": pictures[1]}
    code, _, err = whatchanged("figure", *(named.get(option, option) for option in options), "-o", out)
    assert code == 2 and message in err and not out.exists()


def test_the_files_name_says_the_format(whatchanged, bundle_folder, pictures, tmp_path):
    call = ("figure", "words", *pictures, "--model", bundle_folder)
    assert "--output" in whatchanged(*call)[2]
    assert "ends in .png or .svg" in whatchanged(*call, "-o", tmp_path / "a.jpg")[2]
    assert "one of the inputs" in whatchanged(*call, "-o", pictures[0], "--force")[2]


def test_the_missing_extra_is_named(whatchanged, pictures, out, monkeypatch):
    monkeypatch.delitem(sys.modules, "whatchanged.training.figures", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = whatchanged("figure", "alignment", *pictures, "-o", out)
    assert code == 2 and "[train]" in err
