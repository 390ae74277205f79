"""How much of each pixel is covered by ink, whatever the colours of ink and ground are; lines of ink."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of
from whatchanged.measured.pixels.layers import RGBColor, far, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

Floats = NDArray[np.float32]

STRONGEST = 0.7
"""Ink at least this part as far from the ground as the farthest tells the ink's colour."""
FAINT = 20
"""Levels that ink differs from its ground at least."""
INKED = 0.3
"""Coverage from which on a pixel belongs to what is drawn."""
DOT = 0.4
"""A run of rows lower than this part of the one beside it, and nearer than that, is its dot or its accent."""
ENOUGH = 40_000
"""Pixels that tell as much as more of them do."""


@dataclass(frozen=True)
class Coverage:
    """One part of a picture.

    ink     (h, w) from 0, ground, to 1, the ink's own colour
    ground  the most frequent colour
    color   the most frequent colour of the strongest ink
    """

    ink: Floats
    ground: RGBColor
    color: RGBColor

    @property
    def area(self) -> float:
        """Pixels covered by ink."""
        return float(self.ink.sum())


def read_coverage(part: Pixels) -> Coverage | None:
    """The coverage of a part (h, w, 3); None where nothing stands out from its ground."""
    if part.size == 0:
        return None
    fill = usual_color(part.reshape(-1, 3))
    steps = steps_from(fill, part)
    most = int(steps.max())
    if most < FAINT:
        return None
    color = usual_color(part[steps >= max(1, most * STRONGEST)])
    if far(fill, color) < FAINT:
        return None
    base = np.array(fill, np.float32)
    way = np.array(color, np.float32) - base
    along = (part.astype(np.float32) - base) @ (way / float(way @ way))
    return Coverage(np.clip(along, 0, 1), fill, color)


def unexplained(part: Pixels, covered: Coverage) -> float:
    """What of a part (h, w, 3) is neither its ground nor its ink, nor between both, as a part of the ink."""
    every = thinned(part.shape)
    some, ink = part[::every, ::every], covered.ink[::every, ::every]
    ground, color = (np.array(one, np.float32) for one in (covered.ground, covered.color))
    shown = ground + ink[..., None] * (color - ground)
    rest = float(np.abs(some - shown).max(axis=2).sum())
    return rest / max(1e-6, float(np.abs(color - ground).max() * ink.sum()))


def thinned(shape: tuple[int, ...]) -> int:
    """Every so many rows and columns of a large part are as good as all of them."""
    return max(1, int(np.sqrt(shape[0] * shape[1] / ENOUGH)))


def ink_box(ink: Floats) -> Box | None:
    """The box of what is drawn; None where nothing is."""
    return box_of(ink >= INKED)


def rows_of_ink(ink: Floats) -> list[tuple[int, int]]:
    """First row and end of each line of ink: dots and accents belong to the line beside them."""
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
    """First column and end of each piece of a line that stands apart by so many columns."""
    filled = np.flatnonzero((ink >= INKED).any(axis=0))
    if not len(filled):
        return []
    breaks = np.flatnonzero(np.diff(filled) > space + 1)
    starts = filled[np.r_[0, breaks + 1]]
    stops = filled[np.r_[breaks, len(filled) - 1]] + 1
    return [(int(start), int(stop)) for start, stop in zip(starts, stops, strict=True)]


def stroke(ink: Floats) -> float:
    """How thick what is drawn is, in pixels: twice its area by the length of its edge.

    A line of width w and length l has the area w l and the edge 2 l. The edge is the sum of all steps of the
    coverage, across and down; of slanted lines that is up to 1.4 times too long.
    """
    padded = np.pad(ink, 1)
    across, down = np.abs(np.diff(padded, axis=1)), np.abs(np.diff(padded, axis=0))
    edge = float(np.hypot(across[1:, :], down[:, 1:]).sum())
    return 2 * float(ink.sum()) / max(1e-6, edge)
