"""An edge counts where most of what differs around it moved by whole pixels or changed in straight runs."""

import numpy as np
import pytest

from whatchanged.measured.pixels.planes import steps_between
from whatchanged.measured.pixels.redrawing import NEAR, not_redrawn
from whatchanged.measured.pixels.straight import find_runs

EDGE = (20, 40, 100, 41)


def kept(before, after, boxes=(EDGE,)):
    runs = list(find_runs(before, after))
    return list(not_redrawn(before, after, steps_between(before, after), runs, boxes))


def patterned(width=200, height=120):
    """A page of one colour with a part of random pixels, as letters are, beneath a line."""
    page = np.full((height, width, 3), 250, np.uint8)
    page[40, 20:100] = 90
    page[50:70, 20:100] = np.random.default_rng(1).integers(0, 250, (20, 80, 1))
    return page


@pytest.mark.parametrize("shift", [(1, 0), (0, 1), (-1, 1), (2, 0), (-2, -2)])
def test_what_moved_by_whole_pixels_is_kept(shift):
    before = patterned()
    after = np.roll(before, shift, axis=(0, 1))
    assert kept(before, after) == [EDGE]
    assert kept(after, before) == [EDGE]


def test_a_line_beside_letters_that_were_drawn_anew_is_not():
    before = patterned()
    after = np.roll(before, 1, axis=0)
    after[51:71, 20:100] = np.random.default_rng(2).integers(0, 250, (20, 80, 1))
    assert kept(before, after) == []
    assert kept(after, before) == []


def test_what_was_drawn_anew_far_away_does_not_matter():
    before = np.full((120, 3 * NEAR, 3), 250, np.uint8)
    before[40, 20:100] = 90
    after = np.roll(before, 1, axis=0)
    after[50:70, -80:] = np.random.default_rng(2).integers(0, 250, (20, 80, 1))
    assert kept(before, after) == [EDGE]


def test_of_nothing_nothing_is_kept():
    assert kept(patterned(), patterned(), ()) == []
