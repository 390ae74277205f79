"""Detection of plots by their grid lines, and of plots that show other data."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.kinds import Finding

SMALLEST = 100
"""The least side of a plot in pixels."""
DRAWN = 12
"""The least difference, in levels, between a line and the background."""
ACROSS = 0.75
"""The least length of a grid line, as a fraction of the box."""
THICKEST = 3
"""The largest thickness of a line in pixels."""
EQUAL = 0.15
"""The largest deviation of the spacing of grid lines, as a fraction of the spacing."""
LINES = 3
"""The least number of vertical and of horizontal lines in a grid."""
SAME_LINE = 1
"""The largest movement of a grid line, in pixels, if the axes are the same."""
BARE = 0.5
"""The least fraction of a plot that is background. A table with filled cells has less."""


def data_change(before: Pixels, after: Pixels, box: Box) -> Finding | None:
    """Return that a plot shows other data, or None if a picture shows no plot.

    ``values["same_axes"]`` is False if grid lines moved. The plot may then show another axis range instead.
    """
    one = grid_of_plot(before, box)
    other = None if one is None else grid_of_plot(after, box)
    if one is None or other is None:
        return None
    same = len(one) == len(other) and all(
        abs(was - now) <= SAME_LINE for was, now in zip(one, other, strict=True)
    )
    return Finding("replaced", "data", 0.5, {"same_axes": same})


def grid_of_plot(pixels: Pixels, box: Box) -> list[int] | None:
    """Return the positions of a plot's grid lines, the horizontal ones first, or None if the box shows no
    plot.

    A plot has thin vertical and horizontal lines across its entire box, on a mostly empty background.
    """
    part = pixels[box[1] : box[3], box[0] : box[2]]
    if min(part.shape[:2]) < SMALLEST:
        return None
    drawn = steps_from(usual_color(part.reshape(-1, 3)), part) >= DRAWN
    if drawn.mean() > BARE:
        return None
    across, down = (_lines(drawn, axis) for axis in (0, 1))
    return [*across, *down] if _is_regular(across) and _is_regular(down) else None


def _is_regular(lines: list[int]) -> bool:
    """Return whether lines are equally spaced, with the possible exception of the first and last line of the
    frame."""
    for those in (lines, lines[1:-1]):
        steps = np.diff(those)
        if len(those) >= LINES and bool(np.ptp(steps) <= EQUAL * np.median(steps)):
            return True
    return False


def _lines(drawn: NDArray[np.bool_], axis: int) -> list[int]:
    """Return the rows (axis 0) or columns (axis 1) of the thin lines across a mask."""
    full = drawn.mean(axis=1 - axis) >= ACROSS
    ends = np.flatnonzero(np.diff(np.r_[False, full, False].astype(np.int8)))
    return [int(start) for start, stop in zip(ends[::2], ends[1::2], strict=True) if stop - start <= THICKEST]
