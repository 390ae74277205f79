"""The tables of the learning curves say what the record says."""

import dataclasses

import pytest

SCRIPT = "learning.tables"
KINDS = "color none move none"
NAMES = ("type right", "wholly true", "no change told", "CIDEr-D, changed", "CIDEr-D")


def cell(mean):
    return {"mean": mean, "sampling_low": mean - 1, "sampling_high": mean + 1}


def scored(true="", told="11"):
    """A test on four pairs of two scenes; ``true``: whether both changed pairs are wholly true."""
    results = {
        "scores": {name: cell(50.0 + n) for n, name in enumerate(NAMES)},
        "types": {kind: {"wholly true": cell(90.0)} for kind in ("color", "move")},
        "parameters": 1234567,
    }
    if true:
        own = {"type right": "11", "wholly true": true, "no change told": told}
        results["outcomes"] = {**own, "CIDEr-D, changed": "100.0 50.0", "CIDEr-D": "100.0 200.0 50.0 150.0"}
    return results


def run(row, pairs, shares, **settings):
    """A run with a point each ten pairs."""
    curve = [
        {"pairs": 10 * n, "wholly true": s, "type right": s + 1, "CIDEr-D": s, "seconds": 1200.4}
        for n, s in enumerate(shares, 1)
    ]
    about = {"recipe": "clevr-" + row, "settings": [], "rate": 1e-3, "seed": 2, "processor": "p"}
    code = {"code": [{"commit": "abcdef0123456", "changed": []}]}
    return {
        "row": row,
        "pairs": pairs,
        **about,
        **code,
        "curve": curve,
        "tests": {"near": scored()},
        **settings,
    }


@pytest.fixture
def result(bench):
    changes = [
        {"commit": "abcdef0123456", "changed": []},
        {"commit": "0123456abcdef", "changed": ["src/x.py"]},
    ]
    runs = [
        run("pcl", 60, [0, 1, 2, 3, 4, 5]),
        run("scorer", 20, [70, 80], seed=100),
        run("scorer", 20, [70, 90], seed=100, rate=3e-3),
        run("scorer", 60, [7, 8, 9, 10, 11, 12.25], settings=["a=1", "b=2"], code=changes),
    ]
    return with_runs(bench, runs)


def with_runs(bench, runs):
    near = {"kinds": KINDS, "scenes": "0 0 1 1", "pairs": 4}
    figures = {"runs": runs, "tests": {"near": near}}
    return bench.Result("learning", "learning", [], "c", [], "d", {}, {}, None, figures)


def seeds(row, *true, **settings):
    """A run a seed with what was wholly true on the test."""
    shares = [0, 1, 2, 3, 4, 5]
    return [
        run(row, 60, shares, seed=n, tests={"near": scored(*each)}, **settings)
        for n, each in enumerate(true, 1)
    ]


def test_a_short_table_has_the_mean_and_the_deviation_of_the_seeds(bench):
    runs = seeds("pcl", ("11", "11"), ("10", "11"))
    runs[0]["tests"]["near"]["scores"]["wholly true"] = cell(90.0)
    runs[1]["tests"]["near"]["scores"]["wholly true"] = cell(94.0)
    ((title, (head, row)),) = bench.short("methods")(with_runs(bench, runs))
    assert title == "" and head[:3] == ["row", "seeds", "wholly true, cameras nearby"]
    assert row == ["PCL, every word", "2", "92.0 ± 2.8", "54.0 ± 0.0"]


def test_how_the_longest_runs_were_made(bench, result):
    ((_, (head, pcl, scorer)),) = bench.made(result)
    assert dict(zip(head, pcl, strict=True)) == {
        "row": "PCL, every word",
        "recipe": "clevr-pcl",
        "beyond the recipe": "-",
        "rate": "0.001",
        "pairs": "60",
        "seeds": "2",
        "core seconds a run": "1,200",
        "commit (seeds)": "abcdef012 (2)",
    }
    assert scorer[0] == "SCORER + CBR" and scorer[2] == "a=1, b=2"
    assert scorer[-1] == "abcdef012, then 0123456ab and changes (2)"


def test_seeds_of_one_row_stand_in_one_line_with_their_commits(bench):
    other = [{"commit": "0123456abcdef", "changed": []}]
    runs = [*seeds("pcl", "11", "10"), run("pcl", 60, [0, 1, 2, 3, 4, 5], seed=3, code=other)]
    ((_, (_, row)),) = bench.made(with_runs(bench, runs))
    assert row[5] == "1, 2, 3" and row[-1] == "abcdef012 (1, 2); 0123456ab (3)"


