"""Label a drawn change as visible or not.

The rule knows the edit, so it needs no threshold of the measured answer. Let *step* be the largest difference
of a channel at a pixel, in levels of 255, and *shift* the distance that a box moved, in pixels of the
picture.

no         no pixel beyond 6 levels; or something that moved or was resized by half a pixel at most
uncertain  the largest step is 14 levels or less (24 where thin lines or letters change), or fewer than 10
           pixels are beyond 10 levels, or something moved or was resized by less than 2 pixels
yes        otherwise; and wherever the pictures differ in size by 2 pixels or more
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Visible = Literal["yes", "uncertain", "no"]
Pixels = NDArray[np.uint8]

UNSEEN, FAINT, FAINT_THIN = 6, 14, 24
"""Levels of 255."""
FEW = 10
"""Pixels."""
STRONG, LINE = 64, 24
"""The least contrast (levels of 255) and length (pixels) of a run of differences that counts as a line."""
STILL, SLIGHT = 0.5, 2.0
"""Pixels that something moves."""
THIN = ("ink", "border", "border width", "outline", "radius", "line style")
"""Properties whose change affects few pixels."""


def visible(before: Pixels, after: Pixels, kind: str, aspect: str, shift: float) -> Visible:
    """Return whether a change between two pictures, (height, width, 3) each, is visible.

    shift: the largest step of a side of any box, in pixels; it matters where something moved or was resized.
    """
    step = difference(before, after)
    largest = int(step.max(initial=0))
    moving = kind in ("moved", "resized")
    grown = max(abs(a - b) for a, b in zip(before.shape[:2], after.shape[:2], strict=True))
    if largest <= UNSEEN and grown == 0:
        return "no"
    if moving and shift <= STILL:
        return "no"
    if grown >= SLIGHT:
        return "yes"
    faint = FAINT_THIN if aspect in THIN else FAINT
    if largest <= faint or np.count_nonzero(step > 10) < FEW:
        return "uncertain"
    return "uncertain" if moving and shift < SLIGHT else "yes"


def draws_a_line(before: Pixels, after: Pixels) -> bool:
    """Whether a straight thin line came or went: a run of strong differences along a row or a column.

    Noise of rendering sometimes does that, where a border falls on another pixel; then it is no noise.
    """
    strong = difference(before, after) > STRONG
    return any(_longest_run(lines[lines.any(axis=1)]) >= LINE for lines in (strong, strong.T))


def _longest_run(lines: NDArray[np.bool_]) -> int:
    """The most True values one after another in any row."""
    padded = np.pad(lines, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(padded, axis=1)
    starts, ends = np.nonzero(steps == 1)[1], np.nonzero(steps == -1)[1]
    return int((ends - starts).max(initial=0))


def difference(before: Pixels, after: Pixels) -> Pixels:
    """The largest difference of a channel at each pixel that both pictures have, (height, width)."""
    height, width = (min(a, b) for a, b in zip(before.shape[:2], after.shape[:2], strict=True))
    one, other = before[:height, :width], after[:height, :width]
    largest = np.zeros((height, width), np.uint8)
    rows = np.flatnonzero((one != other).reshape(height, -1).any(axis=1))  # most changes are in a few rows
    if len(rows):
        part = slice(rows[0], rows[-1] + 1)
        steps = np.maximum(one[part], other[part]) - np.minimum(one[part], other[part])
        largest[part] = np.maximum(np.maximum(steps[..., 0], steps[..., 1]), steps[..., 2])
    return largest
