"""The horizontal alignment of an object in its container, and the free space at its left and right."""

from dataclasses import dataclass

import numpy as np

from whatchanged.measured.pixels.layers import ground_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

ALIKE = 10
"""The largest difference, in levels, between the background and a pixel that belongs to it."""
CENTRED = 2
"""The largest difference, in pixels, between the left and the right space of a centred object.

A difference of a hundredth of both spaces is always allowed.
"""
MUCH = 12
"""The least difference, in pixels, between the two spaces of an object that is aligned to one side."""
SAME_EDGE = 1
"""The largest variation, in pixels, of the container's edge along the height of the object."""


@dataclass(frozen=True)
class Room:
    """The free space, in pixels, between an object and the left and right edges of its container."""

    left: int
    right: int

    @property
    def align(self) -> str | None:
        """The alignment of the object: "center", "left" or "right"; None if it has no such alignment."""
        both = self.left + self.right
        if abs(self.left - self.right) <= max(CENTRED, both // 100):
            return "center"
        if both < 2 * MUCH:
            return None
        if self.left + MUCH < self.right and self.left <= both / 4:
            return "left"
        return "right" if self.right + MUCH < self.left and self.right <= both / 4 else None


def room_of(pixels: Pixels, box: Box) -> Room | None:
    """Return the free space at the left and right of an object.

    The result is None if another object lies between it and an edge.
    """
    left, top, right, bottom = box
    ground = ground_color(pixels, box)
    rows = np.unique(np.linspace(max(0, top - 2), min(len(pixels), bottom + 2) - 1, 8).astype(int))
    plain = steps_from(ground, pixels[rows]) <= ALIKE
    first = _reach(plain[:, :left][:, ::-1])
    second = _reach(plain[:, right:])
    return None if first is None or second is None else Room(first, second)


def _reach(plain: np.ndarray) -> int | None:
    """Return how many pixels the background extends in all rows (N, M), up to a vertical edge or the border.

    The result is None if the rows disagree.
    """
    ended = np.concatenate([plain, np.zeros((len(plain), 1), bool)], axis=1)
    reaches = np.sort(ended.argmin(axis=1))
    return int(reaches[0]) if reaches[-1] - reaches[0] <= SAME_EDGE else None


def alignment_of(before: Pixels, after: Pixels, was: Box, now: Box) -> dict[str, str]:
    """Return the alignments of a horizontally moved object in its container before and after.

    The result is empty if one of them is unknown, or if they are equal.
    """
    one, other = room_of(before, was), room_of(after, now)
    if one is None or other is None or abs(one.left + one.right - other.left - other.right) > 2 * CENTRED:
        return {}
    if one.align is None or other.align is None or one.align == other.align:
        return {}
    return {"align_before": one.align, "align_after": other.align}
