"""Plots, told by the lines of their grid: whether what they show within was exchanged."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

SMALLEST = 100
"""Pixels of the sides of a plot at least."""
DRAWN = 12
"""Levels by which a line differs from the ground at least."""
ACROSS = 0.75
"""Part of the box that a line of the grid goes across at least."""
THICKEST = 3
"""Pixels that a line is thick at most."""
EQUAL = 0.15
"""Part of their distance by which the lines of a grid may stand otherwise."""
LINES = 3
"""Lines down and lines across that a grid has at least."""
SAME_LINE = 1
"""Pixels by which a line of the grid may lie elsewhere where the axes are the same."""
BARE = 0.5
"""Share of what is within that is ground at least: a table of filled cells is no plot."""


def data_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Whether a plot shows other data, or, where the lines of its grid moved, perhaps another range of its
    axes."""
    one, other = grid_of_plot(before, box), grid_of_plot(after, box)
    if one is None or other is None:
        return None
    same = len(one) == len(other) and all(
        abs(was - now) <= SAME_LINE for was, now in zip(one, other, strict=True)
    )
    return Finding("replaced", "data", 0.5, {"same_axes": same})


def grid_of_plot(pixels: Pixels, box: Box) -> list[int] | None:
    """Where the lines of a plot's grid lie, those across first; None where the box holds no plot: thin lines
    down and across all of it, on much bare ground."""
    part = pixels[box[1] : box[3], box[0] : box[2]]
    if min(part.shape[:2]) < SMALLEST:
        return None
    drawn = steps_from(usual_color(part.reshape(-1, 3)), part) >= DRAWN
    if drawn.mean() > BARE:
        return None
    across, down = (_lines(drawn, axis) for axis in (0, 1))
    return [*across, *down] if _is_regular(across) and _is_regular(down) else None


def _is_regular(lines: list[int]) -> bool:
    """Whether lines are those of a grid: at equal distances, perhaps but for the frame's, the first and the
    last."""
    for those in (lines, lines[1:-1]):
        steps = np.diff(those)
        if len(those) >= LINES and bool(np.ptp(steps) <= EQUAL * np.median(steps)):
            return True
    return False


def _lines(drawn: NDArray[np.bool_], axis: int) -> list[int]:
    """The rows (axis 0) or columns (axis 1) at which thin lines go across."""
    full = drawn.mean(axis=1 - axis) >= ACROSS
    ends = np.flatnonzero(np.diff(np.r_[False, full, False].astype(np.int8)))
    return [int(start) for start, stop in zip(ends[::2], ends[1::2], strict=True) if stop - start <= THICKEST]
