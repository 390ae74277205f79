"""One figure of a record, by hand."""

import pytest

from benchmarks.record import Result, read_results

SCRIPT = "figures"
FIGURES = {
    "measured": {"kind": {"value": 0.6073}},
    "share": {"count": 97, "of": 98, "percent": 98.98, "low": 94.4, "high": 99.8},
    "rows": [{"what": "a b", "stopped": 1200, "ms": 64.77}, {"what": "c", "stopped": 34, "ms": 1.0}],
}


def one(figures):
    return {"x": Result("x", "rows", [], "c", [], "d", {}, {}, None, figures)}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("measured/kind/value as %", "61 %"),
        ("measured/kind/value as %.1", "60.7 %"),
        ("share as share", "99 %"),
        ("share as ends", "99.0 (94-100)"),
        ("rows/what=a b/ms as .0", "65"),
        ("rows/what=a b/stopped as ,", "1,200"),
        ("rows/*/stopped as sum", "1,234"),
        ("rows/-1/ms as .2", "1.00"),
        ("rows as count", "2"),
    ],
)
def test_figures_by_path_and_format(key, text, bench):
    assert bench.figure(one(FIGURES), f"x: {key}") == text


@pytest.mark.parametrize(
    "key",
    [
        "y: share as share",
        "x: share as nothing",
        "x: nowhere as ,",
        "x: rows/what=d/ms as .0",
        "x: rows/7/ms as .0",
        "x: rows as %",
        "x",
    ],
)
def test_a_figure_that_is_not_there_is_refused(key, bench):
    with pytest.raises(ValueError, match="figure"):
        bench.figure(one(FIGURES), key)


def test_a_row_that_learned_is_told_by_the_mean_of_its_seeds(bench):
    """By hand: 92.2, 93.4 and 93.4 % of 500 sentences."""
    runs = [
        run for run in read_results()["learning"].figures["runs"] if run["row"] == "pcl" and run["seed"] < 4
    ]
    means = [run["tests"]["near"]["scores"]["wholly true"]["mean"] for run in runs]
    told = bench.figure(read_results(), "learning: pcl/near/wholly true as .1")
    assert len(means) == 3 and told == f"{sum(means) / 3:.1f}"


def test_verdicts_of_readers_are_figures_too(bench):
    assert bench.figure({}, "verdicts: before/changed/useful as share") == "5 %"
    assert bench.figure({}, "verdicts: before/changed/wrong/count as ,") == "15"
