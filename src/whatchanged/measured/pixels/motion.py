"""Motion of whole rows or columns inside a part of the picture: what was pushed, told once and taken away."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import UNIT, Planes, blurred, contrast, luminance
from whatchanged.measured.pixels.reading import Pixels

Lines = NDArray[np.int16]
"""(N, S): a part's rows (or columns) from first to last, each as samples of luminance and their contrast."""

Places = slice | NDArray[np.intp]
"""Numbers of lines."""

SAMPLE = 4
"""Neighbouring pixels of a line that one sample sums up."""
FARTHEST = 320
"""Largest offset that lines are tried at, beside those at which lines are equal."""
COARSE = 32
"""Samples of a line while offsets are looked for."""
ALLOWED_INK, ALLOWED_LEVELS = 0.15, 2.0
"""How unlike lines are that do not fit at all: this part of the ink of both, and these levels a sample."""
CANDIDATES = 6
"""Offsets that are followed at once."""
SWITCH = 3.0
"""What another offset costs, in lines that do not fit."""
NEW = 0.7
"""What a line without a source costs, in lines that do not fit."""
FITS = 0.5
"""What a line costs at most, exclusive, that fits."""
STRIP = 1024
"""Rows that are summed up at once, so that a long page takes no more memory than a screen."""
FEW = 8
"""Samples by which most lines are told not to fit."""
MOST_OFFSETS = 3
"""Offsets from which on lines must keep their order."""
AT_ONCE = 1 << 18
"""Lines times offsets that are looked at together."""
_NO_LINE = -30_000
"""What stands for a line beyond the picture: it fits nothing."""


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

    Each line after either comes from a line before at one of a few offsets or is new; the cheapest sequence
    is found by dynamic programming. Lines without ink fit anywhere. Where three or more offsets are found,
    lines that do not keep their order are new (``_in_order``).
    """
    one, other = _profile(before, axis), _profile(after, axis)
    offsets = _candidates(one, other)
    if offsets == [0]:
        return [LineRun(0, len(other.ink), 0)]
    costs = np.stack([_cost(one, other, offset) for offset in offsets] + [NEW * (other.ink > 0)], axis=1)
    states = _cheapest(costs)
    breaks = np.flatnonzero(np.diff(states)) + 1
    starts, stops = np.r_[0, breaks], np.r_[breaks, len(states)]
    runs = [
        LineRun(int(start), int(stop), offsets[states[start]] if states[start] < len(offsets) else None)
        for start, stop in zip(starts, stops, strict=True)
    ]
    return _in_order(runs)


def _in_order(runs: list[LineRun]) -> list[LineRun]:
    """The runs, with no source for those that break the order of the lines before.

    The longest sequence of runs whose sources follow one another keeps its sources. Two offsets alone are
    left as they are: two parts may have changed places. Of three or more, one that leads back is taken for a
    chance likeness, as where a list is drawn in another size.
    """
    sourced = [run for run in runs if run.offset is not None]
    if len({run.offset for run in sourced}) < MOST_OFFSETS:
        return runs
    lengths: list[int] = []  # lines of the longest sequence that ends with each run
    previous: list[int | None] = []
    for number, run in enumerate(sourced):
        before = [k for k in range(number) if _keeps_order(sourced[k], run)]
        best = max(before, key=lambda k: lengths[k], default=None)
        previous.append(best)
        lengths.append(run.stop - run.start + (0 if best is None else lengths[best]))
    kept: set[LineRun] = set()
    last: int | None = max(range(len(sourced)), key=lambda k: lengths[k])
    while last is not None:
        kept.add(sourced[last])
        last = previous[last]
    return [run if run in kept or run.offset is None else LineRun(run.start, run.stop, None) for run in runs]


def _keeps_order(one: LineRun, other: LineRun) -> bool:
    """Whether the lines of the later run come from no earlier ones than those of the first; lines that are
    there twice after may come from the same ones."""
    first, second = one.offset or 0, other.offset or 0
    return one.start - first <= other.start - second and one.stop - first <= other.stop - second


def _profile(pixels: Pixels, axis: int) -> _Profile:
    """Lines of blurred luminance, summed up by ``SAMPLE`` along the line."""
    strips = [_strip(pixels, start, axis) for start in range(0, len(pixels), STRIP)]
    samples = np.concatenate([samples for samples, _ in strips], axis=axis)
    inks = [ink for _, ink in strips]
    return _Profile(samples, (np.concatenate(inks) if axis == 0 else np.sum(inks, axis=0)) / SAMPLE)


def _strip(pixels: Pixels, start: int, axis: int) -> tuple[Lines, NDArray[np.int64]]:
    """Of the ``STRIP`` rows from ``start`` on their part of the lines: samples, and ink times ``SAMPLE``."""
    stop = min(start + STRIP, len(pixels))
    first, last = max(0, start - 1), stop + 1  # rows on which the contrast of these depends
    above = max(0, first - 2)  # and those on which their blur does
    light = blurred(luminance(pixels[above : last + 2]))[first - above : last - above] // UNIT
    steps = contrast(light)[start - first : stop - first]
    light = light[start - first : stop - first]
    steps <<= 1
    steps -= 16
    ink = np.maximum(steps, 0, out=steps).sum(axis=1 - axis, dtype=np.int64)
    return _means(light if axis == 0 else light.T), ink


def _means(light: Planes) -> Lines:
    """The means, rounded down, of every ``SAMPLE`` values of lines (N, L); of the rest at their end."""
    whole = light.shape[1] // SAMPLE * SAMPLE
    sums = sum(light[:, k:whole:SAMPLE] for k in range(1, SAMPLE)) + light[:, :whole:SAMPLE]
    rest = light[:, whole:]
    means = [sums // SAMPLE] + ([rest.sum(axis=1, keepdims=True) // rest.shape[1]] if rest.size else [])
    return np.concatenate(means, axis=1).astype(np.int16)


def _coarse(profile: _Profile) -> _Profile:
    """The same lines with at most ``COARSE`` samples, to try many offsets on."""
    count = profile.samples.shape[1]
    if count <= COARSE:
        return profile
    starts = np.arange(COARSE) * count // COARSE
    sums = np.add.reduceat(profile.samples, starts, axis=1, dtype=np.int32)
    return _Profile(
        (sums // np.diff(np.append(starts, count))).astype(np.int16), profile.ink * COARSE / count
    )


def _candidates(one: _Profile, other: _Profile) -> list[int]:
    """Offsets at which most ink fits that does not fit in place; 0 first."""
    one, other = _coarse(one), _coarse(other)
    unmoved = _cost(one, other, 0)
    if not (unmoved >= FITS).any():
        return [0]
    reach = min(FARTHEST, max(len(other.ink), len(one.ink)) - 1)
    gains = [(-gain, abs(offset), offset) for offset, gain in _gains(one, other, unmoved, reach) if offset]
    end = len(other.ink) - len(one.ink)
    best = [offset for gain, _, offset in sorted(gains)[:CANDIDATES] if gain < 0]
    return list(dict.fromkeys([0, *([end] if abs(end) <= reach else []), *best]))


def _gains(
    one: _Profile, other: _Profile, unmoved: NDArray[np.float64], reach: int
) -> Iterator[tuple[int, float]]:
    """Each offset up to ``reach`` at which lines fit that do not in place, and how much ink they carry.

    unmoved: what each line after costs where it is.
    """
    moved = unmoved >= FITS
    for offsets, lines in _perhaps_fitting(one, other, moved, reach):
        sources = lines - offsets
        cost = _costs(one, other, lines, sources)
        fits = cost < FITS
        offsets, lines, cost = offsets[fits], lines[fits], cost[fits]
        gain = other.ink[lines] * (unmoved[lines] - cost)
        starts = np.flatnonzero(np.diff(offsets, prepend=np.iinfo(np.int64).max))
        for start, stop in pairwise([*starts.tolist(), len(offsets)]):
            yield int(offsets[start]), float(gain[start:stop].sum())


def _perhaps_fitting(
    one: _Profile, other: _Profile, moved: NDArray[np.bool_], reach: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Offsets and the lines after, of those that moved, that may fit there by a few of their samples.

    All those of one offset come together, in order; whoever fits is among them.
    """
    first, last = int(np.flatnonzero(moved)[0]), int(np.flatnonzero(moved)[-1]) + 1
    some = np.arange(0, one.samples.shape[1], -(-one.samples.shape[1] // FEW))
    lines = other.samples[first:last, some].T
    # a line fits within a part of what is allowed, which its own ink gives and that of its source
    own, theirs = (FITS * ALLOWED_INK * profile.ink + 1 for profile in (other, one))
    allowed = (own[first:last] + FITS * ALLOWED_LEVELS * one.samples.shape[1]).astype(np.int16)
    sides = (max(0, reach - first), max(0, last + reach - len(one.ink)))
    start = first - reach + sides[0]
    sources = np.pad(one.samples[start:, some].T, ((0, 0), sides))
    missing = np.pad(theirs.astype(np.int16)[start:], sides, constant_values=_NO_LINE)
    count = max(1, AT_ONCE // (last - first))
    for row in range(0, 2 * reach + 1, count):  # the first is that of the largest offset
        rows = slice(row, min(row + count, 2 * reach + 1))
        unlike = -sliding_window_view(missing, last - first)[rows]
        for line, source in zip(lines, sources, strict=True):
            steps = line - sliding_window_view(source, last - first)[rows]
            unlike += np.abs(steps, out=steps)
        places = np.nonzero((unlike < allowed) & moved[first:last])
        yield reach - row - places[0], first + places[1]


def _cost(one: _Profile, other: _Profile, offset: int) -> NDArray[np.float64]:
    """How badly each line after fits the line before at this offset: 0 for equal, 1 for unlike or none."""
    count = len(other.ink)
    cost = np.ones(count)
    start, stop = max(0, offset), min(count, len(one.ink) + offset)
    if start < stop:
        cost[start:stop] = _costs(one, other, slice(start, stop), slice(start - offset, stop - offset))
    return cost


def _costs(one: _Profile, other: _Profile, lines: Places, sources: Places) -> NDArray[np.float64]:
    """How badly some lines after fit as many lines before, from 0 to 1."""
    steps = other.samples[lines] - one.samples[sources]
    distance = np.abs(steps, out=steps).sum(axis=1)
    allowed = ALLOWED_INK * (other.ink[lines] + one.ink[sources]) + ALLOWED_LEVELS * other.samples.shape[1]
    return np.asarray(np.minimum(1.0, distance / allowed))


def _cheapest(costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """The state of each line on the cheapest way, (N, K) -> (N,)."""
    first, *others = costs.tolist()  # few states: NumPy would take longer for a line than Python
    total: list[float] = first
    came: list[list[int]] = []
    for line in others:
        least = min(total)
        cheapest, switched = total.index(least), least + SWITCH
        came.append([state if cost <= switched else cheapest for state, cost in enumerate(total)])
        total = [
            (cost if cost <= switched else switched) + more for cost, more in zip(total, line, strict=True)
        ]
    way = [total.index(min(total))]
    for states in reversed(came):
        way.append(states[way[-1]])
    return np.array(way[::-1], np.intp)
