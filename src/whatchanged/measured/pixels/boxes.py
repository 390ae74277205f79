"""Operations on bounding boxes: bounding a mask, uniting, merging, growing, overlap and distance.

A box is (left, top, right, bottom) in pixels; right and bottom are exclusive.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.result import Box


def covered_share(boxes: Sequence[Box], size: tuple[int, int]) -> float:
    """Return the fraction of a picture that lies in at least one of the boxes.

    size: the width and the height of the picture.
    """
    width, height = size
    inside = [(max(0, box[0]), max(0, box[1]), min(width, box[2]), min(height, box[3])) for box in boxes]
    inside = [box for box in inside if box[0] < box[2] and box[1] < box[3]]
    if not inside:
        return 0.0
    across, down = (sorted({side for box in inside for side in box[axis::2]}) for axis in (0, 1))
    grid = np.zeros((len(down) - 1, len(across) - 1), bool)
    for left, top, right, bottom in inside:
        grid[down.index(top) : down.index(bottom), across.index(left) : across.index(right)] = True
    return float(np.diff(down) @ grid @ np.diff(across)) / (width * height)


def area(box: Box) -> int:
    """Return the number of pixels in a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def box_of(mask: NDArray[np.bool_], left: int = 0, top: int = 0) -> Box | None:
    """Return the bounding box of the True pixels of a mask (H, W), or None if no pixel is True.

    left, top: the position of the mask's upper left corner in the picture.
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1


def union(boxes: Sequence[Box]) -> Box:
    """Return the smallest box that contains all the boxes."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def lies_in(box: Box, shape: tuple[int, ...]) -> bool:
    """Return whether a box lies inside a picture with this array shape (height, width, ...)."""
    return box[2] <= shape[1] and box[3] <= shape[0]


def grown(box: Box, by: int, size: tuple[int, int]) -> Box:
    """Return the box enlarged by ``by`` pixels on each side, clipped to a picture of this (width, height)."""
    left, top, right, bottom = box
    return max(0, left - by), max(0, top - by), min(size[0], right + by), min(size[1], bottom + by)


def bands(boxes: Sequence[Box], axis: int) -> list[Box]:
    """Merge the boxes whose rows (axis 0) or columns (axis 1) overlap, and return the merged boxes."""
    low, high = (1, 3) if axis == 0 else (0, 2)
    merged: list[Box] = []
    for box in sorted(boxes, key=lambda one: (one[low], one)):
        if merged and box[low] < merged[-1][high]:
            merged[-1] = union([merged[-1], box])
        else:
            merged.append(box)
    return merged


def gap(one: Box, other: Box) -> int:
    """Return the distance between two boxes in pixels.

    The distance is the larger one of the horizontal and the vertical distance. It is 0 if the boxes touch.
    """
    across = max(one[0], other[0]) - min(one[2], other[2])
    down = max(one[1], other[1]) - min(one[3], other[3])
    return max(0, across, down)


def common(one: Box, other: Box) -> int:
    """Return the number of pixels in the intersection of two boxes."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return max(0, across) * max(0, down)


def iou(one: Box, other: Box) -> float:
    """Return the intersection over union of two boxes."""
    shared = common(one, other)
    return shared / (area(one) + area(other) - shared) if shared else 0.0


def gathered(boxes: Sequence[Box], most_gap: int, most_room: float) -> list[list[int]]:
    """Group boxes that are close together, and return the indices of the boxes in each group.

    Two groups are merged if the gap between their bounding boxes is at most ``most_gap`` pixels and the area
    of their common bounding box is at most ``most_room`` times the summed areas of their boxes.
    """
    groups = [[index] for index in range(len(boxes))]
    around = list(boxes)
    filled = [area(box) for box in boxes]
    merged = True
    while merged:
        merged = False
        for first in range(len(groups)):
            for second in range(len(groups) - 1, first, -1):
                both = union([around[first], around[second]])
                near = gap(around[first], around[second]) <= most_gap
                if near and area(both) <= most_room * (filled[first] + filled[second]):
                    groups[first] += groups.pop(second)
                    filled[first] += filled.pop(second)
                    around[first] = both
                    around.pop(second)
                    merged = True
    return groups
