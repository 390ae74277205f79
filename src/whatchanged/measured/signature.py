"""Signatures: short feature vectors that are similar for pairs with similar changes."""

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.layers import coarse_codes
from whatchanged.measured.pixels.planes import UNIT, Planes, contrast, luminance, luminance_and_chroma
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import KINDS, Box, Statement

CELLS = 8
"""The number of rows and columns to which the difference in a region is reduced."""
EDGE = 12
"""The least local contrast of an edge, in levels."""
REGIONS = 3
"""The number of regions whose difference is stored, taken from the best statements."""
MOST_PIXELS = 40_000
"""The largest number of differing pixels whose colours are examined. They are sampled evenly."""
LIGHTER = (-112, -48, -16, 16, 48, 112)
"""The boundaries, in levels, between the classes of luminance changes."""
BLUER = (-16, 16)
"""The boundaries, in levels, between the classes of changes of each chroma component."""
ENDS = 2
"""The number of pictures of a pair. Looks are stored of each."""
NEW_COLORS = 4
"""The number of new colours that are stored."""
COLOR_STEP = 8
"""The width, in levels, of the classes in which new colours are counted: that of ``coarse_codes``."""
CAME_COLORS = 3
"""The number of colours that are stored of those that only the picture after has."""
CAME_PIXELS = 6
"""The least number of pixels of such a colour: smaller areas are remains of an outline."""
CAME_RATIO = 4
"""The least ratio of the pixels of such a colour to its pixels in the picture before."""
CLASSES = 256 // COLOR_STEP
"""The number of classes of each of red, green and blue."""
ROWS_AT_ONCE = 128
"""The number of rows of a picture whose colours are counted at once. Few rows stay in the processor's
cache."""
MOST_LINES = 256
"""The largest number of rows and columns of an object that are examined. They are sampled evenly."""
FLAT = 0.5
"""The standard deviation, in levels, below which an object has a single colour."""
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
"""The number of features in each part of a signature, in their order."""
_ENDS = tuple(accumulate(_WIDTHS.values()))
_FIRST_REGION = _ENDS[-1]

PARTS = {name: slice(end - _WIDTHS[name], end) for name, end in zip(_WIDTHS, _ENDS, strict=True)}
"""The slices of the parts of a signature. The features of the regions follow after them.

kinds             the fraction of each kind among the statements, weighted by the square root of their area
step              the mean change of luminance and chroma where the pictures differ, and the mean absolute
                  change of luminance
share             the logarithm of the differing fraction of the picture
touched, density  the differing fraction of all edges, and the differing fraction of the first region
motion            the distance by which objects moved (signed logarithms)
changes           square roots of the fractions of each class of colour change
places            for each of three regions: the logarithms of width and height, and the change of luminance
                  reduced to a few cells, with norm 1; zeros for missing regions
looks             for each of the first three statements: the luminance of its box before and of its box
                  after, each reduced to a few cells, without the mean and with norm 1; equal values for a
                  box of a single colour, zeros for a missing box
colours           the most frequent colours of the differing pixels after the change: red, green, blue and
                  the fraction of the differing pixels; zeros for missing colours
came              the most frequent colours of areas that are hardly in the picture before: red, green,
                  blue and 1; zeros for missing colours
"""
_FIRST_LOOK = _FIRST_REGION + REGIONS * _REGION_LENGTH
_FIRST_COLOR = _FIRST_LOOK + REGIONS * ENDS * CELLS * CELLS
_FIRST_CAME = _FIRST_COLOR + NEW_COLORS * 4
LENGTH = _FIRST_CAME + CAME_COLORS * 4


