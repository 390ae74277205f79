"""The picture of the learning curves shows the recorded points."""

import re
from xml.etree import ElementTree

import pytest

SCRIPT = "learning.figure"


def run(row, pairs, points, seed=1):
    curve = [{"pairs": p, "wholly true": s, "type right": s, "CIDEr-D, changed": 2 * s} for p, s in points]
    return {"row": row, "pairs": pairs, "rate": 1e-3, "seed": seed, "curve": curve}


RUNS = [
    run("pcl", 400, [(100, 0), (400, 100)]),
    run("scorer", 200, [(200, 25)]),
    run("scorer", 400, [(200, 50), (400, 75)]),
    run("scorer-unguided", 400, [(400, 10)]),
]


def lines(drawn, width="2"):
    """The points of every curve of this width, by its colour and dashes."""
    root = ElementTree.fromstring(drawn)
    results = []
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        if path.get("stroke-width") == width and "h28" not in path.get("d"):
            numbers = [float(number) for number in re.findall(r"[0-9.]+", path.get("d"))]
            results.append((path.get("stroke"), path.get("stroke-dasharray"), numbers))
    return results


def test_points_lie_where_their_scores_say(bench):
    """In the first panel, whose origin is at (LEFT, TOP + PANEL_HEIGHT)."""
    pcl, scorer, unguided = lines(bench.figure(RUNS))[:3]
    left, bottom = bench.LEFT, bench.TOP + bench.PANEL_HEIGHT
    quarter, height = bench.PANEL_WIDTH / 4, bench.PANEL_HEIGHT
    assert pcl[2] == [left + quarter, bottom, left + 4 * quarter, bottom - height]
    assert scorer[2] == [left + 2 * quarter, bottom - height / 2, left + 4 * quarter, bottom - 0.75 * height]
    assert (scorer[0], scorer[1]) != (unguided[0], unguided[1])
    assert pcl[0] != scorer[0] == unguided[0]


def test_short_runs_of_a_rate_search_are_left_out(bench):
    assert len(lines(bench.figure(RUNS))) == 3 * len(bench.SCORES)


def test_seeds_are_thin_and_their_mean_is_thick(bench):
    """0 and 100 % at 200 pairs, where both have a point, are 50 % in the mean."""
    runs = [run("pcl", 200, [(200, 0)]), run("pcl", 200, [(100, 50), (200, 100)], seed=2)]
    drawn = bench.figure(runs)
    thin, thick = lines(drawn, f"{bench.THIN:g}"), lines(drawn)
    assert len(thin) == 2 * len(bench.SCORES) and len(thick) == len(bench.SCORES)
    right, middle = bench.LEFT + bench.PANEL_WIDTH, bench.TOP + bench.PANEL_HEIGHT / 2
    assert thick[0][2] == [right, middle] and thin[0][2] == [right, bench.TOP + bench.PANEL_HEIGHT]


def test_rows_of_published_tables_are_left_out(bench):
    assert bench.figure([*RUNS, run("pcl-table4-2-mlm", 400, [(400, 10)])]) == bench.figure(RUNS)


def test_every_row_is_named(bench):
    drawn = bench.figure(RUNS)
    assert ">SCORER + CBR, without guided attention<" in drawn and ">PCL<" in drawn


def test_the_picture_is_up_to_date_with_the_record(bench, capsys):
    if not bench.RESULT.exists():
        pytest.skip("no learning curves are recorded")
    assert bench.main(["--check"]) == 0, capsys.readouterr().err
