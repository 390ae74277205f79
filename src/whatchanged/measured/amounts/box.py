"""Where a thing stands in what holds it: centred, at its left or its right; how much room it has there."""

from dataclasses import dataclass

import numpy as np

from whatchanged.measured.pixels.layers import ground_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

ALIKE = 10
"""Levels up to which a pixel has the colour of the ground."""
CENTRED = 2
"""Pixels by which the room at both sides of what is centred differs at most; a hundredth of both always."""
MUCH = 12
"""Pixels that the room at one side is more than at the other where a thing is aligned to this side."""
SAME_EDGE = 1
"""Pixels by which the edge of what holds a thing may lie otherwise along its height."""


@dataclass(frozen=True)
class Room:
    """Pixels of plain ground between a thing and the edges of what holds it."""

    left: int
    right: int

    @property
    def align(self) -> str | None:
        """How the thing stands in it: "center", "left", "right", or None where it is neither."""
        both = self.left + self.right
        if abs(self.left - self.right) <= max(CENTRED, both // 100):
            return "center"
        if both < 2 * MUCH:
            return None
        if self.left + MUCH < self.right and self.left <= both / 4:
            return "left"
        return "right" if self.right + MUCH < self.left and self.right <= both / 4 else None


def room_of(pixels: Pixels, box: Box) -> Room | None:
    """The room that a thing has at its left and right; None where something else stands beside it before
    an edge."""
    left, top, right, bottom = box
    ground = ground_color(pixels, box)
    rows = np.unique(np.linspace(max(0, top - 2), min(len(pixels), bottom + 2) - 1, 8).astype(int))
    plain = steps_from(ground, pixels[rows]) <= ALIKE
    first = _reach(plain[:, :left][:, ::-1])
    second = _reach(plain[:, right:])
    return None if first is None or second is None else Room(first, second)


def _reach(plain: np.ndarray) -> int | None:
    """How far the ground goes on in all rows (N, M), up to an upright edge or the end; None where they
    disagree."""
    ended = np.concatenate([plain, np.zeros((len(plain), 1), bool)], axis=1)
    reaches = np.sort(ended.argmin(axis=1))
    return int(reaches[0]) if reaches[-1] - reaches[0] <= SAME_EDGE else None


def alignment_of(before: Pixels, after: Pixels, was: Box, now: Box) -> dict[str, str]:
    """How a thing that moved across stands in what holds it now and stood before, where both are known and
    differ."""
    one, other = room_of(before, was), room_of(after, now)
    if one is None or other is None or abs(one.left + one.right - other.left - other.right) > 2 * CENTRED:
        return {}
    if one.align is None or other.align is None or one.align == other.align:
        return {}
    return {"align_before": one.align, "align_after": other.align}
