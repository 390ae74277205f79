from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from whatchanged.captioner.attention import AttentionFiles, file_name, pack
from whatchanged.errors import ImageError, PredictionsError
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.pointing import enlarged, peak, pointing_game, pointing_report, table
from whatchanged.records import PairRecord

EVERY = {"overall": np.arange(1)}


@pytest.fixture
def record(tmp_path):
    """A pair of pictures of 40 x 20; boxes to choose."""
    for name in ("a.png", "b.png"):
        Image.new("RGB", (40, 20)).save(tmp_path / name)

    def make(before, after, name="p"):
        paths = tmp_path / "a.png", tmp_path / "b.png"
        return PairRecord("plain", name, name, "test", "pair_caption", *paths, boxes=(before, after))

    return make


def hot(*cells):
    """Maps of 2 x 4 cells (each 10 x 10 pixels), one hot cell (row, column) a side."""
    maps = np.zeros((2, 2, 4))
    for side, (row, column) in enumerate(cells):
        maps[side, row, column] = 1
    return maps


def test_by_hand(record):
    # The centre of cell (0, 1) is at x = 15, between pixels 14 and 15: both are half a pixel away from it and
    # equally hot; the first counts. Above the first row of cells the map goes on as it is: y = 0.
    assert peak(hot((0, 1))[0], (40, 20)) == (14, 0)
    # cell (1, 2): x = 25 -> 24; its row's centre is y = 15, and from there down it goes on: pixel row 15
    assert peak(hot((1, 2))[0], (40, 20)) == (24, 15)
    assert peak(np.zeros((2, 4)), (40, 20)) == (0, 0)

    def play(before, after, maps):
        return pointing_game([record(before, after)], lambda _: maps, EVERY)["overall"]

    maps = hot((0, 1), (1, 2))
    both = play((14, 0, 1, 1), (24, 15, 1, 1), maps)
    assert both["hits"]["percent"] == 100 and both["hits"]["of"] == 2
    assert both["area"] == pytest.approx(100 / 800)
    # one pixel beside it; a box's end does not belong to it
    for miss in ((15, 0, 5, 5), (13, 0, 1, 1), (14, 1, 5, 5)):
        got = play(miss, (24, 15, 1, 1), maps)
        assert (got["hits"]["count"], got["before"]["count"], got["after"]["count"]) == (1, 0, 1)
    # an addition has no box before: one box, whatever the map before does
    added = play(None, (20, 10, 10, 10), maps)
    assert added["hits"]["of"] == 1 and added["hits"]["percent"] == 100 and added["before"]["percent"] is None


def test_mass_by_hand(record):
    # All four cells of a row equal: enlarged it is constant along x, so half the width holds half the mass.
    maps = np.zeros((2, 2, 4))
    maps[:, 0] = 1
    found = pointing_game([record((0, 0, 20, 20), None)], lambda _: maps, EVERY)["overall"]
    assert found["mass"] == pytest.approx(50) and found["area"] == 50
    # down the picture: 1 for 5 rows, 0.95, 0.85, .. 0.05 for 10, then 0 -> the first 5 of 5 + 5
    found = pointing_game([record((0, 0, 40, 5), None)], lambda _: maps, EVERY)["overall"]
    assert found["mass"] == pytest.approx(50)


def test_what_the_grid_can_reach(record):
    # peaks lie at x 0, 14, 24, 35 and y 0, 15
    for box, reach in (((0, 0, 1, 1), 100), ((1, 0, 13, 20), 0), ((35, 15, 5, 5), 100), ((36, 1, 4, 14), 0)):
        found = pointing_game([record(box, None)], lambda _: hot((0, 0)), EVERY)["overall"]
        assert found["reachable"] == reach, box


def test_subsets_and_pairs_without_maps(record):
    records = [
        record((0, 0, 5, 5), None, "hit"),
        record((0, 0, 5, 5), (30, 10, 10, 10), "none"),
        record(None, None, "same"),
    ]
    chosen = {"overall": np.arange(3), "first": np.array([0]), "same": np.array([2])}
    asked = []

    def heat(pair_id):
        asked.append(pair_id)
        return hot((0, 0), (1, 3))

    found = pointing_game(records, heat, chosen, absent=frozenset(["none"]))
    assert asked == ["hit"] and set(found) == {"overall", "first"}
    assert (found["overall"]["hits"]["count"], found["overall"]["hits"]["of"]) == (1, 3)
    assert found["first"]["hits"]["percent"] == 100


def test_a_cold_map_hits_nothing(record):
    found = pointing_game([record((0, 0, 40, 20), None)], lambda _: np.zeros((2, 2, 4)), EVERY)["overall"]
    assert (found["hits"]["count"], found["mass"]) == (0, 0)


