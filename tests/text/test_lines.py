"""A line cut out of a picture."""

import numpy as np
import pytest

from whatchanged.text.lines import framed, gap_within, uncovered

GAPS = np.full((20, 100, 3), 255, np.uint8)
GAPS[4:16, 10:20] = GAPS[4:16, 22:30] = GAPS[4:16, 60:70] = 0
"""Three blocks of ink, two close together."""


def test_ground_around_a_line():
    part = np.zeros((20, 50, 3), np.uint8)
    cut, left = framed(part, (255, 0, 0))
    assert cut.shape == (26, 62, 3) and left == 6
    assert (cut[3:-3, 6:-6] == 0).all() and (cut[0] == (255, 0, 0)).all() and (cut[:, 0] == (255, 0, 0)).all()


def test_a_gap_within_a_word():
    assert gap_within(GAPS, (12, 26, 65)) and not gap_within(GAPS, (12, 26))


@pytest.mark.parametrize(
    ("columns", "everywhere", "within"),
    [((15, 26, 65), False, False), ((15, 26), True, False), ((15, 65), True, True)],
)
def test_ink_of_which_nothing_was_read(columns, everywhere, within):
    assert uncovered(GAPS, columns) is everywhere and uncovered(GAPS, columns, within=True) is within


def test_an_icon_at_the_end():
    assert uncovered(GAPS, (15, 26)) and not uncovered(GAPS, (15, 26), icons=True)
    assert uncovered(GAPS, (26, 65), icons=True)  # it stands as near as a letter


def test_a_cut_without_ink():
    assert not uncovered(np.full((20, 50, 3), 9, np.uint8), (5.0,))
