import json

import pytest

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.report.from_files import References, Systems, report_from_files
from whatchanged.evaluation.report.scored import ReportSettings

SETTINGS = ReportSettings(resamples=0)


@pytest.fixture
def write(tmp_path):
    """Writes JSON lines: name, then id to value, under a key."""

    def lines(name, key, values):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps({"id": i, key: value}) for i, value in values.items()))
        return path

    return lines


@pytest.fixture
def references(write):
    return References(write("references.jsonl", "captions", {"1": ["a cube moved"], "2": ["a ball is gone"]}))


def test_predictions_are_matched_by_id(write, references):
    right = write("out.jsonl", "caption", {"2": "a ball is gone", "1": "a cube moved"})
    report = report_from_files(Systems(right), references, SETTINGS)
    assert report["overall"]["ROUGE-L"] == pytest.approx(100)
    assert report["signature"]["made_by"] is None and report["signature"]["others"] == []


def test_other_systems_are_named_and_the_same_file_is_warned_of(write, references):
    right = write("out.jsonl", "caption", {"2": "a ball is gone", "1": "a cube moved"})
    other = write("other.jsonl", "caption", {"2": "a ball", "1": "a cube"})
    report = report_from_files(Systems(right, compare=other), references, SETTINGS)
    assert [each["file"] for each in report["signature"]["others"]] == ["other.jsonl"]
    cell = report["comparison"]["overall"]["ROUGE-L"]
    assert cell["a"] == pytest.approx(100) and cell["difference"] > 10
    assert cell["low"] is cell["p"] is cell["p_holm"] is None  # no resamples
    assert "The same predictions were given more than once." not in report["warnings"]
    report = report_from_files(Systems(right, seeds=[other, right]), references, SETTINGS)
    assert report["seeds"]["count"] == 3 and "comparison" not in report
    assert "The same predictions were given more than once." in report["warnings"]


def test_a_misfit_names_its_file(write, references):
    right = write("out.jsonl", "caption", {"2": "a ball is gone", "1": "a cube moved"})
    other = write("other.jsonl", "caption", {"1": "a cube"})
    with pytest.raises(PredictionsError, match=r"other.jsonl: 1 pair \(first: 2\): no prediction"):
        report_from_files(Systems(right, compare=other), references, SETTINGS)


@pytest.mark.parametrize(("noted", "given", "wanted"), [(0.3, None, 0.3), (0.3, 0.6, 0.6), (None, None, 0.5)])
def test_the_threshold_is_the_given_one_or_the_models_own(write, noted, given, wanted):
    pairs = {"1.png": "the cube moved", "1.png_n": "there is no change"}
    references = write("references.jsonl", "captions", {name: [text] for name, text in pairs.items()})
    out = references.with_name("out.jsonl")
    lines = [{"id": name, "caption": text, "no_change": 0.4} for name, text in pairs.items()]
    out.write_text("\n".join(map(json.dumps, lines)))
    if noted is not None:
        note = {"model": {"name": "tiny", "version": "1"}, "beams": 1, "threshold": noted}
        out.with_name("out.jsonl.meta.json").write_text(json.dumps(note))
    report = report_from_files(Systems(out), References(references), SETTINGS, given)
    assert report["no_change"]["threshold"] == wanted
