"""Detection of rows or columns that moved inside a part of the picture."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import UNIT, Planes, blurred, contrast, luminance
from whatchanged.measured.pixels.reading import Pixels

Lines = NDArray[np.int16]
"""(N, S): the rows (or columns) of a part, from first to last, each as S samples of luminance."""

SAMPLE = 4
"""The number of neighbouring pixels of a line that one sample averages."""
FARTHEST = 320
"""The largest offset that is tried."""
COARSE = 32
"""The number of samples of a line during the search for offsets."""
ALLOWED_INK, ALLOWED_LEVELS = 0.15, 2.0
"""The difference at which two lines do not match at all. It is this fraction of the ink of both lines, plus
this many levels a sample."""
CANDIDATES = 6
"""The largest number of candidate offsets."""
SWITCH = 3.0
"""The cost of a change to another offset, in units of one line that does not match."""
NEW = 0.7
"""The cost of a line without a source, in units of one line that does not match."""
FITS = 0.5
"""The cost below which a line matches its source."""
STRIP = 1024
"""The number of rows that are processed at once. It bounds the memory that a long page takes."""
FEW = 2
"""The number of sums of samples of a line that are compared first. They rule out most sources."""
MOST_OFFSETS = 3
"""The least number of different offsets at which lines must keep their order."""
AT_ONCE = 1 << 18
"""The number of combinations of a line and an offset that are compared at once."""
_NO_LINE = -20_000
"""The value of a line outside the picture. It matches no line."""


@dataclass(frozen=True)
class LineRun:
    """The lines ``start`` to ``stop`` after the change, which moved by ``offset`` lines. None: the lines are
    new."""

    start: int
    stop: int
    offset: int | None


@dataclass(frozen=True)
class _Profile:
    """The samples of each line of a part, and the amount of ink of each line."""

    samples: Lines
    ink: NDArray[np.float64]

    def lines(self, chosen: slice | NDArray[np.intp]) -> "_Profile":
        """Return the lines with these indices."""
        if isinstance(chosen, slice):
            return _Profile(self.samples[chosen], self.ink[chosen])
        return _Profile(self.samples.take(chosen, axis=0), self.ink.take(chosen))


def runs_of_lines(before: Pixels, after: Pixels, axis: int) -> list[LineRun]:
    """Return for all lines after the change, in order, from which lines before they come.

    Each line after either comes from a line before at one of a few offsets, or is new. Dynamic programming
    finds the cheapest sequence. Lines without ink match anywhere. If three or more offsets are found, lines
    that break the order become new (``_in_order``).

    axis: 0 for rows, 1 for columns.
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
    """Remove the source of the runs that break the order of the lines before.

    The longest sequence of runs whose sources follow one another keeps its sources. Two different offsets are
    accepted in any order, because two parts may have exchanged their positions. Among three or more offsets,
    a run out of order is a coincidence, as in a list that is drawn in another size.
    """
    sourced = [run for run in runs if run.offset is not None]
    if len({run.offset for run in sourced}) < MOST_OFFSETS:
        return runs
    lengths: list[int] = []  # The number of lines of the longest sequence that ends with each run.
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
    """Return whether the sources of the second run do not begin or end before those of the first run.

    Lines that appear twice after the change may have the same source.
    """
    first, second = one.offset or 0, other.offset or 0
    return one.start - first <= other.start - second and one.stop - first <= other.stop - second


def _profile(pixels: Pixels, axis: int) -> _Profile:
    """Return the lines of blurred luminance, averaged over ``SAMPLE`` pixels along the line."""
    strips = [_strip(pixels, start, axis) for start in range(0, len(pixels), STRIP)]
    samples = np.concatenate([samples for samples, _ in strips], axis=axis)
    inks = [ink for _, ink in strips]
    return _Profile(samples, (np.concatenate(inks) if axis == 0 else np.sum(inks, axis=0)) / SAMPLE)


def _strip(pixels: Pixels, start: int, axis: int) -> tuple[Lines, NDArray[np.int64]]:
    """Return the samples and the ink (times ``SAMPLE``) of the lines in the ``STRIP`` rows from ``start``
    on."""
    stop = min(start + STRIP, len(pixels))
    # The contrast of the strip depends on one more row at each side.
    first, last = max(0, start - 1), stop + 1
    above = max(0, first - 2)  # The blur depends on two more rows at each side.
    light = blurred(luminance(pixels[above : last + 2]))[first - above : last - above] // UNIT
    steps = contrast(light)[start - first : stop - first]
    light = light[start - first : stop - first]
    steps <<= 1
    steps -= 16
    ink = np.maximum(steps, 0, out=steps).sum(axis=1 - axis, dtype=np.int64)
    return _means(light if axis == 0 else light.T), ink


