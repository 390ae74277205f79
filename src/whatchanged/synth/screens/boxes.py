"""Bounding boxes in whole pixels: around other boxes, and around the true pixels of a mask."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import union
from whatchanged.worlds import Box


def around(boxes: Iterable[Box | None]) -> Box | None:
    """Return the bounding box of the given boxes, without those that are None; None where all are."""
    there = [box for box in boxes if box is not None]
    return union(there) if there else None


def box_around(mask: NDArray[np.bool_], left: int, top: int) -> Box | None:
    """Return the bounding box of the true pixels of a mask whose corner is at left, top; None where none is
    true.
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1
