"""A plot whose axis covers another range: what its frame holds is stretched or squeezed along the axis."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of, grown
from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.planes import UNIT, blurred, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

SMALLEST = 60
"""Pixels of a frame's sides at least."""
EDGE = 12
"""Levels by which the line of a frame differs from what lies beside it."""
STRAIGHT = 0.5
"""Part of the height or width of what differs along which a frame's line goes on at least."""
LINE = 3
"""Pixels at the frame's border that belong to its lines."""
MARKS = 70
"""Pixels beside a frame in which the marks of its axis stand."""
LEAST_MARKS = 3
"""Marks that differ at least."""
BETWEEN = 4
"""Lines without a difference that part two marks."""
AROUND = 12
"""Pixels by which the outermost marks reach beyond the frame."""
FACTORS = np.geomspace(0.3, 3.3, 161)
"""Factors by which what a frame holds may be stretched."""
FIXED = 17
"""Evenly spaced places of which one stays where it is, while factors are looked for."""
BINS = 24
"""Parts of a line while factors are looked for."""
CLOSER = 4
"""Pixels by which both ends are then moved to fit better."""
LEAST_STEP = 3
"""Pixels by which an end of what is drawn moves at least."""
FITS = 0.5
"""Share of the differences of luminance in the frame that the factor makes vanish."""

Values = NDArray[np.float64]
Profile = NDArray[np.float64]
"""(N, K): the lines of a part along an axis, each as the mean luminance of its parts, less the ground's."""


@dataclass(frozen=True)
class Scale:
    """What a frame holds was stretched along an axis.

    axis     0: upwards or downwards, 1: across
    factor   by how much; below 1 it was squeezed
    frame    the box of the frame
    marks    the box of the marks of the axis beside it
    """

    axis: int
    factor: float
    frame: Box
    marks: Box

    def taken_from(self, before: Pixels, after: Pixels) -> Pixels:
        """The picture before, with the frame and the marks as they are after."""
        aligned = before.copy()
        for left, top, right, bottom in (self.frame, self.marks):
            aligned[top:bottom, left:right] = after[top:bottom, left:right]
        return aligned


def find_scale(before: Pixels, after: Pixels, visible: NDArray[np.bool_]) -> Scale | None:
    """The frame whose content was stretched along one axis, with the marks beside it; None where none was.

    visible: (H, W), where the pictures differ visibly.
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
    """The box of the straight lines that stand in both pictures where they differ; None where there is none.

    Its left side and its bottom must be there; it ends where the differences do where it has no other sides.
    """
    # the lines are looked for a little around what differs, along what differs
    left, top, right, bottom = grown(around, MARKS + 1, (before.shape[1], before.shape[0]))
    lit = [luminance(picture[top:bottom, left:right]) for picture in (before, after)]
    sides = []
    for axis, corner in enumerate((top, left)):  # lines across, lines downwards
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
    """Where the marks of an axis stand that differ, at one of the frame's sides; None where they do not."""
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
    """What lies within a frame's lines."""
    left, top, right, bottom = frame
    return left + LINE, top + LINE, right - LINE, bottom - LINE


def _factor(before: Pixels, after: Pixels, box: Box, axis: int) -> float | None:
    """The factor by which what a box holds was stretched along an axis; None where none fits."""
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
    """The lines of a part as the mean luminance of their parts."""
    light = blurred(luminance(part)).astype(np.float64) / UNIT
    starts = np.unique(np.arange(BINS) * light.shape[1] // BINS)
    return np.add.reduceat(light, starts, axis=1) / np.diff(np.append(starts, light.shape[1]))


def _best_ends(one: Profile, other: Profile) -> tuple[float, float]:
    """Where the first line and the line after the last one lie after, as fits best."""
    length = len(one)
    tried = [
        (fixed - factor * fixed, fixed + factor * (length - fixed))
        for fixed in np.linspace(0, length, FIXED)
        for factor in FACTORS
    ]
    few = max(1, length // 96)  # lines that are left out while factors are looked for
    was, now = one[::few], other[::few]
    in_place = _unlike(was, now, 0.0, length / few)
    best = max(tried, key=lambda ends: _gain(was, now, in_place, (ends[0] / few, ends[1] / few)))
    steps = range(-CLOSER, CLOSER + 1)
    closer = [(best[0] + first, best[1] + last) for first in steps for last in steps]
    in_place = _unlike(one, other, 0.0, float(length))
    return max([best, *closer], key=lambda ends: _gain(one, other, in_place, ends))


def _gain(one: Profile, other: Profile, unscaled: Values, ends: tuple[float, float]) -> float:
    """How much of the differences vanishes; what fits better in place stays there, as what changed itself."""
    return float(np.maximum(unscaled - _unlike(one, other, *ends), 0).sum())


def _unlike(one: Profile, other: Profile, first: float, end: float) -> Values:
    """The sum of the differences of each part of the lines (K,), with the first line and the end of those
    before at two places after."""
    lines = _sources(len(one), first, end)
    outside = (lines < 0) | (lines >= len(one))
    shown = one[np.clip(lines, 0, len(one) - 1)]
    shown[outside] = 0
    return np.asarray(np.abs(shown - other).sum(axis=0))


def _sources(length: int, first: float, end: float) -> NDArray[np.intp]:
    """Which line before each line after comes from."""
    lines = np.floor((np.arange(length) + 0.5 - first) * length / max(1.0, end - first))
    return np.asarray(lines, np.intp)
