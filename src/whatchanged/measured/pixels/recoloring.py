"""Detection of exchanged colours: the shapes stay, and each colour becomes another one everywhere.

Text, borders and fills that change their colour follow one mapping of levels: all pixels with the same level
before have the same level after. Redrawn text does not follow such a mapping, because one level before
becomes many levels after.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import colors_in
from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

REACH = 3
"""Differing pixels up to twice this number of pixels apart belong to the same cluster."""
MOST = 48
"""The number of clusters that are examined, starting with the largest."""
LEAST_PIXELS = 12
"""The least number of pixels in a cluster."""
RESIDUE = 0.03
"""The largest fraction of the squared differences that the mapping of levels may leave unexplained."""
KEPT = 0.4
"""The least change of the background or of the level farthest from it, as a fraction of the largest change.

If only the levels between them change, the text was drawn with another contrast.
"""
AGAINST = 0.3
"""The largest change in the opposite direction, as a fraction of the largest change.

All levels of a recoloured cluster become darker, or all become lighter. A line that moved by a fraction of a
pixel becomes darker at one side and lighter at the other.
"""

Levels = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Recoloring:
    """A cluster whose colours were exchanged.

    box     the bounding box of the cluster
    pixels  the number of differing pixels
    step    the change, in levels, of the background or of the level farthest from it
    even    whether the cluster is broad like a fill, unlike text and borders
    """

    box: Box
    pixels: int
    step: float
    even: bool


@dataclass(frozen=True)
class _Exchange:
    """The mapping of the levels of one channel.

    before, after  (K,) pairs of levels
    counts         (K,) the number of pixels with each pair
    """

    before: Levels
    after: Levels
    counts: Levels


def find_recolorings(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> Iterator[Recoloring]:
    """Yield the clusters of differences whose colours were exchanged, the largest first."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    labels, count = ndimage.label(enlarged(differs, REACH, REACH), np.ones((3, 3), bool))
    sizes = np.bincount(labels[differs], minlength=count + 1)
    parts = ndimage.find_objects(labels)
    for label in np.argsort(-sizes, kind="stable")[:MOST].tolist():
        if sizes[label] < LEAST_PIXELS:
            return
        rows, columns = parts[label - 1]
        # The cluster includes the unchanged pixels around it, which the mapping must leave unchanged.
        own = labels[rows, columns] == label
        step = _step(*(colors_in(picture[rows, columns], own) for picture in (before, after)))
        if step:
            changed = own & differs[rows, columns]
            inner = changed & ~enlarged(~changed, 1, 1)
            even = bool(3 * np.count_nonzero(inner) > np.count_nonzero(changed))
            box = (columns.start, rows.start, columns.stop, rows.stop)
            yield Recoloring(box, int(sizes[label]), step, even)


def _step(before: Pixels, after: Pixels) -> float:
    """Return the largest change at the background or at the level farthest from it: (N, 3), (N, 3) -> levels.

    The result is 0 if colours were not exchanged, or if only levels between these two changed.
    """
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
    """Return the mapping of the levels of one channel: (N,) before, (N,) after."""
    counts = np.bincount((before.astype(np.int32) << 8) | after, minlength=1 << 16)
    both = np.flatnonzero(counts)
    return _Exchange(both >> 8, both & 255, counts[both])


def _explained(one: _Exchange) -> bool:
    """Return whether the level before determines the level after, and the other way round."""
    return (
        _residue(one.before, one.after, one.counts) <= RESIDUE
        and _residue(one.after, one.before, one.counts) <= RESIDUE
    )


def _residue(keys: Levels, values: Levels, each: Levels) -> float:
    """Return the variance of the values of each key, as a fraction of the squared differences between keys
    and values.

    Keys that occur once are left out, because they always explain themselves.

    each: the number of pixels of each pair of a key and a value.
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
