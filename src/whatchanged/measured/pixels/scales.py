"""Detection of a plot whose axis covers another range: its content is stretched or squeezed along the
axis."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of, grown
from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.planes import UNIT, blurred, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

SMALLEST = 60
"""The least width and height of a frame, in pixels."""
EDGE = 12
"""The least difference, in levels, between the line of a frame and the pixels beside it."""
STRAIGHT = 0.5
"""The least length of a frame's line, as a fraction of the width or height of the differing region."""
LINE = 3
"""The width in pixels of the border of a frame that belongs to its lines."""
MARKS = 70
"""The distance in pixels from a frame within which the labels of its axis are searched for."""
LEAST_MARKS = 3
"""The least number of axis labels that differ."""
BETWEEN = 4
"""The least number of equal rows or columns between two axis labels."""
AROUND = 12
"""The distance in pixels by which the outermost axis labels may extend beyond the frame."""
FACTORS = np.geomspace(0.3, 3.3, 161)
"""The stretch factors that are tried."""
FIXED = 17
"""The number of evenly spaced fixed points that are tried with each factor."""
BINS = 24
"""The number of bins along a line during the search for factors."""
CLOSER = 4
"""The largest distance in pixels by which both ends are moved afterwards to refine the fit."""
LEAST_STEP = 3
"""The least movement of an end of the content, in pixels."""
FITS = 0.5
"""The least fraction of the luminance differences in the frame that the factor must remove."""

Values = NDArray[np.float64]
Profile = NDArray[np.float64]
"""(N, K): the N lines of a part along an axis as mean luminances of K bins, minus the background's
luminance."""


@dataclass(frozen=True)
class Scale:
    """A stretch of the content of a frame along one axis.

    axis     0: vertical, 1: horizontal
    factor   the stretch factor; below 1 the content was squeezed
    frame    the bounding box of the frame
    marks    the bounding box of the axis labels beside it
    """

    axis: int
    factor: float
    frame: Box
    marks: Box

    def taken_from(self, before: Pixels, after: Pixels) -> Pixels:
        """Return the picture before, with the frame and the axis labels copied from the picture after."""
        aligned = before.copy()
        for left, top, right, bottom in (self.frame, self.marks):
            aligned[top:bottom, left:right] = after[top:bottom, left:right]
        return aligned


def find_scale(before: Pixels, after: Pixels, visible: NDArray[np.bool_]) -> Scale | None:
    """Return the frame whose content was stretched along one axis, with its axis labels, or None.

    visible: (H, W) whether the pictures differ visibly.
    """
    around = box_of(visible)
    if around is None or min(around[2] - around[0], around[3] - around[1]) <= SMALLEST:
        return None
    frame = _frame(before, after, around)
    if frame is None:
        return None
    for axis in (0, 1):
        marks = _marks(frame, visible, axis)
        if marks is not None:
            factor = _factor(before, after, _inside(frame), axis)
            if factor is not None:
                return Scale(axis, factor, frame, marks)
    return None


def _frame(before: Pixels, after: Pixels, around: Box) -> Box | None:
    """Return the box of the straight lines that both pictures have around the differences, or None.

    The frame must have a left and a bottom line. Where it has no other lines, it ends where the differences
    end.
    """
    # The search covers a margin around the differences, along the extent of the differences.
    left, top, right, bottom = grown(around, MARKS + 1, (before.shape[1], before.shape[0]))
    lit = [luminance(picture[top:bottom, left:right]) for picture in (before, after)]
    sides = []
    for axis, corner in enumerate((top, left)):  # First horizontal lines, then vertical lines.
        along = slice(around[axis] - (left, top)[axis], around[axis + 2] - (left, top)[axis])
        steps = [np.abs(np.diff(np.moveaxis(one, axis, 0)[:, along], axis=0)) >= EDGE * UNIT for one in lit]
        straight = np.flatnonzero((steps[0] & steps[1]).mean(axis=1) >= STRAIGHT) + corner
        start, stop = around[1 - axis], around[3 - axis]
        straight = straight[(straight >= start - MARKS) & (straight < stop + MARKS)]
        if not len(straight):
            return None
        sides.append((int(straight[0]), int(straight[-1]) + 1))
    (top, bottom), (left, right) = sides
    if bottom - top < SMALLEST:
        top = around[1]
    if right - left < SMALLEST:
        right = around[2]
    if right - left < SMALLEST or bottom - top < SMALLEST:
        return None
    return left, top, right, bottom


