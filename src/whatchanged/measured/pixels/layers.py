"""What a place consists of, before and after: the ground around it, its fill, and the ink on it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

RGBColor = tuple[int, int, int]

INK = 28
"""Levels from the fill from which on a pixel counts as ink."""
RING = 2
"""Width of the ring around a place in which its ground is seen."""
ALIKE = 8
"""Levels up to which a pixel has the fill's colour, and the fill the ground's."""
EMPTY = 0.985
"""Share of a part's pixels that have the fill's colour above which nothing is on the fill."""
STRONGEST = 0.7
"""Ink that is at least this part as far from the fill as the farthest tells the ink's colour."""


@dataclass(frozen=True)
class Layer:
    """One picture's part.

    ground       the most frequent colour of the ring around the box
    fill, even   the most frequent colour inside, and the share of the pixels that have about this colour
    ink          (h, w) whether a pixel stands out from the fill
    ink_color    the most frequent colour of the strongest ink; None where there is none
    ink_box      the box of the ink in pixels of the part; None where there is none
    """

    ground: RGBColor
    fill: RGBColor
    even: float
    ink: NDArray[np.bool_]
    ink_color: RGBColor | None
    ink_box: Box | None

    @property
    def ink_share(self) -> float:
        """The share of the part's pixels that are ink."""
        return float(np.count_nonzero(self.ink)) / self.ink.size

    @property
    def empty(self) -> bool:
        """Whether the part is nothing but the ground around it."""
        return self.even > EMPTY and far(self.fill, self.ground) <= ALIKE


def read_layer(pixels: Pixels, box: Box) -> Layer:
    """The layers of a box of a picture."""
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right]
    fill = usual_color(part.reshape(-1, 3))
    steps = steps_from(fill, part)
    ink = steps > INK
    ink_colour, ink_box = None, box_of(ink)
    if ink_box is not None:
        strongest = steps >= max(INK + 1, int(steps.max() * STRONGEST))
        ink_colour = usual_color(part[strongest])
    even = float(np.count_nonzero(steps <= ALIKE)) / steps.size
    return Layer(ground_color(pixels, box), fill, even, ink, ink_colour, ink_box)


def usual_color(colors: NDArray[np.uint8]) -> RGBColor:
    """The most frequent colour of (N, 3), as the mean of those of its eighth of each channel."""
    coarse = (colors >> 3).astype(np.int32)
    keys = (coarse[:, 0] << 10) | (coarse[:, 1] << 5) | coarse[:, 2]
    chosen = np.compress(keys == np.bincount(keys).argmax(), colors, axis=0)
    count = len(chosen)
    sums = (int(chosen[:, channel].sum(dtype=np.int64)) for channel in range(3))
    red, green, blue = ((2 * total + count) // (2 * count) for total in sums)
    return red, green, blue


def far(one: RGBColor, other: RGBColor) -> int:
    """The largest step of a channel between two colours."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def ground_color(pixels: Pixels, box: Box) -> RGBColor:
    """The most frequent colour around a box; inside its edge where it fills the picture."""
    left, top, right, bottom = box
    outer = pixels[max(0, top - RING) : bottom + RING, max(0, left - RING) : right + RING]
    around = np.ones(outer.shape[:2], bool)
    first_row, first_column = top - max(0, top - RING), left - max(0, left - RING)
    around[first_row : first_row + bottom - top, first_column : first_column + right - left] = False
    if not around.any():
        around[:] = True
        around[1:-1, 1:-1] = False
    return usual_color(outer[around])
