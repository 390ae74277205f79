"""Test whether the surroundings of a difference were redrawn, or mostly moved or changed their colour.

Another font library, a shift by a fraction of a pixel, or compression changes the pixels of everything that
is drawn. Single edges then snap to the next whole pixel or change their contrast, and look like intended
changes. The differences around them decide: an intended change consists mostly of parts that moved by whole
pixels and of straight runs of pixels that changed in the same way.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.straight import Codes, Run, codes
from whatchanged.measured.result import Box

FAINT = 3
"""The least difference, in levels, at which a pixel counts as different."""
FARTHEST = 2
"""The largest movement of a part along each axis, in pixels."""
MOST = 20_000
"""The largest number of differing pixels that are examined. They are sampled evenly."""
NEAR = 512
"""The approximate distance in pixels from an edge within which other differences are examined."""
CELL = 64
"""The side in pixels of the cells in which differing pixels are counted."""
EXPLAINED = 0.82
"""The least fraction of the differences around an edge that movements and runs must explain.

They explain .88 and more of drawn changes, and at most .74 of noise that creates edges.
"""


def not_redrawn(
    before: Pixels, after: Pixels, step: NDArray[np.uint8], runs: Sequence[Run], boxes: Sequence[Box]
) -> Iterator[Box]:
    """Yield the boxes around which most differences are movements by whole pixels or belong to one of the
    runs.

    step: (H, W) the difference of the two pictures at each pixel.
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
    """Return for each position (N,) whether its 3 x 3 pixels occur nearby in the first picture.

    The same position in the first picture does not count.
    """
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
    """Return the pixels up to ``reach`` away from each position (N,): (2 reach + 1, 2 reach + 1, N)."""
    aside = np.arange(-reach, reach + 1)
    height, width = picture.shape
    down = np.clip(aside[:, None, None] + rows, 0, height - 1)
    across = np.clip(aside[None, :, None] + columns, 0, width - 1)
    return np.asarray(picture[down, across])


def _sums(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the number of positions above and to the left of each corner of the cells."""
    high, wide = (-(-side // CELL) for side in shape)
    counts = np.bincount(rows // CELL * wide + columns // CELL, minlength=high * wide).reshape(high, wide)
    return np.pad(counts.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def _within(sums: NDArray[np.int64], box: Box) -> int:
    """Return the number of positions in the cells near a box."""
    left, top = (max(0, side - NEAR) // CELL for side in box[:2])
    right, bottom = (
        min(-(-(side + NEAR) // CELL), cells - 1)
        for side, cells in zip(box[2:], sums.shape[::-1], strict=True)
    )
    return int(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])