def region_parts(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the extents (N, 3, 2) and shapes (N, 3, cells) of the regions in signatures (N, L)."""
    places = rows[:, _FIRST_REGION:_FIRST_LOOK].reshape(len(rows), REGIONS, _REGION_LENGTH)
    return places[..., :2], places[..., 2:]


def look_parts(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the looks of the first statements in signatures (N, L): (N, 3, 2, cells)."""
    return rows[:, _FIRST_LOOK:_FIRST_COLOR].reshape(len(rows), REGIONS, ENDS, CELLS * CELLS)


def color_parts(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the new colours (N, 4, 3) and their fractions (N, 4) in signatures (N, L)."""
    colors = rows[:, _FIRST_COLOR:_FIRST_CAME].reshape(len(rows), NEW_COLORS, 4)
    return colors[..., :3], colors[..., 3]


def came_parts(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the colours that came (N, 3, 3), and whether each is present (N, 3), in signatures (N, L)."""
    colors = rows[:, _FIRST_CAME:].reshape(len(rows), CAME_COLORS, 4)
    return colors[..., :3], colors[..., 3] > 0


def signature(
    before: Pixels,
    after: Pixels,
    differs: NDArray[np.bool_],
    statements: Sequence[Statement],
) -> tuple[float, ...]:
    """Return the signature of two aligned pictures.

    differs: (H, W) the pixels that count.
    """
    numbers = np.zeros(LENGTH)
    numbers[PARTS["kinds"]] = _kinds(statements)
    numbers[_FIRST_LOOK:_FIRST_COLOR] = _looks(before, after, statements)
    if differs.any():
        some = _some_pixels(before, after, differs)
        numbers[_FIRST_COLOR:_FIRST_CAME] = _new_colors(some[1])
        numbers[_FIRST_CAME:] = _came_colors(before, after)
        was, now = (_planes(picture) for picture in some)
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
    """Return the colours (N, 3) before and after of a sample of the differing pixels."""
    places = np.flatnonzero(differs)
    places = places[:: -(-len(places) // MOST_PIXELS)]
    return before.reshape(-1, 3)[places], after.reshape(-1, 3)[places]


def _changes(steps: Planes) -> NDArray[np.float64]:
    """Return square roots of the fractions of each class of changes (3, N) of luminance and both chroma
    components."""
    light = np.digitize(steps[0], np.multiply(LIGHTER, UNIT))
    orange, green = (np.digitize(plane, np.multiply(BLUER, UNIT)) for plane in steps[1:])
    names = (light * 3 + orange) * 3 + green
    shares = np.bincount(names, minlength=_CLASSES) / steps.shape[1]
    return np.asarray(np.sqrt(shares))


def _motion(statements: Sequence[Statement]) -> list[float]:
    """Return the horizontal and vertical distance of the first moved object, as signed logarithms."""
    for one in statements:
        if one.kind == "moved" and "dx" in one.values:
            return [_log(one.values[name]) for name in ("dx", "dy")]
    return [0.0, 0.0]


def _planes(colors: NDArray[np.uint8]) -> Planes:
    """Return the luminance and chroma of colours (N, 3): (3, N)."""
    return np.stack(luminance_and_chroma(colors))


def _means(planes: Planes) -> NDArray[np.float64]:
    """Return the mean of each plane (K, N) as a fraction of 255 levels. Integers are summed up and divided
    once."""
    sums = planes.sum(axis=1, dtype=np.int64)
    return np.asarray(sums / (planes.shape[1] * UNIT * 255))


def _log(step: int) -> float:
    """Return a signed logarithm, which is 0 for 0."""
    return math.copysign(math.log1p(abs(step)), step)


def _kinds(statements: Sequence[Statement]) -> list[float]:
    """Return the fraction of each kind, weighted by the square root of the statements' areas."""
    weights = dict.fromkeys(KINDS, 0.0)
    for one in statements:
        if one.kind is not None:
            weights[one.kind] += math.sqrt(one.share) + 1e-6
    total = sum(weights.values())
    return [weight / total if total else 0.0 for weight in weights.values()]


def _touched(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> float:
    """Return the fraction of the edges of both pictures that differ, from every second row and column."""
    halves = [contrast(luminance(picture[::2, ::2])) for picture in (before, after)]
    edges = np.maximum(*halves) > EDGE * UNIT
    return float(np.count_nonzero(edges & differs[::2, ::2])) / max(1, int(np.count_nonzero(edges)))


def _regions(statements: Sequence[Statement], differs: NDArray[np.bool_]) -> list[Box]:
    """Return the first boxes of the best statements, or the box around all differences if there are none."""
    height, width = differs.shape
    boxes = [box for one in statements for box in one.boxes if one.box_after is not None]
    boxes = [box for box in boxes if box[2] <= width and box[3] <= height][:REGIONS]
    around = box_of(differs)
    if boxes or around is None:
        return boxes
    return [around]


def _described(before: Pixels, after: Pixels, box: Box) -> NDArray[np.float64]:
    """Return the extent and the shape of a region."""
    left, top, right, bottom = box
    part = (slice(top, bottom), slice(left, right))
    extent = [math.log(right - left), math.log(bottom - top)]
    return np.concatenate([extent, _shape(before[part], after[part])])


def _shape(before: Pixels, after: Pixels) -> NDArray[np.float64]:
    """Return the mean change of luminance in the cells of a region, with norm 1."""
    steps = (luminance(after).astype(np.int64) - luminance(before)).astype(np.float64)
    return _normal(_cells(steps))


def _cells(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of a plane (H, W) in a few cells, as a row."""
    rows = np.arange(CELLS) * plane.shape[0] // CELLS
    columns = np.arange(CELLS) * plane.shape[1] // CELLS
    return np.asarray(np.add.reduceat(np.add.reduceat(plane, rows, axis=0), columns, axis=1).ravel())


def _normal(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the vector with norm 1, or zeros."""
    length = math.sqrt(float((cells**2).sum()))
    return cells / length if length else cells


def _looks(before: Pixels, after: Pixels, statements: Sequence[Statement]) -> NDArray[np.float64]:
    """Return what the objects of the first statements look like in both pictures, as a row."""
    looks = np.zeros((REGIONS, ENDS, CELLS * CELLS))
    for place, one in enumerate(statements[:REGIONS]):
        for end, (picture, box) in enumerate(((before, one.box_before), (after, one.box_after))):
            if box is not None:
                left, top, right, bottom = box
                looks[place, end] = _look(picture[max(0, top) : bottom, max(0, left) : right])
    return looks.ravel()


def _look(part: Pixels) -> NDArray[np.float64]:
    """Return the luminance in the cells of a part of a picture, without the mean and with norm 1.

    The cells are equal if the part has a single colour.
    """
    if part.size == 0:
        return np.zeros(CELLS * CELLS)
    rows, columns = (-(-length // MOST_LINES) for length in part.shape[:2])
    light = luminance(part[::rows, ::columns]).astype(np.float64)
    cells = _cells(light) / _cells(np.ones_like(light))
    cells -= cells.mean()
    return _normal(np.ones_like(cells) if cells.std() < FLAT * UNIT else cells)


def _new_colors(colors: Pixels) -> NDArray[np.float64]:
    """Return the most frequent classes of colours (N, 3), each with its mean and its fraction, as a row."""
    codes = coarse_codes(colors)
    counts = np.bincount(codes)
    results = np.zeros((NEW_COLORS, 4))
    for place, code in enumerate(np.argsort(-counts, kind="stable")[:NEW_COLORS]):
        if counts[code]:
            results[place, :3] = colors[codes == code].mean(axis=0)
            results[place, 3] = counts[code] / len(colors)
    return results.ravel()


def _came_colors(before: Pixels, after: Pixels) -> NDArray[np.float64]:
    """Return the most frequent classes of the colours that came, each with its middle and a 1, as a row.

    Colours of areas do not depend on the layout: a fill that changed shows the same ones in each picture,
    even if it also moved the content.
    """
    changed = (before != after).reshape(len(after), -1)
    top, bottom = _changed_lines(changed.any(axis=1))
    left, right = _changed_lines(changed.any(axis=0).reshape(-1, 3).any(axis=1))
    results = np.zeros((CAME_COLORS, 4))
    was, now = (_area_colors(picture[top : bottom + 1, left : right + 1]) for picture in (before, after))
    if not _came(was, now).any():
        return results.ravel()  # Equal areas only make the ratio smaller.
    rows = after[top : bottom + 1]
    same = (after[: top + 1], after[bottom:], rows[:, : left + 1], rows[:, right:])
    common = sum(_area_colors(part) for part in same)
    here = np.where(_came(common + was, common + now), common + now, 0)
    for place in range(CAME_COLORS):
        found = np.unravel_index(int(here.argmax()), here.shape)
        if here[found] == 0:
            break
        results[place] = [*((int(part) + 0.5) * COLOR_STEP for part in found), 1.0]
        here[tuple(slice(max(0, int(part) - 1), int(part) + 2) for part in found)] = 0
    return results.ravel()


def _came(was: NDArray[np.int64], now: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each class of colours whether its areas are large now and hardly were there before."""
    return _around(now) >= CAME_RATIO * _around(was) + CAME_PIXELS


def _changed_lines(changed: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the first line whose areas may differ and the end of the lines that do. An area also depends on
    the next line."""
    return max(0, int(changed.argmax()) - 1), len(changed) - int(changed[::-1].argmax())


def _area_colors(picture: Pixels) -> NDArray[np.int64]:
    """Return the number of pixels of each class of colours, (red, green, blue).

    Only pixels that equal the next one and the one below are counted, which leaves out smoothed edges.
    """
    counts = np.zeros(CLASSES**3, np.int64)
    for top in range(0, len(picture) - 1, ROWS_AT_ONCE):
        part = picture[top : top + ROWS_AT_ONCE + 1]
        here = part[:-1, :-1]
        red, green, blue = np.moveaxis((here == part[1:, :-1]) & (here == part[:-1, 1:]), -1, 0)
        counts += np.bincount(coarse_codes(here)[red & green & blue], minlength=CLASSES**3)
    return counts.reshape((CLASSES,) * 3)


def _around(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of the counts of each class and its neighbours."""
    padded = np.pad(counts, 1)
    for axis in range(counts.ndim):
        lines = padded.swapaxes(0, axis)
        padded = (lines[:-2] + lines[1:-1] + lines[2:]).swapaxes(0, axis)
    return padded
