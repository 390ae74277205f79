"""Recognise a button around text, by its fill and by the position of the text in it."""

from collections.abc import Sequence

import numpy as np

from whatchanged.measured import Box
from whatchanged.measured.pixels.boxes import lies_in
from whatchanged.measured.pixels.layers import far, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels

# Chosen on the labelled boxes of real pairs of training repositories.
HEIGHTS = (22, 64)
"""The heights of a button, in pixels."""
LONGEST = 9
"""The largest ratio of a button's width to its height."""
ROOM = 0.3
"""The free width at the left and at the right of the text, at least, in heights of the text."""
CENTRED = 0.12
"""How far the text may be from the middle, as a fraction of the side."""
EVEN = 0.9
"""The fraction of the rim that must have one colour."""
STANDS_OUT = 24
"""The least difference, in levels, between the fill and its surroundings."""


def is_button(pixels: Pixels, box: Box, lines: Sequence[Box]) -> bool:
    """Return whether a box is a button: a fill unlike its surroundings, with one line of text in the middle.

    lines: the lines of text in the box.
    """
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    if len(lines) != 1 or not lies_in(box, pixels.shape) or not HEIGHTS[0] <= height <= HEIGHTS[1]:
        return False
    line = lines[0]
    spaces = line[0] - left, right - line[2]
    if not height < width <= LONGEST * height or min(spaces) < ROOM * (line[3] - line[1]):
        return False
    beside = abs(spaces[0] - spaces[1]) > max(3, CENTRED * width)
    if beside or abs((line[1] - top) - (bottom - line[3])) > max(3, 2 * CENTRED * height):
        return False
    rim = np.concatenate([pixels[top + 3, left + 6 : right - 6], pixels[bottom - 4, left + 6 : right - 6]])
    if not len(rim):
        return False
    color = usual_color(rim)
    if (steps_from(color, rim) <= 8).mean() < EVEN:
        return False
    return far(color, ground_color(pixels, box)) >= STANDS_OUT
