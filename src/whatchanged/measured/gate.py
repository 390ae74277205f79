"""Is a difference visible? Differences blurred at several scales, each over what the ground there lets pass."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.planes import UNIT, Plane, blurred, contrast, halved, opponent
from whatchanged.measured.reading import Pixels

MARGIN = 64
"""Pixels around a difference that its blurs reach."""
STRIP = 1024
"""Most rows that are worked on at once, so that a long page takes no more memory than a screen."""

LEVELS = ((26.0, 0.30), (10.0, 0.16), (5.0, 0.10), (3.0, 0.06))
"""By scale (standard deviations of about 1, 2.2, 4.6, 9.2 pixels): grey levels that pass on flat ground, and
how many more for each level of blurred contrast."""

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


def visibility(before: Pixels, after: Pixels) -> Visibility:
    """How visibly two pictures of one size differ, pixel by pixel."""
    differs = (before != after).any(axis=2)
    strength = np.zeros(differs.shape, np.float32)
    for rows, columns in _windows(differs):
        part = _strength(before[rows, columns], after[rows, columns])
        np.maximum(strength[rows, columns], part, out=strength[rows, columns])
    return Visibility(differs, strength)


def is_doubtful(score: float) -> bool:
    """Whether a score (1: the threshold) is too close below the threshold to call it noise."""
    return DOUBT <= score < 1


def probability_of_no_change(score: float) -> float:
    """The probability that nothing visible changed, for a score whose threshold is 1."""
    return round(1 / (1 + score**4), 4)


def _windows(differs: NDArray[np.bool_]) -> Iterator[tuple[slice, slice]]:
    """Parts that hold all differences with their margins, at most ``STRIP`` rows and two margins high."""
    occupied = np.flatnonzero(differs.any(axis=1))
    if not len(occupied):
        return
    breaks = np.flatnonzero(np.diff(occupied) > 2 * MARGIN)
    starts = occupied[np.r_[0, breaks + 1]]
    ends = occupied[np.r_[breaks, len(occupied) - 1]] + 1
    for start, end in zip(starts, ends, strict=True):
        for first in range(int(start), int(end), STRIP):
            rows = slice(max(0, first - MARGIN), min(first + STRIP, int(end)) + MARGIN)
            columns = np.flatnonzero(differs[rows].any(axis=0))
            if len(columns):
                yield rows, slice(max(0, int(columns[0]) - MARGIN), int(columns[-1]) + 1 + MARGIN)


def _strength(before: Pixels, after: Pixels) -> NDArray[np.float32]:
    """The largest of all scales, (H, W)."""
    height, width = before.shape[:2]
    planes = list(opponent(after.astype(np.int16) - before))
    ground = _ground(before, after)
    largest = np.zeros((height, width), np.float32)
    for level, (flat, slope) in enumerate(LEVELS):
        planes = [blurred(plane) for plane in planes]
        ground = blurred(ground)
        allowed = UNIT * flat + slope * ground.astype(np.float32)
        size = np.maximum.reduce([np.abs(plane) for plane in planes]).astype(np.float32)
        step = 2**level
        shown = (size / allowed).repeat(step, axis=0).repeat(step, axis=1)[:height, :width]
        np.maximum(largest, shown, out=largest)
        planes = [halved(plane) for plane in planes]
        ground = halved(ground)
    return largest


def _ground(before: Pixels, after: Pixels) -> Plane:
    """The larger of both pictures' local contrast: the finer the texture, the more of it moves by itself."""
    return np.maximum(contrast(opponent(before)[0]), contrast(opponent(after)[0]))
