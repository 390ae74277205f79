"""Ink coverage of each pixel, independent of the colours of ink and background, and detection of ink
lines."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.layers import RGBColor, colors_in, far, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

Floats = NDArray[np.float32]

STRONGEST = 0.7
"""The ink colour is read from pixels whose distance from the background is at least this fraction of the
largest distance."""
FAINT = 20
"""The least difference, in levels, between ink and background."""
INKED = 0.3
"""The least coverage of a pixel that counts as drawn."""
DOT = 0.4
"""The largest height of a dot or accent, and its largest distance, as fractions of the line beside it."""
ENOUGH = 40_000
"""The approximate number of pixels that are sampled from a larger part."""


@dataclass(frozen=True)
class Coverage:
    """The ink coverage of a part of a picture.

    ink     (h, w) from 0 (background) to 1 (the colour of the ink)
    ground  the most frequent colour
    color   the most frequent colour of the strongest ink
    """

    ink: Floats
    ground: RGBColor
    color: RGBColor

    @property
    def area(self) -> float:
        """The total coverage in pixels."""
        return float(self.ink.sum())

    @property
    def contrast(self) -> int:
        """The difference between the colours of ink and background in levels."""
        return far(self.ground, self.color)


def read_coverage(part: Pixels) -> Coverage | None:
    """Return the coverage of a part (h, w, 3), or None if nothing differs from its background."""
    if part.size == 0:
        return None
    fill = usual_color(part.reshape(-1, 3))
    steps = steps_from(fill, part)
    most = int(steps.max())
    if most < FAINT:
        return None
    color = usual_color(colors_in(part, steps >= max(1, most * STRONGEST)))
    if far(fill, color) < FAINT:
        return None
    base = np.array(fill, np.float32)
    way = np.array(color, np.float32) - base
    along = _minus(part, base) @ (way / float(way @ way))
    return Coverage(np.clip(along, 0, 1), fill, color)


def unexplained(part: Pixels, covered: Coverage) -> float:
    """Return the residual of a part (h, w, 3) that no mixture of background and ink explains, as a fraction
    of the ink."""
    every = thinned(part.shape)
    some, ink = part[::every, ::every], covered.ink[::every, ::every]
    ground, color = (np.array(one, np.float32) for one in (covered.ground, covered.color))
    rest = np.zeros(ink.shape, np.float32)
    for channel in range(3):
        shown = ground[channel] + ink * (color[channel] - ground[channel])
        np.maximum(rest, np.abs(some[..., channel] - shown), out=rest)
    return float(rest.sum()) / max(1e-6, float(np.abs(color - ground).max() * ink.sum()))


def _minus(part: Pixels, color: Floats) -> Floats:
    """Return the differences between the pixels of a part (h, w, 3) and a colour."""
    differences: Floats = part.astype(np.float32)
    for channel in range(3):  # NumPy subtracts so short an array slowly.
        differences[..., channel] -= color[channel]
    return differences


def thinned(shape: tuple[int, ...]) -> int:
    """Return the step at which rows and columns of a large part are sampled."""
    return max(1, int(np.sqrt(shape[0] * shape[1] / ENOUGH)))


def ink_box(ink: Floats) -> Box | None:
    """Return the bounding box of the drawn pixels, or None if there are none."""
    return box_of(ink >= INKED)


def rows_of_ink(ink: Floats) -> list[tuple[int, int]]:
    """Return the first row and the end of each line of ink. Dots and accents are merged with the line beside
    them."""
    filled = (ink >= INKED).any(axis=1)
    ends = np.flatnonzero(np.diff(np.r_[False, filled, False].astype(np.int8)))
    runs = [(int(start), int(stop)) for start, stop in zip(ends[::2], ends[1::2], strict=True)]
    merged: list[tuple[int, int]] = []
    for run in runs:
        if merged:
            last = merged[-1]
            large = max(last[1] - last[0], run[1] - run[0])
            small = min(last[1] - last[0], run[1] - run[0])
            if small < DOT * large and run[0] - last[1] < DOT * large:
                merged[-1] = last[0], run[1]
                continue
        merged.append(run)
    return merged


def columns_of_ink(ink: Floats, space: float) -> list[tuple[int, int]]:
    """Return the first column and the end of each piece of a line that is separated by more than ``space``
    columns."""
    filled = np.flatnonzero((ink >= INKED).any(axis=0))
    if not len(filled):
        return []
    breaks = np.flatnonzero(np.diff(filled) > space + 1)
    starts = filled[np.r_[0, breaks + 1]]
    stops = filled[np.r_[breaks, len(filled) - 1]] + 1
    return [(int(start), int(stop)) for start, stop in zip(starts, stops, strict=True)]


def stroke(ink: Floats) -> float:
    """Return the average stroke thickness in pixels: twice the area of the ink divided by the length of its
    edge.

    A line of width w and length l has the area w l and the edge length 2 l. The edge length is the sum of the
    gradient of the coverage. For slanted lines it is up to 1.4 times too long.
    """
    padded = np.pad(ink, 1)
    across, down = np.abs(np.diff(padded, axis=1)), np.abs(np.diff(padded, axis=0))
    edge = float(np.hypot(across[1:, :], down[:, 1:]).sum())
    return 2 * float(ink.sum()) / max(1e-6, edge)