def test_the_report_says_what_it_depends_on(record, tmp_path):
    records = [record((0, 0, 20, 10), None, "a"), record(None, (30, 10, 10, 10), "b")]
    said = [Prediction("a", "the cube is gone"), Prediction("b", "")]
    about = {"grid": [2, 4], "layer": "last", "model": {"name": "m"}, "list": "l"}
    cells = {"the": (1, 3), "cube": (0, 0), "is": (1, 3), "gone": (0, 1)}
    words = [(word, hot(cell, cell).astype(np.float32)) for word, cell in cells.items()]
    (tmp_path / file_name(0)).write_bytes(pack({"a": words}, about))
    files, every = AttentionFiles(tmp_path), {"overall": np.arange(2)}
    report = pointing_report(files, records, said, every)
    assert report["subsets"]["overall"]["hits"]["count"] == 1 and report["without_maps"] == 1
    assert (report["grid"], report["layer"], report["words"]) == (
        [2, 4],
        "last",
        "mean over the content words",
    )
    title, rows = table(report)
    assert "grid 2 x 4, mean over the content words, attention last" in title
    assert rows[1][:5] == ["overall", "2", "50.0 (9-91)", "100.0 (21-100)", "0.0 (0-79)"]
    assert pointing_report(files, records[:1], said[:1], {"none": np.arange(0)}) is None

    with pytest.raises(PredictionsError, match=r"1 pairs have no attention maps \(first: b\)"):
        pointing_report(files, records, [said[0], Prediction("b", "gone")], every)
    with pytest.raises(PredictionsError, match="the maps of a are of another sentence: 'the cube is gone'"):
        pointing_report(files, records, [Prediction("a", "the cube moved"), said[1]], every)


@pytest.mark.parametrize("box", [(35, 0, 6, 5), (-1, 0, 5, 5), (0, 0, 0, 5), (0, 18, 5, 3)])
def test_boxes_outside_their_picture(record, box):
    with pytest.raises(PredictionsError, match="does not lie in its picture of 40 x 20 pixels"):
        pointing_game([record(box, None)], lambda _: hot((0, 0)), EVERY)


def test_a_picture_that_is_gone(record, tmp_path):
    (tmp_path / "a.png").unlink()
    with pytest.raises(ImageError, match="there is no such file"):
        pointing_game([record((0, 0, 5, 5), None)], lambda _: hot((0, 0)), EVERY)


maps = arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 255))


@given(maps, st.integers(8, 60), st.integers(8, 60))
def test_as_pillow_enlarges(heat, width, height):
    wanted = Image.fromarray(heat).resize((width, height), Image.Resampling.BILINEAR)
    assert enlarged(heat, (width, height)) == pytest.approx(np.asarray(wanted), abs=1e-3)


@given(maps)
def test_the_maximum_is_a_hottest_cells(heat):
    """With pixels at the cell centres the peak lies in a cell that is as hot as any."""
    rows, columns = heat.shape
    x, y = peak(heat, (9 * columns, 9 * rows))
    assert heat[y // 9, x // 9] == heat.max()


def test_the_masss_interval_is_of_scenes(record):
    """Scene a: both boxes hold all of their maps; scene b: its one box holds none. Draws aa, ab, ba, bb."""
    records = [
        replace(record((0, 0, 40, 20), None, "1"), group_id="a"),
        replace(record(None, (0, 0, 40, 20), "2"), group_id="a"),
        replace(record((39, 19, 1, 1), None, "3"), group_id="b"),
        record(None, None, "no box"),
    ]
    found = pointing_game(
        records, lambda _: hot((0, 0), (0, 0)), {"overall": np.arange(4), "a": np.arange(2)}, resamples=2000
    )
    assert found["overall"]["mass"] == pytest.approx(200 / 3)
    assert found["overall"]["intervals"]["mass"] == pytest.approx([0, 100])
    assert found["a"]["intervals"] == {"mass": None}  # one scene says nothing about others
    told = table({"grid": (2, 4), "words": "all", "layer": "last", "subsets": found})[1]
    assert (told[1][5], told[2][5]) == ("66.7 (0-100)", "100.0")
    assert "intervals" not in pointing_game(records, lambda _: hot((0, 0), (0, 0)), EVERY)["overall"]


def test_the_masss_interval_against_one_draw_at_a_time(record):
    """Forty scenes of one or two boxes, each with a mass of its own."""
    rng, records, maps = np.random.default_rng(0), [], {}
    for i in range(40):
        maps[str(i)] = rng.random((2, 2, 4))
        pair = record((0, 0, 20, 20), (20, 0, 20, 20) if i % 3 else None, str(i))
        records.append(replace(pair, group_id=str(i // 2)))
    every = {"overall": np.arange(40)}
    low, high = pointing_game(records, maps.get, every, resamples=400)["overall"]["intervals"]["mass"]
    boxes = {}
    for r in records:
        alone = pointing_game([r], maps.get, EVERY)["overall"]
        count = alone["hits"]["of"]
        boxes.setdefault(r.group_id, []).append((alone["mass"] * count, count))
    scenes, draws = sorted(boxes), []
    for row in np.random.default_rng(0).integers(20, size=(400, 20)):
        sums = np.sum([box for k in row for box in boxes[scenes[k]]], axis=0)
        draws.append(sums[0] / sums[1])
    assert (low, high) == pytest.approx(tuple(np.quantile(draws, (0.025, 0.975))))
