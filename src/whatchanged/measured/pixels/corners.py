"""Detection of corners whose radius changed.

A changed corner is found because a straight edge has such a corner at both ends, and their differences are
mirror images of each other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of, grown, union
from whatchanged.measured.pixels.planes import enlarged
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.straight import is_edge
from whatchanged.measured.result import Box

FAINT = 3
"""The least difference, in levels, at which a pixel counts as different."""
SMALLEST, LARGEST = 1, 64
"""The smallest and the largest side of a corner, in pixels."""
MOST = 400
"""The largest number of clusters. A picture with more of them was redrawn entirely."""
EDGE = 8
"""The length in pixels of the straight, unchanged edge that must lead to a corner."""
STRIP = 6
"""The number of lines of pixels at the end of a large corner in which an edge is looked for."""
ARC_END, LARGE_ARC = 3, 4
"""The length in pixels of the end of an arc in which it differs too little to belong to the corner, and the
least side of a corner that has such an end."""
OUTWARD = 0.04
"""The least distance of the centre of a corner's differences from the centre of its box, as a fraction of
each side. The handle of a frame is not nearer to the outer corner."""
LENGTHY = 1.6
"""The least ratio of the sides of a cluster of two corners."""
OUTSIDE = 2
"""The distance in pixels from a corner at which the colour outside is read."""
UNLIKE = 0.35
"""The largest difference between one corner and the mirrored other one, as a fraction of both corners' summed
differences."""
WHOLE = 0.3
"""The least value of a corner's largest difference, as a fraction of the contrast around it.

