"""The visibility gate: is the difference between two pictures visible?

A difference is visible if neither a shift by one pixel nor the texture of the picture explains it.
"""

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
    Values,
    blurred,
    closed,
    contrast,
    enlarged,
    halved,
    luminance_and_chroma,
    range_near,
    steps_between,
)
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

CELL = 8
"""The side of a cell in pixels. A cell is one value at the coarse scale, and all parts are aligned to
cells."""
MARGIN = 6
"""The number of cells around a cell that influence its strength."""
REACH = CELL * (MARGIN + 2)
"""The distance in pixels to which a pixel influences the strength of others."""
STRIP = 32
"""The largest number of rows of cells that are processed at once. It bounds the memory that a long page
takes."""
FEW = 4
"""The same number where any visible difference decides. Mostly the first rows have one."""


@dataclass(frozen=True)
class Limit:
    """A threshold of visibility.

    flat   the least visible difference on a uniform area, in grey levels
    slope  the increase of the threshold for each grey level of local contrast
    """

    flat: float
    slope: float


FINE, COARSE, COARSE_COLOR, INK = (
    Limit(*fitted.FINE),
    Limit(*fitted.COARSE),
    Limit(*fitted.COARSE_COLOR),
    Limit(*fitted.INK),
)
LIMITS = (FINE, COARSE, COARSE_COLOR, INK)
"""The thresholds of the measures, in the order in which ``tests`` returns these."""

MAYBE = 0.1
"""The least strength at which a difference in a line of text is examined for an exchanged glyph.

The strength is a multiple of the visibility threshold.
"""
LINE = 5
"""The largest height of a line of text, in cells."""
MOST_GLYPH_BOXES = 16
"""The largest number of regions that are examined for exchanged glyphs. The strongest regions come first."""

FAINT = 5
"""The largest difference, in grey levels, that is invisible even over a large area. It is subtracted from
every residual."""
COARSE_STEPS = 3
"""The number of times that the coarse measures are blurred and halved. One value is then one cell, at a
standard deviation of 5 pixels."""
THIN = 3
"""The radius of the morphological closing that separates ink. Ink is at most 2 x 3 pixels wide at half
size."""
CERTAIN = 100.0
"""The score of a difference beyond doubt, such as a different picture size."""
DOUBT = 0.8
"""The least score at which a difference below the threshold is reported as doubtful."""


@dataclass(frozen=True)
class Visibility:
    """The visibility of the difference at each pixel.

    steps     (H, W) the largest difference of a channel, in levels
    strength  (H, W) the difference as a multiple of the threshold; from 1 on it is visible
    is_plain  whether it depends only on the pixels near each pixel, and neither on structured differences nor
              on compression
    """

    steps: NDArray[np.uint8]
    strength: NDArray[np.float32]
    is_plain: bool = True

    @cached_property
    def differs(self) -> NDArray[np.bool_]:
        """A mask (H, W) of the pixels that differ at all."""
        return self.steps > 0

    @cached_property
    def score(self) -> float:
        """The largest strength of all pixels."""
        return float(self.strength.max(initial=0.0))

    def visible(self, threshold: float) -> NDArray[np.bool_]:
        """Return a mask (H, W) of the differing pixels whose strength reaches the threshold."""
        return self.differs & (self.strength >= threshold)


def visibility(before: Pixels, after: Pixels, weight: float = INK.slope) -> Visibility:
    """Measure at each pixel how visibly two pictures of one size differ.

    weight: the relative change of ink at which the change is visible.
    """
    found = _Strengths(before, after)
    for _ in found.windows(weight, STRIP):
        pass
    return found.with_glyphs()


def visibility_within(before: Pixels, after: Pixels, threshold: float, most: int) -> Visibility | None:
    """Measure like ``visibility``, or return None as soon as more than ``most`` pixels reach the
    threshold."""
    found = _Strengths(before, after)
    visible = 0
    for window in found.windows(INK.slope, STRIP if most > 0 else FEW):
        visible += int(np.count_nonzero(found.differs[window] & (found.strength[window] >= threshold)))
        if visible > most:
            return None
    return found.with_glyphs()


