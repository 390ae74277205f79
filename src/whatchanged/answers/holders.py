"""What holds words: a button, told by how it is filled and how the words stand in it."""

from collections.abc import Sequence

import numpy as np

from whatchanged.measured import Box
from whatchanged.measured.pixels.boxes import lies_in
from whatchanged.measured.pixels.layers import far, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels

# Chosen on the labelled boxes of real pairs of training repositories.
HEIGHTS = (22, 64)
"""Pixels that a button is high."""
LONGEST = 9
"""How many times as long as high it is at most."""
ROOM = 0.3
"""Heights of its line of text that are free to the left and to the right of it at least."""
CENTRED = 0.12
"""Part of a side by which the text may stand beside the middle."""
EVEN = 0.9
"""Share of the rim that has one colour."""
STANDS_OUT = 24
"""Levels by which its fill differs from what is around it at least."""


def is_button(pixels: Pixels, box: Box, lines: Sequence[Box]) -> bool:
    """Whether a box is filled like a button, unlike what is around it, with one line of text in its middle.

    lines: those of text in the box.
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
