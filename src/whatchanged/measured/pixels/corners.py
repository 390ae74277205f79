"""Corners that were rounded otherwise: the same few pixels, mirrored, at both ends of a straight edge."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.straight import is_edge
from whatchanged.measured.result import Box

FAINT = 3
"""Levels from which on a pixel differs."""
SMALLEST, LARGEST = 1, 64
"""Pixels of a side of a corner."""
MOST = 400
"""Clusters at most: where there are more, all that is drawn was drawn anew."""
EDGE = 8
"""Pixels beside a corner along which the edge that leads to it is straight and unchanged."""
UNLIKE = 0.35
"""The part of both corners' differences by which they may differ when one is mirrored."""
WHOLE = 0.3
"""The largest step of a corner, as a part of the contrast there: an arc drawn anew has fainter ones."""
RADIUS = 3.1
"""Pixels of radius for each whole pixel of a corner's area, over the corner's side."""

Signed = NDArray[np.int32]


@dataclass(frozen=True)
class Corner:
    """One corner: its box and about how many pixels its radius changed by."""

    box: Box
    radius: float


@dataclass(frozen=True, eq=False)
class _Cluster:
    """A small cluster of differences, (h, w), signed, summed over channels; beside: the sides, of left, top,
    right and bottom, at which a straight edge begins."""

    box: Box
    differences: Signed
    beside: tuple[bool, bool, bool, bool]
    radius: float


def find_corners(before: Pixels, after: Pixels, step: NDArray[np.uint8]) -> list[Corner]:
    """Corners that have their like, mirrored, at the other end of an edge."""
    clusters = list(_clusters(before, after, step))
    if len(clusters) < 2:
        return []
    rows: dict[tuple[int, int], list[_Cluster]] = {}
    columns: dict[tuple[int, int], list[_Cluster]] = {}
    for one in clusters:
        left, top, right, bottom = one.box
        rows.setdefault((top, bottom), []).append(one)
        columns.setdefault((left, right), []).append(one)
    found = [*_mirrored(rows.values(), 0), *_mirrored(columns.values(), 1)]
    return [Corner(one.box, one.radius) for one in dict.fromkeys(found)]


def _mirrored(lines: Iterable[list[_Cluster]], axis: int) -> Iterator[_Cluster]:
    """Neighbours along rows (axis 0) or columns (axis 1) that are mirror images with an edge between."""
    for line in lines:
        ordered = sorted(line, key=lambda one: one.box[axis])
        for one, other in pairwise(ordered):
            if one.beside[axis + 2] and other.beside[axis] and _alike(one, other, axis):
                yield one
                yield other


def _alike(one: _Cluster, other: _Cluster, axis: int) -> bool:
    mirrored = np.flip(other.differences, 1 - axis)
    if mirrored.shape != one.differences.shape:
        return False
    rest = np.abs(one.differences - mirrored).sum()
    return bool(rest <= UNLIKE * (np.abs(one.differences).sum() + np.abs(mirrored).sum()))


def _clusters(before: Pixels, after: Pixels, step: NDArray[np.uint8]) -> Iterator[_Cluster]:
    """Clusters of the size of a corner beside which an edge begins."""
    from scipy import ndimage  # slow to import

    differs = step >= FAINT
    labels, count = ndimage.label(enlarged(differs, 1, 1), np.ones((3, 3), bool))
    if not 2 <= count <= MOST:
        return
    for label, (rows, columns) in enumerate(ndimage.find_objects(np.where(differs, labels, 0)), 1):
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if not (SMALLEST <= height <= LARGEST and SMALLEST <= width <= LARGEST):
            continue
        box = (columns.start, rows.start, columns.stop, rows.stop)
        beside = _edges(before, after, box)
        if not any(beside):
            continue
        own = labels[rows, columns] == label
        was, now = (picture[rows, columns].astype(np.int32) for picture in (before, after))
        differences = (now - was).sum(axis=2) * own
        around = _around(before, after, box)
        contrast = int(np.ptp(around.reshape(-1, 3).astype(np.int16), axis=0).max())
        strongest = int(step[rows, columns].max())
        if strongest < WHOLE * contrast:
            continue
        area = float(np.abs(differences).sum() / np.abs(differences).max())
        yield _Cluster(box, differences, beside, RADIUS * area / max(height, width, 2))


def _around(before: Pixels, after: Pixels, box: Box) -> Pixels:
    """The pixels of a box and those next to it, of both pictures."""
    left, top, right, bottom = box
    part = (slice(max(0, top - 2), bottom + 2), slice(max(0, left - 2), right + 2))
    return np.stack([before[part], after[part]])


def _edges(before: Pixels, after: Pixels, box: Box) -> tuple[bool, bool, bool, bool]:
    """At which sides of a box, left, top, right, bottom, a straight edge that did not change begins."""
    left, top, right, bottom = box
    height, width = before.shape[:2]
    rows, columns = slice(max(0, top - 1), bottom + 1), slice(max(0, left - 1), right + 1)
    parts = (
        (left >= EDGE, (rows, slice(left - EDGE, left)), 1),
        (top >= EDGE, (slice(top - EDGE, top), columns), 0),
        (right + EDGE <= width, (rows, slice(right, right + EDGE)), 1),
        (bottom + EDGE <= height, (slice(bottom, bottom + EDGE), columns), 0),
    )
    first, second, third, fourth = (
        inside and is_edge(before[part], after[part], axis) for inside, part, axis in parts
    )
    return first, second, third, fourth
