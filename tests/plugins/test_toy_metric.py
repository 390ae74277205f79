"""A metric from another package: intervals, subsets, paired tests, the page; no line of ours changed."""

import json
from pathlib import Path

import pytest

from whatchanged.evaluation import evaluate

PROJECT = Path(__file__).parent / "toy_metric"
SAID = {"1.png": "the cube moved", "2.png": "a ball is gone", "1.png_n": "no change", "2.png_n": "no change"}
WANTED = {
    "1.png": ["the red cube moved"],
    "2.png": ["a ball is gone"],
    "1.png_n": ["no change"],
    "2.png_n": ["all is the same"],
}


@pytest.fixture
def files(tmp_path):
    """Predictions of two systems, and references."""
    other = {**SAID, "1.png": "nothing"}
    for name, content in (("a.json", SAID), ("b.json", other), ("references.json", WANTED)):
        (tmp_path / name).write_text(json.dumps(content))
    return tmp_path / "a.json", tmp_path / "references.json", tmp_path / "b.json"


def test_it_stands_with_the_other_metrics(site, files, tmp_path, whatchanged):
    site.install_project(PROJECT)
    own, references, other = files
    given = ("--compare", other, "--no-meteor", "--no-java", "--resamples", "50")
    outputs = ("--json", tmp_path / "r.json", "--html", tmp_path / "r.html")
    code, printed, _ = whatchanged("evaluate", own, references, *given, *outputs)
    assert code == 0 and "word-overlap" in printed
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["overall"]["word-overlap"] == pytest.approx(100 * (3 / 4 + 1 + 1 + 0) / 4)
    assert report["distractor"]["word-overlap"] == pytest.approx(50)
    low, high = report["intervals"]["semantic"]["word-overlap"]
    assert low <= 87.5 <= high
    assert report["comparison"]["semantic"]["word-overlap"]["difference"] == pytest.approx(37.5)
    assert report["comparison"]["overall"]["word-overlap"]["p"] is not None
    assert report["signature"]["plugin_metrics"] == {"word-overlap": "toy-metric 1.5"}
    page = (tmp_path / "r.html").read_text()
    assert "worst word-overlap first" in page and "word-overlap 75.0" in page


def test_from_python_and_in_doctor(site, whatchanged):
    site.install_project(PROJECT)
    assert evaluate(SAID, WANTED, resamples=0)["overall"]["word-overlap"] == pytest.approx(68.75)
    assert "metric word-overlap of toy-metric 1.5, found" in whatchanged("doctor")[1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise OSError('no weights')", "broken 1.5 failed: OSError: no weights"),
        ("return [2.0] * len(captions)", "each of 4 captions a score of 0 to 1"),
        ("return [0.5]", "each of 4 captions a score of 0 to 1"),
        ("return [float('nan')] * len(captions)", "a score of 0 to 1"),
    ],
)
def test_one_that_fails_is_not_computed_and_costs_nothing_else(site, body, reason):
    entry = {"whatchanged.metrics": {"poor": "poor_metric:score"}}
    site.install("broken", entry, poor_metric=f"def score(captions, references):\n    {body}\n")
    report = evaluate(SAID, WANTED, resamples=0)
    assert "poor" not in report["overall"] and report["overall"]["ROUGE-L"] > 50
    assert reason in report["signature"]["not_computed"]["poor"]


def test_a_name_that_is_taken_is_refused(site, capsys):
    site.install("taker", {"whatchanged.metrics": {"METEOR": "taken:score"}}, taken="score = None\n")
    assert evaluate(SAID, WANTED, resamples=0)["overall"]["METEOR"] is None
    assert "The metric 'METEOR' of taker 1.5 is not used" in capsys.readouterr().err