class _Strengths:
    """The strengths of the differences between two pictures of one size, found window by window.

    differs   (H, W) whether the pixels differ at all
    strength  (H, W) the strengths in the windows that were already examined; 0 elsewhere
    """

    def __init__(self, before: Pixels, after: Pixels) -> None:
        self._steps = steps_between(before, after)
        self.differs = self._steps > 0
        self.strength = np.zeros(self.differs.shape, np.float32)
        self._before, self._after = _ordered(before, after, self.differs)
        self._clear = self._steps >= FAINT
        self._cells = _cells(self._clear)

    def windows(self, weight: float, strip: int) -> Iterator[tuple[slice, slice]]:
        """Yield the windows near clear differences, each after its strengths were found.

        strip: the largest height of a window, in cells.
        """
        near = enlarged(self._cells, 1, 1)
        for core in _cores(near, strip):
            window = tuple(slice(max(0, side.start - MARGIN), side.stop + MARGIN) for side in core)
            pixels = _of_cells(*window)
            found = _strength(self._before[pixels], self._after[pixels], near[window], weight)
            inner = _of_cells(
                *(slice(s.start - w.start, s.stop - w.start) for s, w in zip(core, window, strict=True))
            )
            self.strength[_of_cells(*core)] = found[inner]
            yield _of_cells(*core)

    def with_glyphs(self) -> Visibility:
        """Return the visibility, with the strengths of exchanged glyphs, after all windows were examined."""
        faint = _faint_boxes(self._cells, self._clear, self.strength)
        for glyph in exchanged(self._before, self._after, faint):
            left, top, right, bottom = glyph.box
            part = self.strength[top:bottom, left:right]
            np.maximum(part, np.float32(glyph.strength), out=part)
        return Visibility(self._steps, self.strength)


