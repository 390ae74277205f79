"""Boxes with an edge all around, like a menu or a legend, and such a box that moved over other contents."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, box_of, gathered, grown, union
from whatchanged.measured.pixels.layers import far, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding, ink_overlap

SMALLEST = 16
"""The least side of a box in pixels. A smaller one may be a control that took another state."""
DEEP = 6
"""The largest distance in pixels of the box's edge from the first differing pixel: the width of a shadow."""
CORNER = 10
"""The length in pixels of the ends of a side that may be round."""
EVEN, STANDS_OUT = 0.9, 8
"""The least fraction of an edge that has its colour, and the least difference of this colour from what lies
outside, in levels."""
TOGETHER, MOST_CLUSTERS = 6, 6
"""Differences at most this number of pixels apart form one cluster; with more clusters than this, no box is
looked for."""
MOST_ROOM = 1.5
"""The largest ratio of the area around clusters that overlap to their own areas."""
ONE_SIZE = 2
"""The largest difference, in pixels, between the sides of a box before and after it moved."""
STRONG, SAME = 60, 0.85
"""The least difference from the background, in levels, of what a box shows, and the least overlap of what it
shows before and after. What lies behind a legend shines through by a fifth, at most by 51 levels."""


def moved_box(
    before: Pixels, after: Pixels, visible: NDArray[np.bool_]
) -> tuple[DetectedChange, Pixels] | None:
    """Return a box that moved over other contents, and the picture before in which it has moved already; or
    None.

    before, after: (H, W, 3), RGB. visible: (H, W) where they differ visibly.
    """
    clusters = _clusters(visible)
    pairs = ((was, now) for was in clusters for now in clusters if was is not now)
    for was, now in pairs if len(clusters) <= MOST_CLUSTERS else ():
        if not _is_same(before, was, after, now):
            continue
        values = {"dx": now[0] - was[0], "dy": now[1] - was[1]}
        aligned = before.copy()
        for left, top, right, bottom in (was, now):
            aligned[top:bottom, left:right] = after[top:bottom, left:right]
        change = DetectedChange(Finding("moved", "position", 0.7, values), was, now, area(was) + area(now))
        return change, aligned
    return None


def _clusters(visible: NDArray[np.bool_]) -> list[Box]:
    """Return the boxes around differing pixels (H, W) that lie near each other."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    around = box_of(visible)
    if around is None:
        return []
    reach = TOGETHER // 2
    left, top, right, bottom = grown(around, reach, (visible.shape[1], visible.shape[0]))
    part = visible[top:bottom, left:right]
    labels, _ = ndimage.label(enlarged(part, reach, reach), np.ones((3, 3), bool))
    found = ndimage.find_objects(np.where(part, labels, 0))
    boxes = [
        (left + across.start, top + down.start, left + across.stop, top + down.stop)
        for down, across in filter(None, found)
    ]
    return [union([boxes[number] for number in group]) for group in gathered(boxes, 0, MOST_ROOM)]


def _is_same(before: Pixels, was: Box, after: Pixels, now: Box) -> bool:
    """Return whether a box before and one after show the same, over whatever lies behind them."""
    sizes = [(box[2] - box[0], box[3] - box[1]) for box in (was, now)]
    if max(abs(a - b) for a, b in zip(*sizes, strict=True)) > ONE_SIZE:
        return False
    if not is_boxed(before, was) or not is_boxed(after, now):
        return False
    width, height = (min(pair) for pair in zip(*sizes, strict=True))
    parts = [
        picture[box[1] : box[1] + height, box[0] : box[0] + width]
        for picture, box in ((before, was), (after, now))
    ]
    inks = [steps_from(usual_color(part.reshape(-1, 3)), part) > STRONG for part in parts]
    return ink_overlap(*inks) >= SAME


def is_boxed(pixels: Pixels, box: Box) -> bool:
    """Return whether a box has an edge of one colour at each side that stands out from what lies outside."""
    left, top, right, bottom = box
    if min(right - left, bottom - top) < SMALLEST:
        return False
    wide = grown(box, 1, (pixels.shape[1], pixels.shape[0]))
    if wide != (left - 1, top - 1, right + 1, bottom + 1):
        return False  # One of its sides is that of the picture.
    part = pixels[wide[1] : wide[3], wide[0] : wide[2]]
    return all(_has_edge(side[: DEEP + 2]) for side in _from_each_side(part))


def _from_each_side(part: Pixels) -> tuple[Pixels, Pixels, Pixels, Pixels]:
    """Return the lines (N, M, 3) of a part from each of its sides inwards, without the ends of the lines."""
    inner = slice(CORNER, -CORNER)
    down, across = part[:, inner], part[inner].swapaxes(0, 1)
    if not down.shape[1] or not across.shape[1]:
        down, across = part, part.swapaxes(0, 1)
    return down, down[::-1], across, across[::-1]


def _has_edge(lines: Pixels) -> bool:
    """Return whether one of some lines (N, M, 3) has one colour, which stands out from the first line."""
    outside = usual_color(lines[0])
    for line in lines[1:]:
        color = usual_color(line)
        even = (steps_from(color, line[None]) <= STANDS_OUT).mean() >= EVEN
        if even and far(color, outside) > STANDS_OUT:
            return True
    return False