def _marks(frame: Box, visible: NDArray[np.bool_], axis: int) -> Box | None:
    """Return the box of the differing axis labels at one side of the frame, or None if they do not differ."""
    left, top, right, bottom = frame
    high, low = max(0, top - AROUND), bottom + AROUND
    near, far = max(0, left - AROUND), right + AROUND
    height, width = visible.shape
    sides = (
        ((max(0, left - MARKS), high, left, low), (right, high, right + MARKS, low))
        if axis == 0
        else ((near, bottom, far, bottom + MARKS // 2), (near, max(0, top - MARKS // 2), far, top))
    )
    for first, start, last, stop in sides:
        lines = visible[start:stop, first:last].any(axis=1 - axis)
        if np.count_nonzero(np.diff(np.flatnonzero(lines)) > BETWEEN) + 1 >= LEAST_MARKS:
            return first, start, min(last, width), min(stop, height)
    return None


def _inside(frame: Box) -> Box:
    """Return the box within the lines of a frame."""
    left, top, right, bottom = frame
    return left + LINE, top + LINE, right - LINE, bottom - LINE


def _factor(before: Pixels, after: Pixels, box: Box, axis: int) -> float | None:
    """Return the factor by which the content of a box was stretched along an axis, or None if none fits."""
    left, top, right, bottom = box
    one, other = (np.moveaxis(picture[top:bottom, left:right], axis, 0) for picture in (before, after))
    ground = np.array(usual_color(one.reshape(-1, 3)), np.uint8)
    empty = float(luminance(ground[None])[0]) / UNIT
    was, now = (_profile(part) - empty for part in (one, other))
    first, end = _best_ends(was, now)
    in_place = _unlike(was, now, 0.0, float(len(one)))
    factor = float(end - first) / len(one)
    if max(abs(first), abs(end - len(one))) < LEAST_STEP or not FACTORS[1] < factor < FACTORS[-2]:
        return None
    if _gain(was, now, in_place, (first, end)) < FITS * in_place.sum():
        return None
    return round(factor, 3)


def _profile(part: Pixels) -> Profile:
    """Return the lines of a part as the mean luminances of their bins."""
    light = blurred(luminance(part)).astype(np.float64) / UNIT
    starts = np.unique(np.arange(BINS) * light.shape[1] // BINS)
    return np.add.reduceat(light, starts, axis=1) / np.diff(np.append(starts, light.shape[1]))


def _best_ends(one: Profile, other: Profile) -> tuple[float, float]:
    """Return the best positions, after the stretch, of the first line and of the end of the last line."""
    length = len(one)
    tried = [
        (fixed - factor * fixed, fixed + factor * (length - fixed))
        for fixed in np.linspace(0, length, FIXED)
        for factor in FACTORS
    ]
    few = max(1, length // 96)  # The search for factors uses only every ``few``-th line.
    was, now = one[::few], other[::few]
    in_place = _unlike(was, now, 0.0, length / few)
    best = max(tried, key=lambda ends: _gain(was, now, in_place, (ends[0] / few, ends[1] / few)))
    steps = range(-CLOSER, CLOSER + 1)
    closer = [(best[0] + first, best[1] + last) for first in steps for last in steps]
    in_place = _unlike(one, other, 0.0, float(length))
    return max([best, *closer], key=lambda ends: _gain(one, other, in_place, ends))


def _gain(one: Profile, other: Profile, unscaled: Values, ends: tuple[float, float]) -> float:
    """Return how much of the difference the stretch removes.

    Bins that fit better without the stretch are not counted against it, because they changed themselves.
    """
    return float(np.maximum(unscaled - _unlike(one, other, *ends), 0).sum())


def _unlike(one: Profile, other: Profile, first: float, end: float) -> Values:
    """Return the summed difference of each bin, (K,), for a stretch of the first profile.

    first, end: the positions, in the second profile, of the first line and of the end of the first profile.
    """
    lines = _sources(len(one), first, end)
    outside = (lines < 0) | (lines >= len(one))
    shown = one[np.clip(lines, 0, len(one) - 1)]
    shown[outside] = 0
    return np.asarray(np.abs(shown - other).sum(axis=0))


def _sources(length: int, first: float, end: float) -> NDArray[np.intp]:
    """Return for each line after the stretch the index of its source line before."""
    lines = np.floor((np.arange(length) + 0.5 - first) * length / max(1.0, end - first))
    return np.asarray(lines, np.intp)
