import numpy as np
import pytest
from support.pair_records import pair_record

from whatchanged.evaluation.io.maps import AttentionMaps
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.pointing import Shot
from whatchanged.evaluation.report.pointing_block import by_subset, pointing_block, pointing_table
from whatchanged.evaluation.report.scored import ReportSettings, score

HIT, MISS = Shot(0, True, 1.0, 0.5, True), Shot(1, False, 0.0, 0.25, False)
ALL = ("overall",)


def test_numbers_by_hand():
    shots = [[HIT, MISS], [Shot(1, True, 0.5, 0.25, True)], []]
    chosen = {ALL: np.arange(3), ("types", "add"): np.array([1]), ("distractor",): np.array([2])}
    results = by_subset(shots, ["a", "b", "b"], chosen)
    assert set(results) == {"overall", "add"}  # the third pair has no box
    overall = results["overall"]
    assert (overall["hits"]["count"], overall["hits"]["of"]) == (2, 3)
    assert (overall["before"]["percent"], overall["after"]["percent"]) == (100, 50)
    assert (overall["mass"], overall["area"]) == pytest.approx((50, 100 / 3))
    assert overall["reachable"] == pytest.approx(200 / 3)
    assert results["add"]["before"]["percent"] is None
    assert "intervals" not in overall


def test_the_masss_interval_is_of_scenes():
    """Scene a: both boxes have all of their maps; scene b: its one box has none. Draws aa, ab, ba, bb."""
    shots = [[HIT], [HIT], [MISS], []]
    results = by_subset(shots, list("aabb"), {ALL: np.arange(4), ("types", "add"): np.arange(2)}, 2000)
    assert results["overall"]["mass"] == pytest.approx(200 / 3)
    assert results["overall"]["intervals"]["mass"] == pytest.approx([0, 100])
    assert results["add"]["intervals"] == {"mass": None}  # one scene says nothing about others
    rows = pointing_table({"grid": (2, 4), "words": "all", "layer": "last", "subsets": results})[1]
    assert (rows[1][5], rows[2][5]) == ("66.7 (0-100)", "100.0")


def test_the_masss_interval_against_one_draw_at_a_time():
    """Forty pairs in twenty scenes, with one box or two, each with a mass of its own."""
    rng = np.random.default_rng(0)
    shots = [[HIT._replace(mass=rng.random()) for _ in range(1 + (i % 3 > 0))] for i in range(40)]
    groups = [str(i // 2) for i in range(40)]
    low, high = by_subset(shots, groups, {ALL: np.arange(40)}, 400)["overall"]["intervals"]["mass"]
    scenes = sorted(set(groups))
    masses = {scene: [] for scene in scenes}
    for own, group in zip(shots, groups, strict=True):
        masses[group] += [100 * shot.mass for shot in own]
    draws = [
        np.mean([mass for k in row for mass in masses[scenes[k]]])
        for row in np.random.default_rng(0).integers(20, size=(400, 20))
    ]
    assert (low, high) == pytest.approx(tuple(np.quantile(draws, (0.025, 0.975))))


def test_the_block_says_what_it_depends_on(pictures):
    before, after = pictures
    records = [
        pair_record("a", ["gone"], before=before, after=after, boxes=((0, 0, 24, 16), None)),
        pair_record("b", ["gone"], before=before, after=after, boxes=(None, (40, 20, 8, 8))),
    ]
    maps = np.zeros((2, 2, 3))
    maps[:, 0, 0] = 1
    said = [Prediction("a", "the cube is gone"), Prediction("b", "")]
    about = AttentionMaps({"a": maps}, (2, 3), "last", {"name": "m"})
    block = pointing_block(score(records, said, ReportSettings(resamples=0), maps=about))
    assert block["subsets"]["overall"]["hits"]["count"] == 1 and block["without_maps"] == 1
    assert (block["grid"], block["layer"], block["model"]) == ([2, 3], "last", {"name": "m"})
    title, rows = pointing_table(block)
    assert "grid 2 x 3, mean over the content words, attention last" in title
    assert rows[1][:5] == ["overall", "2", "50.0 (9-91)", "100.0 (21-100)", "0.0 (0-79)"]


def test_no_boxes_or_no_maps_make_no_block():
    record = pair_record("a", ["gone"])
    said, settings = [Prediction("a", "gone")], ReportSettings(resamples=0)
    about = AttentionMaps({"a": np.ones((2, 2, 3))}, (2, 3), "last", {"name": "m"})
    assert pointing_block(score([record], said, settings, maps=about)) is None
    assert pointing_block(score([record], said, settings)) is None