def far_from_differences(one: Pixels, other: Pixels) -> NDArray[np.bool_]:
    """Return a mask (H, W) of the pixels at which two pictures differ equally from any third one, except for
    rounding."""
    near = enlarged(_cells(steps_between(one, other) > 0), REACH // CELL, REACH // CELL)
    return ~_of_pixels(near, one.shape)


def tests(before: Pixels, after: Pixels) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Return the four measures of a difference: fine luminance, coarse luminance, coarse chroma, and ink.

    Each measure is a pair (size of the difference, local contrast or ink), both in grey levels. The first
    measure has one value a pixel, the others have one value a cell.

    The pictures are first blurred by one pixel. The residual of a pixel is how far its value lies outside the
    range of the 3 x 3 pixels around the same position in the other picture. A shift by one pixel therefore
    leaves no residual. Fine: the residual of luminance.

    Coarse: the residuals of luminance and of the larger chroma component, blurred further, so that residuals
    of alternating sign cancel. Chroma is processed at half size, since the eye resolves it less well. These
    three measures are compared with the local contrast.

    Ink: the change of the amount of thin structures, compared with that amount. A shift does not change this
    amount. Lines and markers that become one pixel thicker do, although they leave no residual. The change of
    ink is limited to the change of the local mean luminance, because the amount of thin structures between a
    text and an edge depends on the text.
    """
    # Planes are processed one after the other, since single ones stay in the processor's cache.
    light, *colors = zip(luminance_and_chroma(before), luminance_and_chroma(after), strict=True)
    ground = blurred(np.maximum(*(contrast(plane) for plane in light)))
    one, other = (blurred(plane) for plane in light)
    rest = unexplained(one, other)
    orange, purple = (unexplained(*(blurred(plane, 2) for plane in color)) for color in colors)
    coarse_rest, coarse_orange, coarse_purple, coarse = _levels(
        _coarse(np.stack([halved(rest), orange, purple, halved(ground)]))
    )
    return [
        (_levels(rest), _levels(ground)),
        (coarse_rest, coarse),
        (np.maximum(coarse_orange, coarse_purple), coarse),
        _ink(halved(one), halved(other)),
    ]


def is_doubtful(score: float) -> bool:
    """Return whether a score is so close below the threshold 1 that the difference may not be noise."""
    return DOUBT <= score < 1


def probability_of_no_change(score: float) -> float:
    """Return the probability that nothing visible changed, given a score whose threshold is 1."""
    return round(1 / (1 + fitted.ODDS * math.pow(score, fitted.STEEPNESS)), 4)


def _ordered(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> tuple[Pixels, Pixels]:
    """Return the two pictures in an order that does not depend on which one comes first.

    Rounding errors are then the same for both orders.
    """
    first = np.unravel_index(int(differs.argmax()), differs.shape)
    return (before, after) if tuple(before[first]) <= tuple(after[first]) else (after, before)


def _cells(differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each cell whether it contains a differing pixel."""
    height, width = differs.shape
    rows = np.logical_or.reduceat(differs, np.arange(0, height, CELL), axis=0)
    return np.asarray(np.logical_or.reduceat(rows, np.arange(0, width, CELL), axis=1))


def _faint_boxes(
    cells: NDArray[np.bool_], clear: NDArray[np.bool_], strength: NDArray[np.float32]
) -> list[Box]:
    """Return the bounding boxes of faint differences that may be exchanged glyphs, the strongest first.

    Each box is at most as high as a line of text.

    cells: the cells that contain a clearly differing pixel.
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
    """Yield the rows and columns of clusters of cells. No row or column inside a cluster is empty."""
    for top, bottom in _occupied(np.any(cells, axis=1), 1):
        for left, right in _occupied(np.any(cells[top:bottom], axis=0), 1):
            for first, last in _occupied(np.any(cells[top:bottom, left:right], axis=1), 1):
                yield slice(top + first, top + last), slice(left, right)


def _cores(near: NDArray[np.bool_], strip: int) -> Iterator[tuple[slice, slice]]:
    """Yield windows of cells that together cover all cells near a difference. Each is at most ``strip`` cells
    high."""
    for start, end in _occupied(np.any(near, axis=1), 2 * MARGIN):
        for first in range(start, end, strip):
            last = min(first + strip, end)
            for left, right in _occupied(np.any(near[first:last], axis=0), 2 * MARGIN):
                yield slice(first, last), slice(left, right)


def _occupied(lines: NDArray[np.bool_], gap: int) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of runs of occupied lines. Lines up to ``gap`` apart belong to the same
    run."""
    occupied = np.flatnonzero(lines)
    breaks = np.flatnonzero(np.diff(occupied) > gap)
    starts = occupied[np.r_[0, breaks + 1]] if len(occupied) else occupied
    ends = occupied[np.r_[breaks, len(occupied) - 1]] if len(occupied) else occupied
    yield from zip(starts.tolist(), (ends + 1).tolist(), strict=True)


def _of_cells(rows: slice, columns: slice) -> tuple[slice, slice]:
    """Return the pixel slices of a range of cells."""
    return slice(CELL * rows.start, CELL * rows.stop), slice(CELL * columns.start, CELL * columns.stop)


def _strength(before: Pixels, after: Pixels, near: NDArray[np.bool_], weight: float) -> NDArray[np.float32]:
    """Return the largest ratio of a measure to its threshold at each pixel, (H, W).

    The coarse measures count only in the cells near a difference.
    """
    limits = (*LIMITS[:-1], Limit(INK.flat * weight / INK.slope, weight))
    fine, *coarse = (
        _ratio(size, ground, limit)
        for (size, ground), limit in zip(tests(before, after), limits, strict=True)
    )
    cells: NDArray[np.float32] = np.maximum.reduce(coarse) * near
    return np.maximum(fine, _of_pixels(cells, before.shape), out=fine)


def _ratio(size: NDArray[np.float32], ground: NDArray[np.float32], limit: Limit) -> NDArray[np.float32]:
    """Return the ratio of a measure to its threshold."""
    ratio: NDArray[np.float32] = limit.slope * ground
    ratio += limit.flat
    return np.divide(size, ratio, out=ratio)


def _of_pixels(cells: Values, shape: tuple[int, ...]) -> Values:
    """Return the value of each pixel's cell, for a picture with this array shape."""
    return cells.repeat(CELL, axis=0).repeat(CELL, axis=1)[: shape[0], : shape[1]]


def unexplained(one: Planes, other: Planes) -> Planes:
    """Return the signed residual: how far the values of each picture leave the local range of the other
    picture.

    Residuals up to ``FAINT`` grey levels become 0.
    """
    (least_one, largest_one), (least_other, largest_other) = range_near(one), range_near(other)
    brighter = _excess(other - largest_one, least_other - one)
    # Only one of the two is not 0: a value above a range is not below the other one.
    brighter -= _excess(one - largest_other, least_one - other)
    return brighter


def _excess(one: Planes, other: Planes) -> Planes:
    """Return the larger value, reduced by ``FAINT`` grey levels, or 0 if it is smaller."""
    larger: Planes = np.maximum(one, other)
    larger -= FAINT * UNIT
    return np.maximum(larger, 0, out=larger)


def _ink(one: Planes, other: Planes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the change of ink, and the larger amount of ink of the two pictures, for each cell.

    Ink is the difference between a picture and its morphological closing with radius ``THIN``: thin dark
    structures in light areas, and thin light structures in dark areas.

    one, other: blurred luminance at half size.
    """
    both = np.stack([one, other])
    mean, step = _coarse(np.stack([(one + other) >> 1, other - one]))
    light = blurred(mean) >= 128 * UNIT
    inks = np.zeros((2, *light.shape), np.float32)
    changed = _levels(step)
    if light.any():
        inks = _levels(_coarse(closed(both, THIN) - both))
    if not light.all():
        inks = np.where(light, inks, _levels(_coarse(closed(-both, THIN) + both)))
    return np.minimum(np.abs(inks[1] - inks[0]), changed), np.maximum(inks[0], inks[1])


def _coarse(planes: Planes) -> Planes:
    """Blur planes at half size further and reduce them to the coarse scale."""
    for _ in range(COARSE_STEPS - 1):
        planes = blurred(planes, 2)
    return blurred(planes)


def _levels(planes: Planes) -> NDArray[np.float32]:
    """Return the absolute values of planes in grey levels."""
    levels = np.abs(planes).astype(np.float32)
    levels /= UNIT
    return levels
