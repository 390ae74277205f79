"""The words for a picture's new size, and for the empty space that it gained or lost."""

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


def size_text(before: Pixels, after: Pixels) -> str:
    """Return how the size of a picture changed: how much wider or taller it became, or both sizes if both
    sides changed.

    before, after: (H, W, 3) and (H', W', 3).
    """
    axis = _only_axis(before, after)
    if axis is None:
        sizes = [f"{picture.shape[1]} x {picture.shape[0]}" for picture in (before, after)]
        return f"the picture's size changed from {sizes[0]} to {sizes[1]} pixels"
    was, now = before.shape[axis], after.shape[axis]
    return (
        f"the picture became {words.pixels(abs(now - was))} {LONGER[axis][now > was]}, {now} instead of {was}"
    )


def space_text(before: Pixels, after: Pixels) -> str | None:
    """Return that a picture became larger or smaller by empty space, or None if anything else changed.

    before, after: (H, W, 3) and (H', W', 3), RGB. Only one of the sides may differ, and outside the space all
    pixels are equal. The space continues its neighbours: each line across it has one colour.
    """
    axis = _only_axis(before, after)
    if axis is None:
        return None
    one, other = (np.moveaxis(picture, axis, 0) for picture in (before, after))
    small, large = sorted((one, other), key=len)
    span = _span(small, large)
    if span is None:
        return None
    start, stop = span
    # A few lines alone may be anything; empty space also continues the line before or after it.
    first, last = (start, stop) if stop - start >= LEAST_LINES else (max(0, start - 1), stop + (start == 0))
    if not _is_empty(large[first:last]):
        return None
    near, far = SIDES[axis]
    where = far if _is_empty(large[start:]) else near if _is_empty(large[:stop]) else ""
    more = "more" if len(other) > len(one) else "less"
    return f"{size_text(before, after)}, with {more} empty space {where}".rstrip()


def margins_text(step: tuple[int, int], before: Pixels, after: Pixels) -> str | None:
    """Return how a picture was cropped or extended around its contents, with a pair of braces for each
    size; None if some of its margins grew and others shrank, or if it has one colour, so that nothing in it
    shows where its margins are.

    step: by how many pixels (dx, dy) the contents are further right and down after.
    """
    if (before == before[0, 0]).all() or (after == after[0, 0]).all():
        return None
    left, top = step
    margins = {
        "top": top,
        "bottom": after.shape[0] - before.shape[0] - top,
        "left": left,
        "right": after.shape[1] - before.shape[1] - left,
    }
    amounts = ", ".join(f"{words.pixels(abs(more))} at the {side}" for side, more in margins.items() if more)
    if all(more <= 0 for more in margins.values()):
        return f"the picture was cropped from {{}} to {{}} pixels: {amounts}"
    if all(more >= 0 for more in margins.values()):
        return f"the picture was extended from {{}} to {{}} pixels: {amounts}"
    return None


def _only_axis(before: Pixels, after: Pixels) -> int | None:
    """Return the only axis along which two pictures have different lengths; None if there is none, or two."""
    unequal = [axis for axis in (0, 1) if before.shape[axis] != after.shape[axis]]
    return unequal[0] if len(unequal) == 1 else None


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
