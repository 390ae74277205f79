"""Things that lie elsewhere, across and down at once: found by laying what differs on itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, box_of, common
from whatchanged.measured.pixels.layers import INK, ground_color
from whatchanged.measured.pixels.planes import UNIT, contrast, luminance, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

Mask = NDArray[np.bool_]

EXPLAINED = 0.85
"""Share of what differs that must be found again where the thing went."""
LEAST_INK = 24
"""Pixels that a thing which moved has at least, before and after, where it differs."""
BALANCE = 0.4
"""What differs of the thing before is at least this part of what differs of it after, and the other way
round: of what only grew or shrank it is not."""
LEAST_EDGE = 12
"""Levels of local contrast from which on a pixel is of an edge, by which steps are looked for."""
SMALLEST = 6
"""Pixels of the sides at least of what came beside it."""
PEAKS = 4
"""Steps that are tried, the likeliest ones."""
LARGEST = 500_000
"""Pixels of a box above which nothing is looked for in it."""


@dataclass(frozen=True)
class Displaced:
    """A thing that lies elsewhere: its boxes, how far it went, and what came beside it.

    came: the box of what the step does not explain and lies outside of the thing, after; None where nothing
    does.
    """

    before: Box
    after: Box
    dx: int
    dy: int
    came: Box | None = None


def displaced(before: Pixels, after: Pixels, box: Box) -> Displaced | None:
    """The step by which what differs in a box moved; None where no one step explains most of it.

    A pixel that differs is explained where the thing, which stands out from the ground, is found there in one
    picture and a step further in the other one. Cost: three Fourier transforms of the box.
    """
    left, top, right, bottom = box
    if area(box) > LARGEST:
        return None
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    differs = steps_between(one, other) > INK
    inks = [
        (steps_from(ground_color(picture, box), part) > INK) & differs
        for picture, part in ((before, one), (after, other))
    ]
    counts = [int(np.count_nonzero(ink)) for ink in inks]
    if min(counts) < max(LEAST_INK, BALANCE * max(counts)):
        return None
    edges = (differs & (contrast(luminance(part)) >= LEAST_EDGE * UNIT) for part in (one, other))

    def explained(step: tuple[int, int]) -> int:
        """How many pixels a step explains."""
        return sum(int(np.count_nonzero(mask)) for mask in _recognised(one, other, inks, step))

    step = max(_steps(*edges), key=explained)
    step = max([(step[0] + dx, step[1] + dy) for dx in (0, -1, 1) for dy in (0, -1, 1)], key=explained)
    was, now = (box_of(mask, left, top) for mask in _recognised(one, other, inks, step))
    if step == (0, 0) or was is None or now is None or explained(step) < EXPLAINED * sum(counts):
        return None
    there = _of_one_size(was, now, *step, (before.shape[1], before.shape[0]))
    rest = inks[1] & _unlike(other, one, -step[0], -step[1])
    return Displaced(*there, *step, _beside(rest, there[1], left, top))


def _beside(rest: Mask, thing: Box, left: int, top: int) -> Box | None:
    """The box of what is not explained, where it lies beside the thing that moved and is no speck.

    rest: a mask whose first pixel lies at (left, top).
    """
    box = box_of(rest, left, top)
    if box is None or common(box, thing) or min(box[2] - box[0], box[3] - box[1]) < SMALLEST:
        return None
    return box if np.count_nonzero(rest) >= LEAST_INK else None


def _recognised(one: Pixels, other: Pixels, inks: Sequence[Mask], step: tuple[int, int]) -> tuple[Mask, Mask]:
    """Where what differs of the thing is found again a step further: before, after."""
    dx, dy = step
    return inks[0] & ~_unlike(one, other, dx, dy), inks[1] & ~_unlike(other, one, -dx, -dy)


def _steps(one: Mask, other: Mask) -> list[tuple[int, int]]:
    """The steps (dx, dy) at which most of a mask lies on the other one, the best first; never none at all."""
    shape = tuple(2 * length for length in one.shape)
    spectra = (np.fft.rfft2(mask.astype(np.float32), shape) for mask in (other, one))
    first, second = spectra
    found = np.fft.irfft2(first * np.conj(second), shape)
    found[0, 0] = 0
    best = np.argpartition(found.ravel(), -PEAKS)[-PEAKS:]
    steps = []
    for place in best[np.argsort(-found.ravel()[best], kind="stable")].tolist():
        dy, dx = divmod(place, shape[1])
        steps.append((dx - shape[1] if dx > one.shape[1] else dx, dy - shape[0] if dy > one.shape[0] else dy))
    return steps


def _unlike(one: Pixels, other: Pixels, dx: int, dy: int) -> Mask:
    """Where a picture is not found again a step further in the other one."""
    height, width = one.shape[:2]
    unlike = np.ones((height, width), bool)
    if abs(dx) >= width or abs(dy) >= height:
        return unlike
    rows = slice(max(0, -dy), min(height, height - dy))
    columns = slice(max(0, -dx), min(width, width - dx))
    there = other[rows.start + dy : rows.stop + dy, columns.start + dx : columns.stop + dx]
    unlike[rows, columns] = steps_between(one[rows, columns], there) > INK
    return unlike


def _of_one_size(was: Box, now: Box, dx: int, dy: int, size: tuple[int, int]) -> tuple[Box, Box]:
    """The boxes of the thing before and after, of which what differs may show a part alone: each is around
    its own and around the other one, a step further."""
    there = (was[0] + dx, was[1] + dy, was[2] + dx, was[3] + dy)
    around = (
        max(0, dx, min(now[0], there[0])),
        max(0, dy, min(now[1], there[1])),
        min(size[0], size[0] + dx, max(now[2], there[2])),
        min(size[1], size[1] + dy, max(now[3], there[3])),
    )
    return (around[0] - dx, around[1] - dy, around[2] - dx, around[3] - dy), around
