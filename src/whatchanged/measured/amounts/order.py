"""Two things that stand in each other's place: found among what moved, and within one part that differs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import iou, union
from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.planes import UNIT, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

SAME_PLACE = 0.5
"""Overlap (IoU) of where one thing was with where the other one is."""
SAME = 4.0
"""Mean levels up to which two parts are the same."""
PARTS = 16
"""Parts of a line in which two pictures are compared."""
SMALLEST = 12
"""Pixels of a thing along the way at least."""
TOGETHER = 0.7
"""Part of what differs that both things cover at least."""
INK = 2.0
"""Mean levels by which each of them stands out from the ground at least."""


def exchanged(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """The changes, with two things that moved to each other's place as one that says so."""
    results = list(changes)
    moved = [one for one in changes if one.finding.kind == "moved" and one.box_before and one.box_after]
    for index, one in enumerate(moved):
        for other in moved[index + 1 :]:
            if one not in results or other not in results:
                continue
            if _overlap(one.box_before, other.box_after) and _overlap(one.box_after, other.box_before):
                results = [each for each in results if each is not one and each is not other]
                results.append(_both(one, other))
    return results


def _overlap(one: Box | None, other: Box | None) -> bool:
    """Whether two boxes stand for one place."""
    return one is not None and other is not None and iou(one, other) >= SAME_PLACE


def _both(one: DetectedChange, other: DetectedChange) -> DetectedChange:
    """Two things that changed places as one change with a box each."""
    before = [box for each in (one, other) if (box := each.box_before)]
    after = [box for each in (one, other) if (box := each.box_after)]
    return replace(
        one,
        finding=Finding("moved", "order", 0.7),
        box_before=union(before),
        box_after=union(after),
        pixels=one.pixels + other.pixels,
        cause=one.cause or other.cause,
        boxes=tuple(after),
    )


def order_change(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, tuple[Box, Box]] | None:
    """Whether what stands at both ends of a box was exchanged, across or downwards: the finding and where
    they stand now; else None."""
    left, top, right, bottom = box
    one, other = (picture[top:bottom, left:right] for picture in (before, after))
    for axis in (1, 0):
        lengths = _exchanged_lengths(*(_profile(part, axis) for part in (one, other)))
        if lengths is None:
            continue
        first, second = lengths
        if axis == 1:
            boxes = (left, top, left + first, bottom), (right - second, top, right, bottom)
        else:
            boxes = (left, top, right, top + first), (left, bottom - second, right, bottom)
        return Finding("moved", "order", 0.7), boxes
    return None


def _profile(part: Pixels, axis: int) -> NDArray[np.float32]:
    """The lines of a part along an axis as the mean luminance of ``PARTS`` parts each, less the ground's:
    (N, P)."""
    light = luminance(part).astype(np.float32) / UNIT
    ground = np.array(usual_color(part.reshape(-1, 3)), np.uint8)
    light -= float(luminance(ground[None])[0]) / UNIT
    lines = light if axis == 0 else light.T
    starts = np.unique(np.arange(PARTS) * lines.shape[1] // PARTS)
    sums = np.add.reduceat(lines, starts, axis=1)
    return np.asarray(sums / np.diff(np.append(starts, lines.shape[1])), np.float32)


def _exchanged_lengths(one: NDArray[np.float32], other: NDArray[np.float32]) -> tuple[int, int] | None:
    """How many of the first lines after were the last ones before, and of the last ones the first."""
    length = len(one)
    if length < 2 * SMALLEST:
        return None
    first = _longest(other, one)
    second = _longest(one, other)
    if first is None or second is None or first + second > length or first + second < TOGETHER * length:
        return None
    return first, second


def _longest(start: NDArray[np.float32], end: NDArray[np.float32]) -> int | None:
    """How many of the first lines of one part are the last lines of another one, at most; None where none
    are."""
    length = len(start)
    for count in range(length - SMALLEST, SMALLEST - 1, -1):
        part = start[:count]
        if np.abs(part - end[length - count :]).mean() <= SAME / 4 and np.abs(part).mean() >= INK:
            return count
    return None
