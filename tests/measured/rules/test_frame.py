"""Frames that became wider or narrower around their content, drawn with a known truth."""

import numpy as np
import pytest

from whatchanged.measured import measure

BLUE = (30, 90, 220)


def framed(frame, dashed=False):
    """Three blocks in a row and a frame around some of them."""
    picture = np.full((160, 460, 3), 255, np.uint8)
    for number, left in enumerate((60, 160, 260, 360)):
        picture[70 : 90 + 4 * number, left : left + 40] = (200 - 50 * number, 80, 60 + 40 * number)
    left, top, right, bottom = frame
    lines = np.zeros(picture.shape[:2], bool)
    lines[top:bottom, left:right] = True
    lines[top + 2 : bottom - 2, left + 2 : right - 2] = False
    if dashed:
        rows, columns = np.indices(lines.shape)
        horizontal = (rows < top + 2) | (rows >= bottom - 2)
        lines &= np.where(horizontal, columns - left, rows - top) % 10 < 6
    picture[lines] = BLUE
    return picture


@pytest.mark.parametrize("dashed", [False, True])
@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ((40, 50, 120, 120), (40, 50, 220, 120), "became 100 pixels wider"),
        ((40, 50, 320, 120), (40, 50, 220, 120), "became 100 pixels narrower"),
        ((140, 50, 220, 120), (40, 50, 220, 120), "became 100 pixels wider"),
    ],
)
def test_a_frame_encloses_more_or_less(dashed, was, now, told):
    first = measure(framed(was, dashed), framed(now, dashed)).statements[0]
    assert (first.kind, first.element) == ("resized", "frame")
    assert (first.box_before, first.box_after) == (was, now)
    assert told in first.sentence


def test_a_frame_that_moved_did_not_grow():
    first = measure(framed((40, 50, 120, 120)), framed((240, 50, 320, 120))).statements[0]
    assert first.kind != "resized"
