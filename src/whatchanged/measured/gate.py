"""Is a difference visible? What neither a shift of one pixel nor the ground's own texture explains."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.planes import (
    UNIT,
    Planes,
    blurred,
    chroma,
    contrast,
    halved,
    largest_near,
    least_near,
    luminance,
)
from whatchanged.measured.reading import Pixels

CELL = 8
"""Pixels of a side of what is one value at the coarse scale; parts begin and end at multiples of it."""
MARGIN = 5 * CELL
"""Pixels around a difference that its blurs reach."""
STRIP = 256
"""Most rows that are worked on at once, so that a long page takes no more memory than a screen."""


@dataclass(frozen=True)
class Limit:
    """Grey levels from which on a difference is visible on flat ground, and how many more for each level of
    contrast there."""

    flat: float
    slope: float


# Fitted on drawn pairs by benchmarks/calibrate_measured.py.
FINE = Limit(6.1, 0.31)
COARSE = Limit(0.32, 0.0165)
COARSE_COLOUR = Limit(1.65, 0.0)
STEEPNESS = 1.38
"""The odds of a change grow with this power of the score."""
ODDS = 0.86
"""The odds of a change at the threshold."""

FAINT = 5
"""Grey levels that are seen by nobody, however large the area: they are taken off what is left over."""
COARSE_STEPS = 3
"""How often differences are blurred and halved for the coarse scale: a standard deviation of 5 pixels."""
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

    @property
    def score(self) -> float:
        """The largest strength."""
        return float(self.strength.max(initial=0.0))

    def visible(self, threshold: float) -> NDArray[np.bool_]:
        """Where pixels differ and their surroundings do so visibly."""
        return self.differs & (self.strength >= threshold)


def visibility(before: Pixels, after: Pixels) -> Visibility:
    """How visibly two pictures of one size differ, pixel by pixel."""
    steps = np.maximum(before, after) - np.minimum(before, after)
    step = np.maximum(np.maximum(steps[..., 0], steps[..., 1]), steps[..., 2])
    differs = step > 0
    strength = np.zeros(differs.shape, np.float32)
    if not differs.any():
        return Visibility(differs, strength)
    before, after = _ordered(before, after, differs)
    for rows, columns in _windows(step >= FAINT):
        part = _strength(before[rows, columns], after[rows, columns])
        np.maximum(strength[rows, columns], part, out=strength[rows, columns])
    return Visibility(differs, strength)


def tests(before: Pixels, after: Pixels) -> list[tuple[int, NDArray[np.float32], NDArray[np.float32]]]:
    """The three measures of a difference: how often halved, its size, the contrast there, both in grey
    levels.

    Pictures are blurred by one pixel. What is left over is how far a value lies outside the range of the
    other picture's value there and at its eight neighbours, so that motion by a pixel leaves nothing. Fine:
    luminance.
    Coarse: luminance and the larger chroma (at half size from the start, as it is seen less sharply), blurred
    on, so that what alternates in sign goes away.
    """
    one, other = luminance(before), luminance(after)
    ground = blurred(np.maximum(contrast(one), contrast(other)))
    rest = _unexplained(blurred(one), blurred(other))
    colour = _unexplained(*(blurred(chroma(picture), 2) for picture in (before, after)))
    found = [(0, _levels(rest), _levels(ground))]
    rest, ground = halved(rest), halved(ground)
    for _ in range(COARSE_STEPS - 1):
        rest, ground, colour = blurred(rest, 2), blurred(ground, 2), blurred(colour, 2)
    coarse = _levels(blurred(ground))
    found.append((COARSE_STEPS, _levels(blurred(rest)), coarse))
    found.append((COARSE_STEPS, _levels(np.abs(blurred(colour)).max(axis=0)), coarse))
    return found


def is_doubtful(score: float) -> bool:
    """Whether a score (1: the threshold) is too close below the threshold to call it noise."""
    return DOUBT <= score < 1


def probability_of_no_change(score: float) -> float:
    """The probability that nothing visible changed, for a score whose threshold is 1."""
    return round(1 / (1 + ODDS * math.pow(score, STEEPNESS)), 4)


def _ordered(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> tuple[Pixels, Pixels]:
    """The two pictures in an order of their own, so that roundings are the same whichever comes first."""
    first = np.unravel_index(int(differs.argmax()), differs.shape)
    return (before, after) if tuple(before[first]) <= tuple(after[first]) else (after, before)


def _windows(differs: NDArray[np.bool_]) -> Iterator[tuple[slice, slice]]:
    """Parts that hold all differences with their margins, at most ``STRIP`` rows and two margins high."""
    for start, end in _occupied(np.any(differs, axis=1)):
        for first in range(start, end, STRIP):
            last = min(first + STRIP, end)
            for left, right in _occupied(np.any(differs[first:last], axis=0)):
                yield (
                    slice(max(0, first - MARGIN), last + MARGIN),
                    slice(max(0, left - MARGIN), right + MARGIN),
                )


def _occupied(lines: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Start and stop, multiples of ``CELL``, of runs of lines that are farther apart than their margins."""
    occupied = np.flatnonzero(lines)
    breaks = np.flatnonzero(np.diff(occupied) > 2 * MARGIN)
    starts = occupied[np.r_[0, breaks + 1]] if len(occupied) else occupied
    ends = occupied[np.r_[breaks, len(occupied) - 1]] if len(occupied) else occupied
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield start // CELL * CELL, (end // CELL + 1) * CELL


def _strength(before: Pixels, after: Pixels) -> NDArray[np.float32]:
    """The largest of all measures over its limit, (H, W)."""
    height, width = before.shape[:2]
    largest = np.zeros((height, width), np.float32)
    for (halvings, size, ground), limit in zip(
        tests(before, after), (FINE, COARSE, COARSE_COLOUR), strict=True
    ):
        shown = size / (limit.flat + limit.slope * ground)
        if halvings:
            shown = shown.repeat(2**halvings, axis=0).repeat(2**halvings, axis=1)[:height, :width]
        np.maximum(largest, shown, out=largest)
    return largest


def _unexplained(one: Planes, other: Planes) -> Planes:
    """How far each picture's values leave the range of the other's near them, less what is too faint."""
    brighter = np.maximum(other - largest_near(one), least_near(other) - one)
    darker = np.maximum(one - largest_near(other), least_near(one) - other)
    brighter = np.maximum(brighter - FAINT * UNIT, 0)
    darker = np.maximum(darker - FAINT * UNIT, 0)
    signed: Planes = np.where(brighter >= darker, brighter, -darker)
    return signed


def _levels(planes: Planes) -> NDArray[np.float32]:
    """The size of values in grey levels."""
    return np.abs(planes).astype(np.float32) / np.float32(UNIT)
