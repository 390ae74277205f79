"""Colours that were exchanged: what is drawn stays, and each colour became another one everywhere.

Text, borders and fills that change their colour do so pixel by pixel in one way: wherever a level stood
before, one and the same level stands after. Text that is drawn anew does not: a level becomes many.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

REACH = 3
"""Differences up to twice this many pixels apart belong together."""
MOST = 48
"""Clusters that are looked at, the largest."""
LEAST_PIXELS = 12
"""Pixels of a cluster at least."""
RESIDUE = 0.03
"""The share of the squared differences, at most, that the levels alone do not explain."""
KEPT = 0.4
"""The step at the ground or at the level farthest from it is at least this part of the largest one: where
only levels between them change, text was drawn with another contrast."""
AGAINST = 0.3
"""Levels become darker or lighter, all of them: steps the other way are at most this part of the largest. A
line that lies a part of a pixel elsewhere is darker at one side and lighter at the other."""

Levels = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Recoloring:
    """A cluster whose colours were exchanged: its box, its pixels, and the step at one of its ends.

    even: whether it is broad, as a fill is and text and borders are not.
    """

    box: Box
    pixels: int
    step: float
    even: bool


@dataclass(frozen=True)
class _Exchange:
    """Which levels of a channel became which: levels before and after, (K,) each, and in how many pixels."""

    before: Levels
    after: Levels
    counts: Levels


def find_recolorings(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> Iterator[Recoloring]:
    """The clusters of differences whose colours were exchanged, the largest first."""
    from scipy import ndimage  # slow to import

    labels, count = ndimage.label(enlarged(differs, REACH, REACH), np.ones((3, 3), bool))
    sizes = np.bincount(labels[differs], minlength=count + 1)
    parts = ndimage.find_objects(labels)
    for label in np.argsort(-sizes, kind="stable")[:MOST].tolist():
        if sizes[label] < LEAST_PIXELS:
            return
        rows, columns = parts[label - 1]
        own = labels[rows, columns] == label  # with what did not change around: it has to stay as it is
        step = _step(before[rows, columns][own], after[rows, columns][own])
        if step:
            changed = own & differs[rows, columns]
            inner = changed & ~enlarged(~changed, 1, 1)
            even = bool(3 * np.count_nonzero(inner) > np.count_nonzero(changed))
            box = (columns.start, rows.start, columns.stop, rows.stop)
            yield Recoloring(box, int(sizes[label]), step, even)


def _step(before: Pixels, after: Pixels) -> float:
    """The largest step, (N, 3) to (N, 3), at the ground or at what is farthest from it; 0 where colours were
    not exchanged, or only those between."""
    exchanges = [_exchanged(before[:, k], after[:, k]) for k in range(3)]
    squares = [int((one.counts * (one.after - one.before) ** 2).sum()) for one in exchanges]
    channel = int(np.argmax(squares))
    others = [k for k in range(3) if k != channel and squares[k] > 0.1 * squares[channel]]
    if not all(_explained(exchanges[k]) for k in (channel, *others)):
        return 0.0
    one = exchanges[channel]
    counts = np.bincount(one.before, one.counts)
    sums = np.bincount(one.before, one.counts * (one.after - one.before))
    known = np.flatnonzero(counts >= 2)
    if not len(known):
        return 0.0
    steps = sums[known] / counts[known]
    largest = float(np.abs(steps).max())
    if min(steps.max(), -steps.min()) > AGAINST * largest:
        return 0.0
    ground = int(counts[known].argmax())
    farthest = int(np.abs(known - known[ground]).argmax())
    step = float(max(abs(steps[ground]), abs(steps[farthest])))
    return step if step >= KEPT * largest else 0.0


def _exchanged(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> _Exchange:
    """The levels of one channel, (N,) before and (N,) after."""
    counts = np.bincount((before.astype(np.int32) << 8) | after, minlength=1 << 16)
    both = np.flatnonzero(counts)
    return _Exchange(both >> 8, both & 255, counts[both])


def _explained(one: _Exchange) -> bool:
    """Whether a level before tells the level after, and the other way round."""
    return (
        _residue(one.before, one.after, one.counts) <= RESIDUE
        and _residue(one.after, one.before, one.counts) <= RESIDUE
    )


def _residue(keys: Levels, values: Levels, each: Levels) -> float:
    """The squared differences from the mean of each key, as a part of those between keys and values.

    Keys that occur once are left out, as they explain themselves. each: how often a key has a value.
    """
    counts = np.bincount(keys, each)
    often = counts >= 2
    sums, squares = np.bincount(keys, each * values)[often], np.bincount(keys, each * values**2)[often]
    moved = np.bincount(keys, each * (values - keys) ** 2)[often].sum()
    if not moved:
        return 0.0 if not often.any() else float("inf") if (values != keys).any() else 0.0
    counts = counts[often]
    spread = (squares - sums**2 / counts) * counts / (counts - 1)
    return float(spread.sum() / moved)
