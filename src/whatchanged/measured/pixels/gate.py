"""Is a difference visible? What neither a shift of one pixel nor the ground's own texture explains."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured import fitted
from whatchanged.measured.pixels.glyphs import exchanged
from whatchanged.measured.pixels.planes import (
    UNIT,
    Planes,
    blurred,
    chroma,
    closed,
    contrast,
    enlarged,
    halved,
    largest_near,
    least_near,
    luminance,
    steps_between,
)
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

CELL = 8
"""Pixels of a side of a cell, which is one value at the coarse scale; parts begin and end at multiples of
it."""
MARGIN = 6
"""Cells around one on which its strength depends."""
STRIP = 32
"""Most rows of cells that are worked on at once, so that a long page takes no more memory than a screen."""


@dataclass(frozen=True)
class Limit:
    """Grey levels from which on a difference is visible on flat ground, and how many more for each level of
    contrast there."""

    flat: float
    slope: float


FINE, COARSE, COARSE_COLOR, INK = (
    Limit(*fitted.FINE),
    Limit(*fitted.COARSE),
    Limit(*fitted.COARSE_COLOR),
    Limit(*fitted.INK),
)
LIMITS = (FINE, COARSE, COARSE_COLOR, INK)
"""Of each measure that ``tests`` gives."""

MAYBE = 0.1
"""From this part of the threshold on, a difference in a line of text may be an exchanged glyph."""
LINE = 5
"""Cells that a line of text covers from top to bottom at most."""
MOST_GLYPH_BOXES = 16
"""Places in which exchanged glyphs are looked for, the strongest first."""

FAINT = 5
"""Grey levels that are seen by nobody, however large the area: they are taken off what is left over."""
COARSE_STEPS = 3
"""How often what is coarse is blurred and halved: to cells, by a standard deviation of 5 pixels."""
THIN = 3
"""Ink is at most 2 x 3 pixels wide at half size."""
CERTAIN = 100.0
"""The score of a difference beyond doubt, as of two sizes."""
DOUBT = 0.8
"""From this part of the threshold on, what is called noise is doubtful."""


@dataclass(frozen=True)
class Visibility:
    """How far above noise each pixel's surroundings differ.

    differs   (H, W) whether the pixels differ at all
    strength  (H, W) in units of the threshold: from 1 on the difference is visible
    """

    differs: NDArray[np.bool_]
    strength: NDArray[np.float32]

    @cached_property
    def score(self) -> float:
        """The largest strength."""
        return float(self.strength.max(initial=0.0))

    def visible(self, threshold: float) -> NDArray[np.bool_]:
        """Where pixels differ and their surroundings do so visibly."""
        return self.differs & (self.strength >= threshold)


def visibility(before: Pixels, after: Pixels, weight: float = INK.slope) -> Visibility:
    """How visibly two pictures of one size differ, pixel by pixel.

    weight: the share by which ink changes visibly.
    """
    step = steps_between(before, after)
    differs = step > 0
    strength = np.zeros(differs.shape, np.float32)
    if not differs.any():
        return Visibility(differs, strength)
    before, after = _ordered(before, after, differs)
    clear = step >= FAINT
    cells = _cells(clear)
    near = enlarged(cells, 1, 1)
    for core in _cores(near):
        window = tuple(slice(max(0, side.start - MARGIN), side.stop + MARGIN) for side in core)
        pixels = _of_cells(*window)
        found = _strength(before[pixels], after[pixels], near[window], weight)
        inner = _of_cells(
            *(slice(s.start - w.start, s.stop - w.start) for s, w in zip(core, window, strict=True))
        )
        strength[_of_cells(*core)] = found[inner]
    for glyph in exchanged(before, after, _faint_boxes(cells, clear, strength)):
        left, top, right, bottom = glyph.box
        part = strength[top:bottom, left:right]
        np.maximum(part, np.float32(glyph.strength), out=part)
    return Visibility(differs, strength)


def tests(before: Pixels, after: Pixels) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """The four measures of a difference: its size, and what it is measured by, both in grey levels.

    The first for each pixel, the others for each cell.

    Pictures are blurred by one pixel. What is left over is how far a value lies outside the range of the
    other picture's value there and at its eight neighbours, so that motion by a pixel leaves nothing. Fine:
    luminance.
    Coarse: luminance and the larger chroma (at half size from the start, as it is seen less sharply), blurred
    on, so that what alternates in sign goes away. All three by the contrast there.
    Ink: how much more or less there is of what is thin, by how much there is of it. Motion leaves it as it
    was; lines and markers that grow by a pixel, which the range explains away, do not. No more of it counts
    than the mean luminance there changed by: between text and an edge, what is thin depends on the text.
    """
    one, other = luminance(before), luminance(after)
    ground = blurred(np.maximum(contrast(one), contrast(other)))
    one, other = blurred(one), blurred(other)
    rest = unexplained(one, other)
    color = unexplained(*(blurred(chroma(picture), 2) for picture in (before, after)))
    results = [(_levels(rest), _levels(ground))]
    rest, ground = halved(rest), halved(ground)
    for _ in range(COARSE_STEPS - 1):
        rest, ground, color = blurred(rest, 2), blurred(ground, 2), blurred(color, 2)
    coarse = _levels(blurred(ground))
    results.append((_levels(blurred(rest)), coarse))
    results.append((_levels(np.abs(blurred(color)).max(axis=0)), coarse))
    results.append(_ink(halved(one), halved(other)))
    return results


def is_doubtful(score: float) -> bool:
    """Whether a score (1: the threshold) is too close below the threshold to call it noise."""
    return DOUBT <= score < 1


def probability_of_no_change(score: float) -> float:
    """The probability that nothing visible changed, for a score whose threshold is 1."""
    return round(1 / (1 + fitted.ODDS * math.pow(score, fitted.STEEPNESS)), 4)


def _ordered(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> tuple[Pixels, Pixels]:
    """The two pictures in an order of their own, so that roundings are the same whichever comes first."""
    first = np.unravel_index(int(differs.argmax()), differs.shape)
    return (before, after) if tuple(before[first]) <= tuple(after[first]) else (after, before)


def _cells(differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of each cell whether a pixel differs in it."""
    height, width = differs.shape
    rows = np.logical_or.reduceat(differs, np.arange(0, height, CELL), axis=0)
    return np.asarray(np.logical_or.reduceat(rows, np.arange(0, width, CELL), axis=1))


