"""Was all around a difference drawn anew, or is most of it as it was, but moved or with another colour?

Whoever draws a picture anew, by another font library, a part of a pixel aside, or compresses it, changes the
pixels of all that is drawn. Single edges of it snap to the next whole pixel, or get a step of their own, and
look as if they were meant. They are told by what differs around them: what was meant leaves parts that moved
by whole pixels, and straight runs of pixels that all changed in one way, and little else.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.straight import Codes, Run, codes
from whatchanged.measured.result import Box

FAINT = 3
"""Levels from which on a pixel differs."""
FARTHEST = 2
"""Pixels, to each side, by which a part moved at most."""
MOST = 20_000
"""Differing pixels that are looked at, at most: evenly many of all."""
NEAR = 512
"""Pixels around an edge, about, in which the rest of what differs is looked at."""
CELL = 64
"""Pixels of a side of the cells in which that is counted."""
EXPLAINED = 0.82
"""The part of what differs around an edge that moves and runs explain at least. Of drawn changes they explain
.88 and more, of noise that makes edges .74 at most."""


def not_redrawn(
    before: Pixels, after: Pixels, step: NDArray[np.uint8], runs: Sequence[Run], boxes: Sequence[Box]
) -> Iterator[Box]:
    """The boxes around which most of what differs moved by whole pixels, or is one of the runs.

    step: (H, W) how far the pixels of both pictures differ.
    """
    if not boxes:
        return
    places = np.flatnonzero(step >= FAINT)
    places = places[:: max(1, -(-len(places) // MOST))]
    rows, columns = np.divmod(places, step.shape[1])
    inside = np.zeros(step.shape, bool)
    for left, top, right, bottom in (run.box for run in runs):
        inside[top:bottom, left:right] = True
    one, other = codes(before), codes(after)
    explained = inside[rows, columns] | _moved(one, other, rows, columns) | _moved(other, one, rows, columns)
    whole, part = _sums(rows, columns, step.shape), _sums(rows[explained], columns[explained], step.shape)
    for box in boxes:
        if _within(part, box) >= EXPLAINED * _within(whole, box):
            yield box


def _moved(one: Codes, other: Codes, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Of places (N,) whether the 3 x 3 pixels there are found in the first picture, but not at that place."""
    reach = FARTHEST + 1
    found = np.zeros(len(rows), bool)
    here = _around(other, rows, columns, 1)
    there = _around(one, rows, columns, reach)
    for down in range(2 * FARTHEST + 1):
        for across in range(2 * FARTHEST + 1):
            if (down, across) != (FARTHEST, FARTHEST):
                found |= (there[down : down + 3, across : across + 3] == here).all(axis=(0, 1))
    return found


def _around(picture: Codes, rows: NDArray[np.intp], columns: NDArray[np.intp], reach: int) -> Codes:
    """The pixels around places (N,) up to so far to each side: (2 reach + 1, 2 reach + 1, N)."""
    aside = np.arange(-reach, reach + 1)
    height, width = picture.shape
    down = np.clip(aside[:, None, None] + rows, 0, height - 1)
    across = np.clip(aside[None, :, None] + columns, 0, width - 1)
    return np.asarray(picture[down, across])


def _sums(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """How many places lie above and left of each corner of the cells."""
    high, wide = (-(-side // CELL) for side in shape)
    counts = np.bincount(rows // CELL * wide + columns // CELL, minlength=high * wide).reshape(high, wide)
    return np.pad(counts.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def _within(sums: NDArray[np.int64], box: Box) -> int:
    """How many places lie in the cells near a box."""
    left, top = (max(0, side - NEAR) // CELL for side in box[:2])
    right, bottom = (
        min(-(-(side + NEAR) // CELL), cells - 1)
        for side, cells in zip(box[2:], sums.shape[::-1], strict=True)
    )
    return int(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])
