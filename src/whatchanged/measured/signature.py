"""A few numbers of how a pair differs: pairs that changed in the same way have similar ones."""

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.planes import UNIT, Planes, chroma, contrast, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import KINDS, Box, Statement

CELLS = 8
"""Rows and columns of the reduced difference of a place."""
EDGE = 12
"""Levels of local contrast from which on it is an edge."""
REGIONS = 3
"""Places whose difference is kept, the first of the best statements."""
MOST_PIXELS = 40_000
"""Pixels whose colours are looked at, evenly spread over those that differ."""
LIGHTER = (-112, -48, -16, 16, 48, 112)
"""Levels that part the classes of changes of luminance."""
BLUER = (-16, 16)
"""Levels that part the classes of changes of either chroma."""
_CLASSES = (len(LIGHTER) + 1) * (len(BLUER) + 1) ** 2
_REGION_LENGTH = 2 + CELLS * CELLS
_WIDTHS = {
    "kinds": len(KINDS),
    "step": 4,
    "share": 1,
    "touched": 1,
    "density": 1,
    "motion": 2,
    "changes": _CLASSES,
}
"""How many numbers each part of a signature has, in their order."""
_ENDS = tuple(accumulate(_WIDTHS.values()))
_FIRST_REGION = _ENDS[-1]

PARTS = {name: slice(end - _WIDTHS[name], end) for name, end in zip(_WIDTHS, _ENDS, strict=True)}
"""Where the parts of a signature lie; after them its places.

kinds    the share of each kind among the statements, by the pixels that they cover
step     mean change of luminance and chroma where the pictures differ, and mean size of the first
share    logarithm of the share of the picture
touched, density    the share of all edges that differ, the share of the first place that does
motion   how far things moved (signed logarithms)
changes  square roots of the shares of each class of change of colour
places   for each of three: logarithms of width and height, and the change of luminance reduced to a few
         cells, of length 1; zeros where there are fewer
"""
LENGTH = _FIRST_REGION + REGIONS * _REGION_LENGTH


def region_parts(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of signatures (N, L) the places' extents (N, 3, 2) and shapes (N, 3, cells)."""
    places = rows[:, _FIRST_REGION:].reshape(len(rows), REGIONS, _REGION_LENGTH)
    return places[..., :2], places[..., 2:]


def signature(
    before: Pixels,
    after: Pixels,
    differs: NDArray[np.bool_],
    statements: Sequence[Statement],
) -> tuple[float, ...]:
    """The signature of two pictures that lie on each other.

    differs: (H, W), the pixels that count.
    """
    numbers = np.zeros(LENGTH)
    numbers[PARTS["kinds"]] = _kinds(statements)
    if differs.any():
        was, now = (_planes(picture) for picture in _some_pixels(before, after, differs))
        means = [_means(planes) for planes in (was, now)]
        numbers[PARTS["step"]] = [*(means[1] - means[0]), *_means(np.abs(now[:1] - was[:1]))]
        numbers[PARTS["changes"]] = _changes(now - was)
        numbers[PARTS["share"]] = math.log10(float(differs.mean()))
        numbers[PARTS["touched"]] = _touched(before, after, differs)
        boxes = _regions(statements, differs)
        left, top, right, bottom = boxes[0]
        numbers[PARTS["density"]] = float(differs[top:bottom, left:right].mean())
        for index, box in enumerate(boxes):
            start = _FIRST_REGION + index * _REGION_LENGTH
            numbers[start : start + _REGION_LENGTH] = _described(before, after, box)
    numbers[PARTS["motion"]] = _motion(statements)
    return tuple(round(float(number), 4) for number in numbers)


def _some_pixels(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> tuple[Pixels, Pixels]:
    """The colours (N, 3) before and after of pixels that differ."""
    places = np.flatnonzero(differs)
    places = places[:: -(-len(places) // MOST_PIXELS)]
    return before.reshape(-1, 3)[places], after.reshape(-1, 3)[places]


def _changes(steps: Planes) -> NDArray[np.float64]:
    """Square roots of the shares of the classes of steps (3, N) of luminance and both chromas."""
    light = np.digitize(steps[0], np.multiply(LIGHTER, UNIT))
    orange, green = (np.digitize(plane, np.multiply(BLUER, UNIT)) for plane in steps[1:])
    names = (light * 3 + orange) * 3 + green
    shares = np.bincount(names, minlength=_CLASSES) / steps.shape[1]
    return np.asarray(np.sqrt(shares))


def _motion(statements: Sequence[Statement]) -> list[float]:
    """How far across and down the first thing moved, as signed logarithms."""
    for one in statements:
        if one.kind == "moved" and "dx" in one.values:
            return [_log(one.values[name]) for name in ("dx", "dy")]
    return [0.0, 0.0]


def _planes(colors: NDArray[np.uint8]) -> Planes:
    """Luminance and chroma of (N, 3) colors: (3, N)."""
    return np.concatenate([luminance(colors)[None], chroma(colors)])


def _means(planes: Planes) -> NDArray[np.float64]:
    """The mean of each plane (K, N), from 0 to 1: a sum of whole numbers, divided once."""
    sums = planes.sum(axis=1, dtype=np.int64)
    return np.asarray(sums / (planes.shape[1] * UNIT * 255))


def _log(step: int) -> float:
    """A signed logarithm: 0 for 0."""
    return math.copysign(math.log1p(abs(step)), step)


def _kinds(statements: Sequence[Statement]) -> list[float]:
    """The share of each kind by pixels; those that another statement brought about count a quarter."""
    weights = dict.fromkeys(KINDS, 0.0)
    for one in statements:
        if one.kind is not None:
            weights[one.kind] += math.sqrt(one.share) + 1e-6
    total = sum(weights.values())
    return [weight / total if total else 0.0 for weight in weights.values()]


def _touched(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> float:
    """The share of the edges of both pictures that differ; every second row and column is looked at."""
    halves = [contrast(luminance(picture[::2, ::2])) for picture in (before, after)]
    edges = np.maximum(*halves) > EDGE * UNIT
    return float(np.count_nonzero(edges & differs[::2, ::2])) / max(1, int(np.count_nonzero(edges)))


def _regions(statements: Sequence[Statement], differs: NDArray[np.bool_]) -> list[Box]:
    """The first places of the best statements; where the pictures differ if there are none."""
    height, width = differs.shape
    boxes = [box for one in statements for box in one.boxes if one.box_after is not None]
    boxes = [box for box in boxes if box[2] <= width and box[3] <= height][:REGIONS]
    around = box_of(differs)
    if boxes or around is None:
        return boxes
    return [around]


def _described(before: Pixels, after: Pixels, box: Box) -> NDArray[np.float64]:
    """A place's extent and shape."""
    left, top, right, bottom = box
    part = (slice(top, bottom), slice(left, right))
    extent = [math.log(right - left), math.log(bottom - top)]
    return np.concatenate([extent, _shape(before[part], after[part])])


def _shape(before: Pixels, after: Pixels) -> NDArray[np.float64]:
    """The mean change of luminance in cells of a place, of length 1."""
    steps = (luminance(after).astype(np.int64) - luminance(before)).astype(np.float64)
    rows = np.arange(CELLS) * steps.shape[0] // CELLS
    columns = np.arange(CELLS) * steps.shape[1] // CELLS
    cells = np.add.reduceat(np.add.reduceat(steps, rows, axis=0), columns, axis=1).ravel()
    length = math.sqrt(float((cells**2).sum()))
    return cells / length if length else cells
