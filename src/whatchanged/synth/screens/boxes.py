"""Boxes in whole pixels: around others, and around what is true of some pixels."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import union
from whatchanged.worlds import Box


def around(boxes: Iterable[Box | None]) -> Box | None:
    """The box around those boxes that are there; None where none is."""
    there = [box for box in boxes if box is not None]
    return union(there) if there else None


def box_around(mask: NDArray[np.bool_], left: int, top: int) -> Box | None:
    """The box around what is true in a part of a picture that begins at left, top; None where nothing is."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1
