"""Detection of two objects that exchanged their positions, among moved objects or within one differing
box."""

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
"""The least intersection over union between the old box of one object and the new box of the other."""
SAME = 4.0
"""The largest mean difference, in levels, between two equal parts."""
PARTS = 16
"""The number of bins along a line in which two pictures are compared."""
SMALLEST = 12
"""The least length of an object along the axis, in pixels."""
TOGETHER = 0.7
"""The least fraction of the box that both objects cover together."""
INK = 2.0
"""The least mean difference, in levels, of each object from the background."""


def exchanged(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Replace two objects that moved to each other's position by one change, and return the changes."""
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
    """Return whether two boxes describe the same position."""
    return one is not None and other is not None and iou(one, other) >= SAME_PLACE


def _both(one: DetectedChange, other: DetectedChange) -> DetectedChange:
    """Combine two objects that exchanged their positions into one change with two boxes."""
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
    """Return the finding and the new boxes of the two objects that exchanged the ends of a box, or None.

    Both directions, horizontal and vertical, are tried.
    """
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
    """Return the lines of a part along an axis as mean luminances of ``PARTS`` bins, minus the background's:
    (N, P)."""
    light = luminance(part).astype(np.float32) / UNIT
    ground = np.array(usual_color(part.reshape(-1, 3)), np.uint8)
    light -= float(luminance(ground[None])[0]) / UNIT
    lines = light if axis == 0 else light.T
    starts = np.unique(np.arange(PARTS) * lines.shape[1] // PARTS)
    sums = np.add.reduceat(lines, starts, axis=1)
    return np.asarray(sums / np.diff(np.append(starts, lines.shape[1])), np.float32)


def _exchanged_lengths(one: NDArray[np.float32], other: NDArray[np.float32]) -> tuple[int, int] | None:
    """Return the lengths of two parts that exchanged their order, or None.

    The first length counts the first lines of ``other``, which were the last lines of ``one``. The second
    length counts the last lines of ``other``, which were the first lines of ``one``.
    """
    length = len(one)
    if length < 2 * SMALLEST:
        return None
    first = _longest(other, one)
    second = _longest(one, other)
    if first is None or second is None or first + second > length or first + second < TOGETHER * length:
        return None
    return first, second


def _longest(start: NDArray[np.float32], end: NDArray[np.float32]) -> int | None:
    """Return the largest number of first lines of one part that equal the last lines of another, or None."""
    length = len(start)
    first_fits = np.abs(end - start[0]).mean(axis=1) <= SAME
    for count in range(length - SMALLEST, SMALLEST - 1, -1):
        if not first_fits[length - count]:
            continue
        part = start[:count]
        if np.abs(part - end[length - count :]).mean() <= SAME / 4 and np.abs(part).mean() >= INK:
            return count
    return None
