"""Where something is drawn in a box: the pixels that differ from their neighbours, on any background."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import UNIT, contrast, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LEAST_INK = 12
"""The least local contrast of ink, in levels."""


def ink_box(pixels: Pixels, box: Box, least: int = LEAST_INK) -> Box | None:
    """Return the bounding box of the ink inside a box, or None if there is none.

    least: the least contrast of ink in levels.
    """
    left, top, right, bottom = box
    if right <= left or bottom <= top:
        return None
    ink = _ink(pixels[top:bottom, left:right], least)
    if np.count_nonzero(ink) < 4:
        return None
    low, high = _inner(np.flatnonzero(ink.any(axis=1)), bottom - top)
    start, stop = _inner(np.flatnonzero(ink.any(axis=0)), right - left)
    return left + start, top + low, left + stop, top + high


def _inner(lines: NDArray[np.intp], length: int) -> tuple[int, int]:
    """Return the range of the lines with ink, without the outer neighbours that only have contrast to
    them."""
    start, stop = int(lines[0]), int(lines[-1]) + 1
    if stop - start < 3:
        return start, stop
    return start + (start > 0), stop - (stop < length)


def ink_count(pixels: Pixels, box: Box) -> int:
    """Return the number of ink pixels inside a box."""
    left, top, right, bottom = box
    return int(np.count_nonzero(_ink(pixels[top:bottom, left:right]))) if right > left and bottom > top else 0


def _ink(pixels: Pixels, least: int = LEAST_INK) -> NDArray[np.bool_]:
    """Return a mask of the pixels that differ from their neighbours."""
    return contrast(luminance(pixels)) >= least * UNIT