def _means(light: Planes) -> Lines:
    """Return the means of every ``SAMPLE`` values of lines (N, L), rounded down.

    The last mean covers the remaining values.
    """
    whole = light.shape[1] // SAMPLE * SAMPLE
    sums = sum(light[:, k:whole:SAMPLE] for k in range(1, SAMPLE)) + light[:, :whole:SAMPLE]
    rest = light[:, whole:]
    means = [sums // SAMPLE] + ([rest.sum(axis=1, keepdims=True) // rest.shape[1]] if rest.size else [])
    return np.concatenate(means, axis=1).astype(np.int16)


def _coarse(profile: _Profile) -> _Profile:
    """Reduce the lines to at most ``COARSE`` samples, so that many offsets can be tried quickly."""
    count = profile.samples.shape[1]
    if count <= COARSE:
        return profile
    starts = np.arange(COARSE) * count // COARSE
    sums = np.add.reduceat(profile.samples, starts, axis=1, dtype=np.int32)
    return _Profile(
        (sums // np.diff(np.append(starts, count))).astype(np.int16), profile.ink * COARSE / count
    )


def _candidates(one: _Profile, other: _Profile) -> list[int]:
    """Return the offsets at which most of the moved ink matches. The first one is 0."""
    one, other = _coarse(one), _coarse(other)
    unmoved = _cost(one, other, 0)
    if not (unmoved >= FITS).any():
        return [0]
    reach = min(FARTHEST, max(len(other.ink), len(one.ink)) - 1)
    offsets, gains = _gains(one, other, unmoved, reach)
    end = len(other.ink) - len(one.ink)
    best = offsets[np.lexsort((offsets, np.abs(offsets), -gains))][:CANDIDATES].tolist()
    return list(dict.fromkeys([0, *([end] if abs(end) <= reach else []), *best]))


def _gains(
    one: _Profile, other: _Profile, unmoved: NDArray[np.float64], reach: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return each offset up to ``reach`` at which moved lines match, and the amount of ink that they carry.

    unmoved: the cost of each line after at offset 0.
    """
    found: list[NDArray[np.intp]] = [np.zeros(0, np.intp)]
    gains: list[NDArray[np.float64]] = [np.zeros(0)]
    moved = (unmoved >= FITS) & (other.ink > 0)
    for offsets, lines in _perhaps_fitting(one, other, moved, reach):
        cost = _costs(one.lines(lines - offsets), other.lines(lines))
        gain = other.ink[lines] * (unmoved[lines] - cost)
        fits = np.flatnonzero((cost < FITS) & (offsets != 0))
        offsets, gain = offsets[fits], gain[fits]
        starts = np.flatnonzero(np.diff(offsets, prepend=np.iinfo(np.int64).max))
        if len(starts):
            found.append(offsets[starts])
            gains.append(np.add.reduceat(gain, starts))
    return np.concatenate(found), np.concatenate(gains)


def _perhaps_fitting(
    one: _Profile, other: _Profile, moved: NDArray[np.bool_], reach: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield offsets and moved lines that may match according to sums of their samples.

    Such sums do not differ more than the samples. All lines of one offset are yielded together and in order.
    No matching line is left out.
    """
    if not moved.any():
        return
    first, last = int(np.flatnonzero(moved)[0]), int(np.flatnonzero(moved)[-1]) + 1
    lines = _few_sums(other.samples[first:last])
    # The allowed difference of a line depends on its own ink and on the ink of its source.
    own, theirs = (FITS * ALLOWED_INK * profile.ink + 1 for profile in (other, one))
    allowed = (own[first:last] + FITS * ALLOWED_LEVELS * one.samples.shape[1]).astype(np.int16)
    sides = (max(0, reach - first), max(0, last + reach - len(one.ink)))
    start = first - reach + sides[0]
    sources = np.pad(_few_sums(one.samples[start:]), ((0, 0), sides))
    missing = np.pad(theirs.astype(np.int16)[start:], sides, constant_values=_NO_LINE)
    count = max(1, AT_ONCE // (last - first))
    for row in range(0, 2 * reach + 1, count):  # The first row belongs to the largest offset.
        rows = slice(row, min(row + count, 2 * reach + 1))
        unlike = -sliding_window_view(missing, last - first)[rows]
        for line, source in zip(lines, sources, strict=True):
            steps = line - sliding_window_view(source, last - first)[rows]
            unlike += np.abs(steps, out=steps)
        places = np.nonzero((unlike < allowed) & moved[first:last])
        yield reach - row - places[0], first + places[1]


def _few_sums(samples: Lines) -> NDArray[np.int16]:
    """Return at most ``FEW`` sums of neighbouring samples of each line: (N, S) -> (sums, N)."""
    starts = np.arange(0, samples.shape[1], -(-samples.shape[1] // FEW))
    return np.ascontiguousarray(np.add.reduceat(samples, starts, axis=1).T)


def _cost(one: _Profile, other: _Profile, offset: int) -> NDArray[np.float64]:
    """Return the cost of each line after at this offset: 0 for equal lines, 1 for unlike lines or no
    source."""
    count = len(other.ink)
    cost = np.ones(count)
    start, stop = max(0, offset), min(count, len(one.ink) + offset)
    if start < stop:
        cost[start:stop] = _costs(
            one.lines(slice(start - offset, stop - offset)), other.lines(slice(start, stop))
        )
    return cost


def _costs(sources: _Profile, lines: _Profile) -> NDArray[np.float64]:
    """Return the cost, from 0 to 1, of matching each line after with its source line before."""
    steps = lines.samples - sources.samples
    distance = np.abs(steps, out=steps).sum(axis=1, dtype=np.int32)
    allowed = ALLOWED_INK * (lines.ink + sources.ink) + ALLOWED_LEVELS * lines.samples.shape[1]
    return np.asarray(np.minimum(1.0, distance / allowed))


def _cheapest(costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the state of each line on the cheapest path: costs (N, K) -> states (N,)."""
    first, *others = costs.tolist()  # Plain Python is faster than NumPy here, because there are few states.
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