def _faint_boxes(
    cells: NDArray[np.bool_], clear: NDArray[np.bool_], strength: NDArray[np.float32]
) -> list[Box]:
    """Boxes around differences no higher than a line of text that may be one, the strongest first.

    cells: those in which a pixel differs clearly.
    """
    results = []
    for rows, columns in _clusters(cells):
        if rows.stop - rows.start > LINE:
            continue
        part = _of_cells(rows, columns)
        most = float(strength[part].max())
        if MAYBE <= most < 1:
            down, across = (np.flatnonzero(clear[part].any(axis=axis)) for axis in (1, 0))
            left, top = CELL * columns.start, CELL * rows.start
            box = (
                left + int(across[0]),
                top + int(down[0]),
                left + int(across[-1]) + 1,
                top + int(down[-1]) + 1,
            )
            results.append((-most, box))
    return [box for _, box in sorted(results)[:MOST_GLYPH_BOXES]]


def _clusters(cells: NDArray[np.bool_]) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of cells around those that belong together: no row or column between is empty."""
    for top, bottom in _occupied(np.any(cells, axis=1), 1):
        for left, right in _occupied(np.any(cells[top:bottom], axis=0), 1):
            for first, last in _occupied(np.any(cells[top:bottom, left:right], axis=1), 1):
                yield slice(top + first, top + last), slice(left, right)


def _cores(near: NDArray[np.bool_]) -> Iterator[tuple[slice, slice]]:
    """Parts, in cells, that hold all cells near a difference, each at most ``STRIP`` high."""
    for start, end in _occupied(np.any(near, axis=1), 2 * MARGIN):
        for first in range(start, end, STRIP):
            last = min(first + STRIP, end)
            for left, right in _occupied(np.any(near[first:last], axis=0), 2 * MARGIN):
                yield slice(first, last), slice(left, right)


def _occupied(lines: NDArray[np.bool_], gap: int) -> Iterator[tuple[int, int]]:
    """Start and stop of runs of lines of cells whose next ones are farther away than ``gap``."""
    occupied = np.flatnonzero(lines)
    breaks = np.flatnonzero(np.diff(occupied) > gap)
    starts = occupied[np.r_[0, breaks + 1]] if len(occupied) else occupied
    ends = occupied[np.r_[breaks, len(occupied) - 1]] if len(occupied) else occupied
    yield from zip(starts.tolist(), (ends + 1).tolist(), strict=True)


def _of_cells(rows: slice, columns: slice) -> tuple[slice, slice]:
    """The pixels of some cells."""
    return slice(CELL * rows.start, CELL * rows.stop), slice(CELL * columns.start, CELL * columns.stop)


def _strength(before: Pixels, after: Pixels, near: NDArray[np.bool_], weight: float) -> NDArray[np.float32]:
    """The largest of all measures over its limit, (H, W); the coarse ones only in cells near a difference."""
    height, width = before.shape[:2]
    limits = (*LIMITS[:-1], Limit(INK.flat * weight / INK.slope, weight))
    fine, *coarse = (
        size / (limit.flat + limit.slope * ground)
        for (size, ground), limit in zip(tests(before, after), limits, strict=True)
    )
    cells: NDArray[np.float32] = np.maximum.reduce(coarse) * near
    return np.maximum(fine, cells.repeat(CELL, axis=0).repeat(CELL, axis=1)[:height, :width])


def unexplained(one: Planes, other: Planes) -> Planes:
    """How far each picture's values leave the range of the other's near them, less what is too faint."""
    brighter = np.maximum(other - largest_near(one), least_near(other) - one)
    darker = np.maximum(one - largest_near(other), least_near(one) - other)
    brighter = np.maximum(brighter - FAINT * UNIT, 0)
    darker = np.maximum(darker - FAINT * UNIT, 0)
    signed: Planes = np.where(brighter >= darker, brighter, -darker)
    return signed


def _ink(one: Planes, other: Planes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Of blurred luminance at half size: the change of ink, and the larger ink of both pictures.

    Ink is what a square of ``THIN`` pixels at half size fills: what is darker than its surroundings where
    those are light, else what is lighter. Both are blurred as all that is coarse.
    """
    both = np.stack([one, other])
    light = blurred(_coarse((one + other) >> 1)) >= 128 * UNIT
    inks = np.zeros((2, *light.shape), np.float32)
    changed = _levels(_coarse(other - one))
    if light.any():
        inks = _levels(_coarse(closed(both, THIN) - both))
    if not light.all():
        inks = np.where(light, inks, _levels(_coarse(closed(-both, THIN) + both)))
    return np.minimum(np.abs(inks[1] - inks[0]), changed), np.maximum(inks[0], inks[1])


def _coarse(planes: Planes) -> Planes:
    """Values at half size at the coarse scale."""
    for _ in range(COARSE_STEPS - 1):
        planes = blurred(planes, 2)
    return blurred(planes)


def _levels(planes: Planes) -> NDArray[np.float32]:
    """The size of values in grey levels."""
    return np.abs(planes).astype(np.float32) / np.float32(UNIT)
