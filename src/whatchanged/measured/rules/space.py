"""A picture that only gained or lost empty space."""

import numpy as np
from numpy.typing import NDArray

from whatchanged import words
from whatchanged.measured.pixels.reading import Pixels

EVEN = 4
"""The largest difference, in levels, between the pixels of empty space along one line across it."""
LEAST_LINES = 4
"""The least number of even lines that are empty space whatever is beside them."""
SIDES = (("at the top", "at the bottom"), ("at the left", "at the right"))
"""The words for the first and the last edge, by axis: 0 from top to bottom, 1 from left to right."""
LONGER = (("shorter", "taller"), ("narrower", "wider"))
"""The words for a picture that lost or gained lines, by axis."""


def space_text(before: Pixels, after: Pixels) -> str | None:
    """Return that a picture became larger or smaller by empty space, or None if anything else changed.

    before, after: (H, W, 3) and (H', W', 3), RGB. Only one of the sides may differ, and outside the space all
    pixels are equal. The space continues its neighbours: each line across it has one colour.
    """
    unequal = [axis for axis in (0, 1) if before.shape[axis] != after.shape[axis]]
    if len(unequal) != 1:
        return None
    axis = unequal[0]
    one, other = (np.moveaxis(picture, axis, 0) for picture in (before, after))
    small, large = sorted((one, other), key=len)
    span = _span(small, large)
    if span is None:
        return None
    start, stop = span
    # A few lines alone may be anything; empty space also continues the line before or after it.
    beside = (
        slice(start, stop) if stop - start >= LEAST_LINES else slice(max(0, start - 1), stop + (start == 0))
    )
    if not _is_empty(large[beside]):
        return None
    grew = len(other) > len(one)
    near, far = SIDES[axis]
    where = far if _is_empty(large[start:]) else near if _is_empty(large[:stop]) else ""
    return (
        f"the picture became {words.pixels(stop - start)} {LONGER[axis][grew]}, {len(other)} instead of"
        f" {len(one)}, with {'more' if grew else 'less'} empty space {where}"
    ).rstrip()


def _span(small: Pixels, large: Pixels) -> tuple[int, int] | None:
    """Return the first and the last line, exclusive, without which a picture (N, M, 3) equals a smaller one;
    None if there are none.

    Of several such spans the last one is returned.
    """
    length = len(large) - len(small)
    same = (small == large[: len(small)]).all(axis=(1, 2))
    start = len(small) if same.all() else int(np.argmin(same))  # the lines before this one are equal
    return (start, start + length) if np.array_equal(small[start:], large[start + length :]) else None


def _is_empty(lines: Pixels) -> bool:
    """Return whether lines (n, M, 3) continue each other: every pixel has the colour of those beside it along
    the first axis."""
    levels: NDArray[np.int16] = lines.astype(np.int16)
    return bool((np.ptp(levels, axis=0) <= EVEN).all())
