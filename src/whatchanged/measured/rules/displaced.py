"""Detection of objects that moved horizontally and vertically at once, by correlating the differences."""

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
"""The least fraction of the differences that must be found again at the new position."""
LEAST_INK = 24
"""The least number of differing pixels of a moved object, both before and after."""
BALANCE = 0.4
"""The least ratio between the numbers of its differing pixels before and after. An object that only grew or
shrank has a smaller ratio."""
LEAST_EDGE = 12
"""The least local contrast, in levels, of the edge pixels that are used to find movements."""
SMALLEST = 6
"""The least side, in pixels, of an object that was added beside a moved object."""
PEAKS = 4
"""The number of candidate movements that are tried, starting with the most likely."""
LARGEST = 500_000
"""The largest area in pixels of a box that is searched."""


@dataclass(frozen=True)
class Displaced:
    """An object that moved: its boxes, its movement, and an object that was added beside it.

    came: the box of the differences after that the movement does not explain and that lie outside the object;
    None if there are none.
    """

    before: Box
    after: Box
    dx: int
    dy: int
    came: Box | None = None


def displaced(before: Pixels, after: Pixels, box: Box) -> Displaced | None:
    """Return the movement that explains most of the differences in a box, or None if no single movement does.

    A differing pixel is explained if the pixel stands out from the background in one picture and the other
    picture has the same pixel at the moved position. The cost is three Fourier transforms of the box.
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
        """Return the number of pixels that a movement explains."""
        return sum(int(np.count_nonzero(mask)) for mask in _recognised(one, other, inks, step))

    step = max(likely_steps(*edges), key=explained)
    step = max([(step[0] + dx, step[1] + dy) for dx in (0, -1, 1) for dy in (0, -1, 1)], key=explained)
    found = _recognised(one, other, inks, step)
    was, now = (box_of(mask, left, top) for mask in found)
    if step == (0, 0) or was is None or now is None or explained(step) < EXPLAINED * sum(counts):
        return None
    there = _of_one_size(was, now, *step, (before.shape[1], before.shape[0]))
    return Displaced(*there, *step, _beside(inks[1] & ~found[1], there[1], left, top))


def _beside(rest: Mask, thing: Box, left: int, top: int) -> Box | None:
    """Return the box of the unexplained pixels, if it lies beside the moved object and is large enough, or
    None.

    rest: a mask with its first pixel at (left, top).
    """
    box = box_of(rest, left, top)
    if box is None or common(box, thing) or min(box[2] - box[0], box[3] - box[1]) < SMALLEST:
        return None
    return box if np.count_nonzero(rest) >= LEAST_INK else None


def _recognised(one: Pixels, other: Pixels, inks: Sequence[Mask], step: tuple[int, int]) -> tuple[Mask, Mask]:
    """Return masks, before and after, of the object's differing pixels that are found again at the moved
    position."""
    dx, dy = step
    height, width = one.shape[:2]
    top, left = max(0, -dy), max(0, -dx)
    bottom, right = max(top, min(height, height - dy)), max(left, min(width, width - dx))
    here = (slice(top, bottom), slice(left, right))
    there = (slice(top + dy, bottom + dy), slice(left + dx, right + dx))
    alike = steps_between(one[here], other[there]) <= INK
    found = np.zeros(inks[0].shape, bool), np.zeros(inks[1].shape, bool)
    found[0][here], found[1][there] = inks[0][here] & alike, inks[1][there] & alike
    return found


def likely_steps(one: Mask, other: Mask) -> list[tuple[int, int]]:
    """Return the movements (dx, dy) at which two masks overlap most, the best first. (0, 0) is excluded."""
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


def _of_one_size(was: Box, now: Box, dx: int, dy: int, size: tuple[int, int]) -> tuple[Box, Box]:
    """Return the boxes of an object before and after, with equal sizes.

    The differences may show only a part of the object. Each box therefore encloses both its own differences
    and the moved differences of the other picture.
    """
    there = (was[0] + dx, was[1] + dy, was[2] + dx, was[3] + dy)
    around = (
        max(0, dx, min(now[0], there[0])),
        max(0, dy, min(now[1], there[1])),
        min(size[0], size[0] + dx, max(now[2], there[2])),
        min(size[1], size[1] + dy, max(now[3], there[3])),
    )
    return (around[0] - dx, around[1] - dy, around[2] - dx, around[3] - dy), around
