"""Cuts and numbers of places, against pixels set by hand."""

import numpy as np
import pytest

from whatchanged.measured.crops import NUMBERS, PLANES, cut, numbers
from whatchanged.measured.proposals import Proposal, propose

BOX = (20, 10, 30, 16)


def picture() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (60, 80, 3)).astype(np.uint8)


def test_the_native_cut_is_the_picture_around_the_middle():
    pixels = picture()
    planes = cut(pixels, BOX, 16)
    assert planes.shape == (PLANES, 16, 16)
    np.testing.assert_array_equal(planes[:3], pixels[5:21, 17:33].transpose(2, 0, 1))
    mask = np.zeros((16, 16), np.uint8)
    mask[5:11, 3:13] = 255
    np.testing.assert_array_equal(planes[3], mask)


def test_beyond_the_edge_it_is_white():
    planes = cut(picture(), (0, 0, 4, 4), 16)
    assert (planes[:3, :6] == 255).all()
    assert (planes[:3, :, :6] == 255).all()
    np.testing.assert_array_equal(planes[:3, 6:, 6:], picture()[:10, :10].transpose(2, 0, 1))


def test_the_whole_shows_all_of_a_large_box():
    pixels = np.full((100, 300, 3), 255, np.uint8)
    pixels[40:60, 50:250] = 0
    planes = cut(pixels, (50, 40, 250, 60), 40)
    share = 200 / 300  # the box with what is around it is 300 wide, and so is the cut
    assert (planes[7] > 127).any(axis=0).mean() == pytest.approx(share, abs=0.03)
    dark = planes[4] < 128
    np.testing.assert_array_equal(dark, planes[7] > 127)


def test_a_small_box_is_never_enlarged():
    planes = cut(picture(), BOX, 40)
    assert (planes[7] == 255).sum() == 10 * 6


def test_numbers_are_finite_and_as_many_as_told():
    before = np.full((60, 80, 3), 255, np.uint8)
    after = before.copy()
    after[10:16, 20:30] = (200, 0, 0)
    places = propose(before, after)
    found = [numbers(before, after, place, i, len(places)) for i, place in enumerate(places)]
    assert all(row.shape == (NUMBERS,) and np.isfinite(row).all() for row in found)
    assert found[0][:2].tolist() == [0, 1]  # nothing before, something after
    assert found[0][2:4] == pytest.approx([25 / 80, 13 / 60])


def test_a_box_beyond_a_smaller_picture_is_read_at_its_edge():
    before, after = np.zeros((10, 10, 3), np.uint8), np.zeros((60, 80, 3), np.uint8)
    place = Proposal(None, (50, 40, 60, 50), "added", "thing", 0.5, 100, 3.0)
    assert np.isfinite(numbers(before, after, place, 0, 1)).all()