An arc that was merely redrawn has smaller differences.
"""
RADIUS = 3.1
"""The factor from a corner's changed area, divided by the corner's side, to its change of radius in
pixels."""

Signed = NDArray[np.int32]


@dataclass(frozen=True)
class Corner:
    """One corner: its bounding box and its approximate change of radius in pixels."""

    box: Box
    radius: float


@dataclass(frozen=True, eq=False)
class _Cluster:
    """A small cluster of differences.

    differences  (h, w) signed differences, summed over the channels
    beside       whether a straight edge begins at the left, top, right and bottom side
    radius       the approximate change of radius in pixels
    """

    box: Box
    differences: Signed
    beside: tuple[bool, bool, bool, bool]
    radius: float

    @property
    def centre(self) -> tuple[float, float]:
        """The distance of the centre of the differences from the centre of the box, down and across, as
        fractions of its sides."""
        sums = (np.abs(self.differences).sum(axis=1 - axis) for axis in (0, 1))
        down, across = (float(np.average(np.arange(len(one)), weights=one) + 0.5) / len(one) for one in sums)
        return down - 0.5, across - 0.5


def find_corners(before: Pixels, after: Pixels, step: NDArray[np.uint8]) -> list[Corner]:
    """Return the corners that have a mirrored counterpart at the other end of an edge.

    step: (H, W) the difference of each pixel in levels.
    """
    pairs = _mirrored_pairs(before, after, step)
    return [Corner(one.box, one.radius) for one in dict.fromkeys(one for pair in pairs for one in pair)]


def cornered_boxes(before: Pixels, after: Pixels, step: NDArray[np.uint8]) -> list[tuple[Box, bool]]:
    """Return the boxes whose corners changed, and whether they became rounder, if nothing else changed; else
    an empty list.

    step: (H, W) the difference of each pixel in levels.
    """
    rest = step >= FAINT
    things: list[set[_Cluster]] = []
    for pair in _mirrored_pairs(before, after, step, only=True):
        joined = [thing for thing in things if thing & set(pair)]
        things = [thing for thing in things if thing not in joined]
        things.append(set(pair).union(*joined))
    for one in (one for thing in things for one in thing):
        rest[one.box[1] : one.box[3], one.box[0] : one.box[2]] = False
    outward = all(min(map(abs, one.centre)) >= OUTWARD for thing in things for one in thing)
    if not outward or rest.any():
        return []
    return [(box, _became_rounder(before, after, box)) for box in _whole_boxes(things)]


def _became_rounder(before: Pixels, after: Pixels, box: Box) -> bool:
    """Return whether what is drawn at the corners of a box keeps farther away from them in the picture
    after."""
    left, top, right, bottom = grown(box, OUTSIDE, (after.shape[1], after.shape[0]))
    side = min(LARGEST, (right - left + 1) // 2, (bottom - top + 1) // 2)
    away = np.add.outer(np.arange(side), np.arange(side))  # from the corner, in pixels
    means = []
    for picture in (before, after):
        part = picture[top:bottom, left:right]
        corners = (part, part[::-1], part[:, ::-1], part[::-1, ::-1])
        inks = np.sum([_differs_from_outside(corner[:side, :side]) for corner in corners], axis=0)
        means.append(float((away * inks).sum() / max(1.0, inks.sum())))
    return means[1] > means[0]


def _differs_from_outside(corner: Pixels) -> NDArray[np.float64]:
    """Return by how much each pixel of a corner (n, n, 3) differs from its outermost one."""
    return np.asarray(np.abs(corner.astype(np.float64) - corner[0, 0]).max(axis=2))


def _whole_boxes(things: Sequence[set[_Cluster]]) -> list[Box]:
    """Return the boxes around groups of corners. Two upper corners and the lower ones below them are one
    thing, though they may be drawn too differently to be mirror images."""
    results: list[Box] = []
    above: dict[tuple[int, int], int] = {}
    for thing in sorted(things, key=lambda thing: min(one.box[1] for one in thing)):
        box = union([one.box for one in thing])
        upper = {one.centre[0] < 0 for one in thing}
        start = above.pop((box[0], box[2]), None)
        if start is not None and upper == {False}:
            results[start] = union([results[start], box])
            continue
        if upper == {True}:
            above[box[0], box[2]] = len(results)
        results.append(box)
    return results


def _mirrored_pairs(
    before: Pixels, after: Pixels, step: NDArray[np.uint8], only: bool = False
) -> list[tuple[_Cluster, _Cluster]]:
    """Return pairs of corners that are mirror images of each other at the two ends of an edge.

    only: whether the search may end at the first difference that is no corner.
    """
    clusters = list(_clusters(before, after, step, only))
    if len(clusters) < 2:
        return []
    rows: dict[tuple[int, int], list[_Cluster]] = {}
    columns: dict[tuple[int, int], list[_Cluster]] = {}
    for one in clusters:
        left, top, right, bottom = one.box
        rows.setdefault((top, bottom), []).append(one)
        columns.setdefault((left, right), []).append(one)
    return [*_mirrored(rows.values(), 0), *_mirrored(columns.values(), 1)]


def _mirrored(lines: Iterable[list[_Cluster]], axis: int) -> Iterator[tuple[_Cluster, _Cluster]]:
    """Yield neighbours along rows (axis 0) or columns (axis 1) that are mirror images joined by an edge."""
    for line in lines:
        ordered = sorted(line, key=lambda one: one.box[axis])
        for one, other in pairwise(ordered):
            if one.beside[axis + 2] and other.beside[axis] and _alike(one, other, axis):
                yield one, other


def _alike(one: _Cluster, other: _Cluster, axis: int) -> bool:
    mirrored = np.flip(other.differences, 1 - axis)
    if mirrored.shape != one.differences.shape:
        return False
    rest = np.abs(one.differences - mirrored).sum()
    return bool(rest <= UNLIKE * (np.abs(one.differences).sum() + np.abs(mirrored).sum()))


def _clusters(
    before: Pixels, after: Pixels, step: NDArray[np.uint8], only: bool = False
) -> Iterator[_Cluster]:
    """Yield the clusters that have the size of a corner and begin a straight edge on some side.

    only: whether to end at the first cluster that is none of these.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    differs = step >= FAINT
    around = box_of(differs)
    if around is None:
        return
    left, top, right, bottom = grown(around, 1, (step.shape[1], step.shape[0]))
    differs = differs[top:bottom, left:right]
    labels, count = ndimage.label(enlarged(differs, 1, 1), np.ones((3, 3), bool))
    if not 2 <= count <= MOST:
        return
    for label, (rows, columns) in enumerate(ndimage.find_objects(np.where(differs, labels, 0)), 1):
        box = (left + columns.start, top + rows.start, left + columns.stop, top + rows.stop)
        own = labels[rows, columns] == label
        found = [
            _cluster(
                before,
                after,
                step,
                (box[0] + x, box[1] + y, box[0] + x + part.shape[1], box[1] + y + part.shape[0]),
                part,
            )
            for x, y, part in _halves(own)
        ]
        yield from (one for one in found if one is not None)
        if only and None in found:
            return


