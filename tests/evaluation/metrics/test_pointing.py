from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from support.pair_records import pair_record

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.metrics.pointing import enlarged, peak, play


@pytest.fixture
def record(tmp_path):
    """A pair of pictures of 40 x 20; boxes to choose."""
    for name in ("a.png", "b.png"):
        Image.new("RGB", (40, 20)).save(tmp_path / name)

    def make(before, after):
        paths = {"before": tmp_path / "a.png", "after": tmp_path / "b.png"}
        return pair_record("p", (), **paths, boxes=(before, after))

    return make


def hot(*cells):
    """Maps of 2 x 4 cells (each 10 x 10 pixels), one hot cell (row, column) a side."""
    maps = np.zeros((2, 2, 4))
    for side, (row, column) in enumerate(cells):
        maps[side, row, column] = 1
    return maps


def test_peaks_by_hand():
    # The centre of cell (0, 1) is at x = 15, between pixels 14 and 15: both are half a pixel away from it and
    # equally hot; the first counts. Above the first row of cells the map goes on as it is: y = 0.
    assert peak(hot((0, 1))[0], (40, 20)) == (14, 0)
    # cell (1, 2): x = 25 -> 24; its row's centre is y = 15, and from there down it goes on: pixel row 15
    assert peak(hot((1, 2))[0], (40, 20)) == (24, 15)
    assert peak(np.zeros((2, 4)), (40, 20)) == (0, 0)


def test_hits_by_hand(record):
    maps = hot((0, 1), (1, 2))
    before, after = play(record((14, 0, 1, 1), (24, 15, 1, 1)), maps)
    assert (before.side, before.hit, after.side, after.hit) == (0, True, 1, True)
    assert before.area == pytest.approx(1 / 800)
    # one pixel beside it; a box's end does not belong to it
    for miss in ((15, 0, 5, 5), (13, 0, 1, 1), (14, 1, 5, 5)):
        assert [shot.hit for shot in play(record(miss, (24, 15, 1, 1)), maps)] == [False, True]
    # an addition has no box before: one box, whatever the map before does
    (added,) = play(record(None, (20, 10, 10, 10)), maps)
    assert (added.side, added.hit) == (1, True)


def test_mass_by_hand(record):
    # All four cells of a row equal: enlarged it is constant along x, so half the width has half the mass.
    maps = np.zeros((2, 2, 4))
    maps[:, 0] = 1
    (shot,) = play(record((0, 0, 20, 20), None), maps)
    assert shot.mass == pytest.approx(0.5) and shot.area == 0.5
    # down the picture: 1 for 5 rows, 0.95, 0.85, .. 0.05 for 10, then 0 -> the first 5 of 5 + 5
    (shot,) = play(record((0, 0, 40, 5), None), maps)
    assert shot.mass == pytest.approx(0.5)


def test_what_the_grid_can_reach(record):
    # peaks lie at x 0, 14, 24, 35 and y 0, 15
    for box, reach in (
        ((0, 0, 1, 1), True),
        ((1, 0, 13, 20), False),
        ((35, 15, 5, 5), True),
        ((36, 1, 4, 14), False),
    ):
        (shot,) = play(record(box, None), hot((0, 0)))
        assert shot.reachable == reach, box


def test_a_pair_without_maps_and_a_cold_map_miss(record):
    pair = record((0, 0, 40, 20), None)
    for maps in (None, np.zeros((2, 2, 4))):
        (shot,) = play(pair, maps)
        assert (shot.hit, shot.mass, shot.area) == (False, 0, 1)
    assert play(record(None, None), hot((0, 0))) == []


@pytest.mark.parametrize("box", [(35, 0, 6, 5), (-1, 0, 5, 5), (0, 0, 0, 5), (0, 18, 5, 3)])
def test_boxes_outside_their_picture(record, box):
    with pytest.raises(PredictionsError, match="does not lie in its picture of 40 x 20 pixels"):
        play(record(box, None), hot((0, 0)))


def test_a_picture_that_is_gone(record, tmp_path):
    (tmp_path / "a.png").unlink()
    with pytest.raises(PredictionsError, match=r"a\.png.*Give its size: --picture-size WIDTHxHEIGHT"):
        play(record((0, 0, 5, 5), None), hot((0, 0)))
    (shot,) = play(record((0, 0, 5, 5), None), hot((0, 0)), given_size=(20, 10))
    assert shot.area == 25 / 200


def test_a_box_of_a_picture_that_is_not_known(record):
    single = replace(record(None, (0, 0, 5, 5)), after=None)
    with pytest.raises(PredictionsError, match="it has a box but no picture"):
        play(single, hot((0, 0)))


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
