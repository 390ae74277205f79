"""The layers of a box in one picture: the background around it, its fill, and the ink on the fill."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

RGBColor = tuple[int, int, int]

INK = 28
"""The difference from the fill, in levels, above which a pixel counts as ink."""
RING = 2
"""The width in pixels of the ring around a box that shows the background."""
ALIKE = 8
"""The largest difference, in levels, at which two colours count as the same."""
EMPTY = 0.985
"""The fraction of fill-coloured pixels above which there is no ink on the fill."""
PROBES = 16
"""The approximate number of pixels whose colours suggest the most frequent one."""
STRONGEST = 0.7
"""The ink colour is read from the strongest ink: pixels at least this fraction as far from the fill as the
farthest pixel."""

OF_LINE = 0.8
"""The fraction of a line's pixels that may be mixed with the ground, as those of a dotted line are."""


@dataclass(frozen=True)
class Layer:
    """The layers of one box in one picture.

    ground       the most frequent colour of the ring around the box
    fill, even   the most frequent colour inside, and the fraction of pixels that have about this colour
    ink          (h, w) whether a pixel differs clearly from the fill
    ink_color    the most frequent colour of the strongest ink; None if there is no ink
    ink_box      the bounding box of the ink, relative to the box; None if there is no ink
    """

    ground: RGBColor
    fill: RGBColor
    even: float
    ink: NDArray[np.bool_]
    ink_color: RGBColor | None
    ink_box: Box | None

    @property
    def ink_share(self) -> float:
        """The fraction of the box's pixels that are ink."""
        return float(np.count_nonzero(self.ink)) / self.ink.size

    @property
    def empty(self) -> bool:
        """Whether the box shows only the background around it."""
        return self.even > EMPTY and far(self.fill, self.ground) <= ALIKE


def read_layer(pixels: Pixels, box: Box) -> Layer:
    """Return the layers of a box in a picture."""
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right]
    fill = usual_color(part.reshape(-1, 3))
    steps = steps_from(fill, part)
    ink = steps > INK
    ink_colour, ink_box = None, box_of(ink)
    if ink_box is not None:
        strongest = steps >= max(INK + 1, int(steps.max() * STRONGEST))
        ink_colour = usual_color(colors_in(part, strongest))
    even = float(np.count_nonzero(steps <= ALIKE)) / steps.size
    return Layer(ground_color(pixels, box), fill, even, ink, ink_colour, ink_box)


def usual_color(colors: NDArray[np.uint8]) -> RGBColor:
    """Return the most frequent colour of (N, 3).

    Colours are binned by their upper five bits a channel. The result is the mean colour of the fullest bin.
    """
    chosen = colors_in(colors, _most_frequent(coarse_codes(colors)))
    count = len(chosen)
    levels = chosen.ravel()
    if (levels[3:] == levels[:-3]).all():  # Most often they are one colour.
        count = 1
    sums = (int(chosen[:count, channel].sum(dtype=np.int64)) for channel in range(3))
    red, green, blue = ((2 * total + count) // (2 * count) for total in sums)
    return red, green, blue


def coarse_codes(colors: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the upper five bits of red, green and blue as one number: (..., 3) -> (...)."""
    red, green, blue = (colors[..., channel].astype(np.uint16) >> 3 for channel in range(3))
    return np.asarray((red << 10) | (green << 5) | blue)


def _most_frequent(codes: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return a mask of the most frequent number, the smallest one if several are equally frequent."""
    some = np.sort(codes[:: 1 + len(codes) // PROBES])
    likely = codes == some[len(some) // 2]
    # A number that more than half of all pixels have need not be compared with the others.
    if 2 * np.count_nonzero(likely) > len(codes):
        return np.asarray(likely)
    return np.asarray(codes == int(np.bincount(codes).argmax()))


def colors_in(pixels: NDArray[np.uint8], mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the colours (N, 3) of the pixels (..., 3) in a mask (...).

    This is what an index with the mask would return, in a fraction of the time: each pixel is one item.
    """
    items = np.ascontiguousarray(pixels).reshape(-1, 3).view("V3")[:, 0]
    return items[mask.ravel()].view(np.uint8).reshape(-1, 3)


def far(one: RGBColor, other: RGBColor) -> int:
    """Return the largest difference of a channel between two colours."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def line_color(colors: NDArray[np.uint8], ground: RGBColor) -> RGBColor:
    """Return the colour of a line from its pixels (N, 3): the middle one of those that differ most from the
    ground.

    The pixels at the edges of a thin line, and between its dashes, are mixed with the ground.
    """
    steps = steps_from(ground, colors)
    red, green, blue = np.median(colors[steps >= np.quantile(steps, OF_LINE)], axis=0)
    return int(red), int(green), int(blue)


def ground_color(pixels: Pixels, box: Box) -> RGBColor:
    """Return the most frequent colour around a box.

    If the box fills the picture, the colour just inside its border is returned.
    """
    left, top, right, bottom = box
    first_row, first_column = max(0, top - RING), max(0, left - RING)
    outer = pixels[first_row : bottom + RING, first_column : right + RING]
    around = _around(outer, (left - first_column, top - first_row, right - first_column, bottom - first_row))
    if not len(around):
        height, width = outer.shape[:2]
        around = _around(outer, (1, 1, max(1, width - 1), max(1, height - 1)))
    return usual_color(around)


def _around(pixels: Pixels, box: Box) -> NDArray[np.uint8]:
    """Return the colours (N, 3) of the pixels outside of a box."""
    left, top, right, bottom = box
    middle = pixels[top:bottom]
    parts = (pixels[:top], pixels[bottom:], middle[:, :left], middle[:, right:])
    return np.concatenate([part.reshape(-1, 3) for part in parts])
