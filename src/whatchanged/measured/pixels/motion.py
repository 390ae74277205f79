"""Motion of whole rows or columns inside a part of the picture: what was pushed, told once and taken away."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import UNIT, blurred, contrast, luminance
from whatchanged.measured.pixels.reading import Pixels

Lines = NDArray[np.int32]
"""(N, S): a part's rows (or columns) from first to last, each as samples of luminance and their contrast."""

SAMPLE = 4
"""Neighbouring pixels of a line that one sample sums up."""
FARTHEST = 320
"""Largest offset that lines are tried at, beside those at which lines are equal."""
COARSE = 32
"""Samples of a line while offsets are looked for."""
CANDIDATES = 6
"""Offsets that are followed at once."""
SWITCH = 3.0
"""What another offset costs, in lines that do not fit."""
NEW = 0.7
"""What a line without a source costs, in lines that do not fit."""


@dataclass(frozen=True)
class LineRun:
    """Lines ``start`` to ``stop`` of the part after lie ``offset`` further than before; None: they are
    new."""

    start: int
    stop: int
    offset: int | None


@dataclass(frozen=True)
class _Profile:
    """The lines of one part: samples, and how much ink each line carries."""

    samples: Lines
    ink: NDArray[np.float64]


def runs_of_lines(before: Pixels, after: Pixels, axis: int) -> list[LineRun]:
    """How the lines after (rows: axis 0, columns: axis 1) follow from those before, in order.

    Equal ends are kept apart first. Each line after either comes from a line before at one of a few offsets
    or is new; the cheapest sequence is found by dynamic programming. Lines without ink fit anywhere.
    """
    one, other = _profile(before, axis), _profile(after, axis)
    offsets = _candidates(one, other)
    if offsets == [0]:
        return [LineRun(0, len(other.ink), 0)]
    costs = np.stack([_cost(one, other, offset) for offset in offsets] + [NEW * (other.ink > 0)], axis=1)
    states = _cheapest(costs)
    breaks = np.flatnonzero(np.diff(states)) + 1
    starts, stops = np.r_[0, breaks], np.r_[breaks, len(states)]
    return [
        LineRun(int(start), int(stop), offsets[states[start]] if states[start] < len(offsets) else None)
        for start, stop in zip(starts, stops, strict=True)
    ]


def _profile(pixels: Pixels, axis: int) -> _Profile:
    """Lines of blurred luminance, summed up by ``SAMPLE`` along the line."""
    levels = blurred(luminance(pixels)) // UNIT
    light, steps = levels.astype(np.int32), contrast(levels).astype(np.int32)
    if axis == 1:
        light, steps = light.T, steps.T
    length = light.shape[1]
    starts = np.arange(0, length, SAMPLE)
    samples = np.add.reduceat(light, starts, axis=1) // np.diff(np.append(starts, length))
    return _Profile(samples.astype(np.int32), np.maximum(2 * steps - 16, 0).sum(axis=1) / SAMPLE)


def _coarse(profile: _Profile) -> _Profile:
    """The same lines with at most ``COARSE`` samples, to try many offsets on."""
    count = profile.samples.shape[1]
    if count <= COARSE:
        return profile
    starts = np.arange(COARSE) * count // COARSE
    sums = np.add.reduceat(profile.samples, starts, axis=1) // np.diff(np.append(starts, count))
    return _Profile(sums.astype(np.int32), profile.ink * COARSE / count)


def _candidates(one: _Profile, other: _Profile) -> list[int]:
    """Offsets at which most ink fits that does not fit in place; 0 first."""
    one, other = _coarse(one), _coarse(other)
    in_place = _cost(one, other, 0)
    moved = in_place >= 0.5
    if not moved.any():
        return [0]
    count = len(other.ink)
    reach = min(FARTHEST, max(count, len(one.ink)) - 1)
    gains = []
    for offset in range(-reach, reach + 1):
        if offset:
            cost = _cost(one, other, offset)
            gain = float((other.ink * (in_place - cost))[moved & (cost < 0.5)].sum())
            gains.append((-gain, abs(offset), offset))
    end = len(other.ink) - len(one.ink)
    best = [offset for gain, _, offset in sorted(gains)[:CANDIDATES] if gain < 0]
    return list(dict.fromkeys([0, *([end] if abs(end) <= reach else []), *best]))


def _cost(one: _Profile, other: _Profile, offset: int) -> NDArray[np.float64]:
    """How badly each line after fits the line before at this offset: 0 for equal, 1 for unlike or none."""
    count = len(other.ink)
    cost = np.ones(count)
    start, stop = max(0, offset), min(count, len(one.ink) + offset)
    if start >= stop:
        return cost
    here, there = slice(start, stop), slice(start - offset, stop - offset)
    distance = np.abs(other.samples[here] - one.samples[there]).sum(axis=1)
    allowed = 0.15 * (other.ink[here] + one.ink[there]) + 2.0 * other.samples.shape[1]
    cost[here] = np.minimum(1.0, distance / allowed)
    return cost


def _cheapest(costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """The state of each line on the cheapest way, (N, K) -> (N,)."""
    count, states = costs.shape
    total = costs[0].copy()
    came = np.zeros((count, states), np.intp)
    for line in range(1, count):
        cheapest = int(total.argmin())
        stay = total <= total[cheapest] + SWITCH
        came[line] = np.where(stay, np.arange(states), cheapest)
        total = np.where(stay, total, total[cheapest] + SWITCH) + costs[line]
    way = np.zeros(count, np.intp)
    way[-1] = int(total.argmin())
    for line in range(count - 1, 0, -1):
        way[line - 1] = came[line, way[line]]
    return way
