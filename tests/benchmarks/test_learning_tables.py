"""The tables of the learning curves say what the record says."""

import dataclasses

import pytest

SCRIPT = "learning_tables"


def cell(mean):
    return {"mean": mean, "sampling_low": mean - 1, "sampling_high": mean + 1}


def run(row, pairs, shares, **settings):
    """A run with a point each ten pairs."""
    curve = [
        {"pairs": 10 * n, "wholly true": share, "type right": share + 1, "seconds": 1200.4}
        for n, share in enumerate(shares, 1)
    ]
    names = ("type right", "wholly true", "no change told", "CIDEr-D, changed", "CIDEr-D")
    test = {
        "scores": {name: cell(50 + n) for n, name in enumerate(names)},
        "types": {kind: {"wholly true": cell(90.0)} for kind in ("color", "move")},
        "parameters": 1234567,
    }
    about = {"recipe": "clevr-" + row, "settings": [], "rate": 1e-3, "seed": 2, "commit": "abcdef0123456"}
    return {"row": row, "pairs": pairs, "changed": [], **about, "curve": curve, "test": test, **settings}


@pytest.fixture
def result(bench):
    runs = [
        run("pcl", 60, [0, 1, 2, 3, 4, 5]),
        run("scorer", 20, [70, 80]),
        run("scorer", 60, [7, 8, 9, 10, 11, 12.25], settings=["a=1", "b=2"], changed=["src/x.py"]),
    ]
    return bench.Result("learning", "learning", [], "c", [], "d", {}, {}, None, {"runs": runs})


def test_how_the_longest_runs_were_made(bench, result):
    head, pcl, scorer = bench.made(result)
    assert dict(zip(head, pcl, strict=True)) == {
        "run": "PCL",
        "recipe": "clevr-pcl",
        "beyond the recipe": "-",
        "rate": "0.001",
        "pairs": "60",
        "seed": "2",
        "core seconds": "1,200",
        "commit": "abcdef012",
    }
    assert scorer[0] == "SCORER + CBR" and scorer[2] == "a=1, b=2" and scorer[-1] == "abcdef012 and changes"


def test_curves_end_with_the_last_point(bench, result):
    head, *rows = bench.curves(result)
    assert head[-1] == "60 pairs" and len(head) == len(rows[0])
    assert rows[1][0] == "wholly true: SCORER + CBR" and rows[1][-1] == "12.2"
    assert rows[2][0] == "type right: PCL" and rows[2][-1] == "6.0"


def test_the_tests_show_scores_with_their_intervals(bench, result):
    head, pcl, _ = bench.tests(result)
    assert pcl[head.index("wholly true")] == "51.0 (50.0-52.0)" and pcl[-1] == "1,234,567"
    assert bench.types(result)[1:] == [
        ["PCL", "90.0 (89.0-91.0)", "90.0 (89.0-91.0)"],
        ["SCORER + CBR", "90.0 (89.0-91.0)", "90.0 (89.0-91.0)"],
    ]


def test_only_points_that_all_runs_have_are_compared(bench, result):
    runs = [dict(run) for run in result.figures["runs"]]
    runs[0]["curve"] = runs[0]["curve"][1::2]
    fewer = dataclasses.replace(result, figures={"runs": runs})
    assert bench.curves(fewer)[0][1:] == ["20 pairs", "40 pairs", "60 pairs"]
