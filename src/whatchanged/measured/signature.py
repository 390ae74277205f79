"""A few numbers of how a pair differs: pairs that changed in the same way have similar ones."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.planes import UNIT, Planes, chroma, luminance
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import KINDS, Box, Statement

CELLS = 8
"""Rows and columns of the reduced difference of the first place."""

PARTS = {
    "canvas": slice(0, 2),
    "kinds": slice(2, 2 + len(KINDS)),
    "step": slice(10, 14),
    "colours": slice(14, 20),
    "share": slice(20, 21),
    "count": slice(21, 22),
    "extent": slice(22, 24),
    "density": slice(24, 25),
    "motion": slice(25, 27),
    "shape": slice(27, 27 + CELLS * CELLS),
}
"""Where each part of a signature lies.

canvas   how much wider and higher the picture became (signed logarithms)
kinds    the share of each kind among the statements, by the pixels that they cover
step     mean change of luminance and chroma where the pictures differ, and mean size of the first
colours  mean luminance and chroma there, before and after
share, count, extent, density    logarithms of the share of the picture, the number of statements, the width and
         height of the first one's place; how much of the place differs
motion   how far things moved (signed logarithms)
shape    the change of luminance in the first place, reduced to a few cells, of length 1
"""
LENGTH = 27 + CELLS * CELLS


def signature(
    before: Pixels,
    after: Pixels,
    differs: NDArray[np.bool_],
    statements: Sequence[Statement],
    larger: tuple[int, int] = (0, 0),
) -> tuple[float, ...]:
    """The signature of two pictures that lie on each other.

    differs: (H, W), the pixels that count; larger: how much wider and higher the picture after is.
    """
    numbers = np.zeros(LENGTH)
    numbers[PARTS["canvas"]] = [_log(step) for step in larger]
    numbers[PARTS["kinds"]] = _kinds(statements)
    numbers[PARTS["count"]] = math.log1p(sum(len(one.boxes) for one in statements))
    if differs.any():
        planes = [_planes(picture[differs]) / (UNIT * 255) for picture in (before, after)]
        steps = planes[1] - planes[0]
        numbers[PARTS["step"]] = [*steps.mean(axis=1), np.abs(steps[0]).mean()]
        numbers[PARTS["colours"]] = np.concatenate([plane.mean(axis=1) for plane in planes])
        numbers[PARTS["share"]] = math.log10(float(differs.mean()))
        left, top, right, bottom = _first_place(statements, differs)
        numbers[PARTS["extent"]] = [math.log(right - left), math.log(bottom - top)]
        part = (slice(top, bottom), slice(left, right))
        numbers[PARTS["density"]] = float(differs[part].mean())
        numbers[PARTS["shape"]] = _shape(before[part], after[part])
    moves = [one.values for one in statements if one.kind == "moved"]
    if moves:
        numbers[PARTS["motion"]] = [_log(moves[0].get("dx", 0)), _log(moves[0].get("dy", 0))]
    return tuple(round(float(number), 4) for number in numbers)


def _planes(colours: NDArray[np.uint8]) -> Planes:
    """Luminance and chroma of (N, 3) colours: (3, N)."""
    return np.concatenate([luminance(colours)[None], chroma(colours)])


def _log(step: int) -> float:
    """A signed logarithm: 0 for 0."""
    return math.copysign(math.log1p(abs(step)), step)


def _kinds(statements: Sequence[Statement]) -> list[float]:
    """The share of each kind by pixels; those that another statement brought about count a quarter."""
    weights = {kind: 0.0 for kind in KINDS}
    for one in statements:
        if one.kind is not None:
            weights[one.kind] += math.sqrt(one.share) + 1e-6
    total = sum(weights.values())
    return [weight / total if total else 0.0 for weight in weights.values()]


def _first_place(statements: Sequence[Statement], differs: NDArray[np.bool_]) -> Box:
    """The first statement's first place, or where the pictures differ."""
    height, width = differs.shape
    for one in statements:
        if one.box_after is not None and one.boxes:
            left, top, right, bottom = one.boxes[0]
            if right <= width and bottom <= height:
                return left, top, right, bottom
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _shape(before: Pixels, after: Pixels) -> NDArray[np.float64]:
    """The mean change of luminance in cells of a place, of length 1."""
    steps = (luminance(after).astype(np.int64) - luminance(before)).astype(np.float64)
    rows = np.arange(CELLS) * steps.shape[0] // CELLS
    columns = np.arange(CELLS) * steps.shape[1] // CELLS
    cells = np.add.reduceat(np.add.reduceat(steps, rows, axis=0), columns, axis=1).ravel()
    length = math.sqrt(float((cells**2).sum()))
    return cells / length if length else cells