def test_curves_end_with_the_last_point_and_are_means_of_the_seeds(bench, result):
    ((_, (head, *rows)),) = bench.curves(result)
    assert head[-1] == "60 pairs" and len(head) == len(rows[0])
    assert rows[1][0] == "wholly true: SCORER + CBR" and rows[1][-1] == "12.2"
    assert rows[2][0] == "type right: PCL, every word" and rows[2][-1] == "6.0"
    runs = [run("pcl", 60, [1, 2]), run("pcl", 60, [1, 5], seed=3)]
    assert bench.curves(with_runs(bench, runs))[0].rows[1][1:] == ["1.0", "3.5"]


def test_only_points_that_all_runs_have_are_compared(bench, result):
    runs = [dict(run) for run in result.figures["runs"]]
    runs[0]["curve"] = runs[0]["curve"][1::2]
    fewer = dataclasses.replace(result, figures={**result.figures, "runs": runs})
    assert bench.curves(fewer)[0].rows[0][1:] == ["20 pairs", "40 pairs", "60 pairs"]


def test_one_seed_has_the_interval_of_its_report(bench, result):
    parts = bench.tests(result)
    assert parts[0].title == "The three methods: drawn, cameras nearby, 2 changed and 2 unchanged pairs."
    head, pcl, _ = parts[0].rows
    assert pcl[head.index("wholly true")] == "51.0 (50.0-52.0)" and pcl[-1] == "1,234,567"
    ((_, types),) = bench.types(result)
    assert types[1] == ["PCL, every word", "1", "90.0 (89.0-91.0)", "90.0 (89.0-91.0)"]


def test_several_seeds_have_mean_and_deviation(bench):
    """Both, one and none of two sentences true: 100, 50 and 0 %, so 50 ± 50; by t of two beyond 0 and 100."""
    runs = [*seeds("pcl", ["11"], ["10"], ["00"]), *seeds("scorer", ["11"])]
    head, pcl, _ = bench.tests(with_runs(bench, runs))[0].rows
    found = dict(zip(head, pcl, strict=True))
    assert found["seeds"] == "3" and found["wholly true"].startswith("50.0 ± 50.0 (33.3-66.7")
    assert 4.302653 * 50 / 3**0.5 > 50
    assert found["95 % of wholly true, seeds"] == "0.0 to 100.0"
    assert found["CIDEr-D"].startswith("125.0 ± 0.0")
    color = bench.types(with_runs(bench, runs))[0].rows[1][2]
    assert color.startswith("66.7 ± 57.7")  # of the first changed pair: 1, 1, 0


def test_runs_without_outcomes_have_no_interval_of_scenes_together(bench):
    runs = [run("pcl", 60, [1]), run("pcl", 60, [1], seed=3), run("scorer", 60, [1])]
    assert bench.tests(with_runs(bench, runs))[0].rows[1][2] == "50.0 ± 0.0"


def test_the_rate_search_names_the_rate_that_was_taken(bench, result):
    ((_, (head, *rows)),) = bench.search(result)
    taken = [(row[1], row[head.index("CIDEr-D")], row[head.index("best")]) for row in rows]
    assert taken == [("0.001", "80.0", ""), ("0.003", "90.0", "yes")]


def test_hours_follow_from_the_recorded_seconds(bench):
    """36 seconds for 60 pairs are 64 core hours for 3 runs of 128,000; a row that was not run costs as its
    method."""
    curve = [{"pairs": 60, "wholly true": 0, "type right": 0, "CIDEr-D": 0, "seconds": 36.0}]
    runs = [run(row, 60, [], curve=curve) for row in ("pcl", "scorer", "clip4idc")]
    ((_, (_, *rows)),) = bench.hours(with_runs(bench, runs))
    results = {row[0]: row[1:] for row in rows}
    assert results["The three methods"] == ["9", "3", "192.0"]
    assert results["PCL, Table 4"] == ["18", "1", "384.0"]
    assert results["the rate search"] == ["9", "0", "192.0"]
    assert results["all tables, each row once"][0] == str(3 * len(bench.rows_named("all")))


def test_retrieval_is_the_mean_of_the_seeds(bench):
    def with_recall(share):
        way = {"R@1": share, "R@5": share + 1, "R@10": share + 2}
        return {"near": {**scored(), "retrieval": {"at the end": {"text_to_pair": way, "pair_to_text": way}}}}

    runs = [run("clip4idc", 60, [1], seed=n, tests=with_recall(share)) for n, share in ((1, 10), (2, 20))]
    ((_, (_, row)),) = bench.retrieved(with_runs(bench, [*runs, run("pcl", 60, [1])]))
    assert row == ["CLIP4IDC, at the end", "drawn, cameras nearby", "2", *["15.0", "16.0", "17.0"] * 2]