def _halves(own: NDArray[np.bool_]) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
    """Yield both halves of a long symmetric cluster (h, w), each with its position in it, or a single part.

    Two corners that touch are such a cluster: those of neighbouring buttons, or of the end of a low box.
    """
    height, width = own.shape
    for axis, long, short in ((0, height, width), (1, width, height)):
        mirrored = np.flip(own, axis)
        if long >= LENGTHY * short and np.count_nonzero(own != mirrored) <= UNLIKE * np.count_nonzero(own):
            first, second = np.array_split(own, 2, axis=axis)
            yield 0, 0, first
            yield (0, first.shape[0], second) if axis == 0 else (first.shape[1], 0, second)
            return
    yield 0, 0, own


def _cluster(
    before: Pixels, after: Pixels, step: NDArray[np.uint8], box: Box, own: NDArray[np.bool_]
) -> _Cluster | None:
    """Return the cluster in a box, or None if it is not like a corner.

    own: (h, w) the pixels of the box that belong to it.
    """
    height, width = own.shape
    if not (SMALLEST <= height <= LARGEST and SMALLEST <= width <= LARGEST):
        return None
    beside = _edges(before, after, box)
    if not any(beside):
        return None
    part = slice(box[1], box[3]), slice(box[0], box[2])
    was, now = (picture[part].astype(np.int32) for picture in (before, after))
    differences = (now - was).sum(axis=2) * own
    around = _around(before, after, box)
    contrast = int(np.ptp(around.reshape(-1, 3).astype(np.int16), axis=0).max())
    if int(step[part].max()) < WHOLE * contrast:
        return None
    area = float(np.abs(differences).sum() / np.abs(differences).max())
    return _Cluster(box, differences, beside, RADIUS * area / max(height, width, 2))


def _around(before: Pixels, after: Pixels, box: Box) -> Pixels:
    """Return the pixels of a box and a margin of 2 pixels, from both pictures: (2, h, w, 3)."""
    left, top, right, bottom = box
    part = (slice(max(0, top - 2), bottom + 2), slice(max(0, left - 2), right + 2))
    return np.stack([before[part], after[part]])


def _edges(before: Pixels, after: Pixels, box: Box) -> tuple[bool, bool, bool, bool]:
    """Return at which sides of a box (left, top, right, bottom) a straight, unchanged edge begins.

    Of a large arc, it may begin beyond the end, whose pixels differ by a level only.
    """
    near = _edges_from(before, after, box, 0)
    if min(box[2] - box[0], box[3] - box[1]) < LARGE_ARC:
        return near
    beyond = _edges_from(before, after, box, ARC_END)
    return near[0] or beyond[0], near[1] or beyond[1], near[2] or beyond[2], near[3] or beyond[3]


def _edges_from(before: Pixels, after: Pixels, box: Box, start: int) -> tuple[bool, bool, bool, bool]:
    """Return at which sides an edge leads on, from so many pixels beyond the box."""
    left, top, right, bottom = box
    height, width = before.shape[:2]
    rows, columns = slice(max(0, top - 1), bottom + 1), slice(max(0, left - 1), right + 1)
    reach = start + EDGE
    along_rows = [(part, slice(left - reach, left - start)) for part in _ends(rows)]
    along_columns = [(slice(top - reach, top - start), part) for part in _ends(columns)]
    beyond_rows = [(part, slice(right + start, right + reach)) for part in _ends(rows)]
    beyond_columns = [(slice(bottom + start, bottom + reach), part) for part in _ends(columns)]
    sides = (
        (left >= reach, along_rows, 1),
        (top >= reach, along_columns, 0),
        (right + reach <= width, beyond_rows, 1),
        (bottom + reach <= height, beyond_columns, 0),
    )
    first, second, third, fourth = (
        inside and any(is_edge(before[part], after[part], axis) for part in parts)
        for inside, parts, axis in sides
    )
    return first, second, third, fourth


def _ends(lines: slice) -> list[slice]:
    """Return some lines at both ends, of which one contains the edge: text may stand beside the rest."""
    if lines.stop - lines.start <= 2 * STRIP:
        return [lines]
    return [slice(lines.start, lines.start + STRIP), slice(lines.stop - STRIP, lines.stop)]
