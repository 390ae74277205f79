"""Heat maps as outlines: lines around the places where most of the attention lies.

A line encloses the smallest area that holds a given share of the attention on both pictures together, so that
a picture at which nobody looked has no line.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.errors import ShapeError

SHARES = (0.5, 0.9)
"""The share of the attention that lies inside each line, from the innermost line outwards."""
COLORS = ((255, 214, 64), (255, 122, 26))
"""Of the lines, red, green and blue: they show on dark pictures, and their dark rims on light ones."""
FINER = 4
"""How many points a side of a cell gets before lines are drawn through them."""
BLUR = 1.0
"""Standard deviation, in cells, by which a map is smoothed."""
EVEN = 1.001
"""A map whose maximum is no further above a level is even there: it has no place to draw a line around."""
UNITS = 1000
"""What the width and the height of a picture are divided into by ``svg_path``."""

Line = NDArray[np.float64]
"""(N, 2) The points of one closed line: x and y in parts of the picture's width and height."""


def outlines(heatmaps: NDArray[np.floating]) -> tuple[tuple[list[Line], ...], tuple[list[Line], ...]]:
    """For both pictures, the lines of each of ``SHARES``.

    heatmaps: (2, rows, columns), not negative; the cells cover the whole pictures. Raises ShapeError where
    they have another shape.
    """
    if heatmaps.ndim != 3 or len(heatmaps) != 2:
        raise ShapeError(f"heat maps: got {heatmaps.shape}, wanted (2, rows, columns).")
    smooth = np.stack([_smooth(heat) for heat in heatmaps])  # (2, rows * FINER, columns * FINER)
    levels = [_level(smooth, share) for share in SHARES]
    before, after = (tuple(_lines(heat, level) for level in levels) for heat in smooth)
    return before, after


def svg_path(lines: Sequence[Line]) -> str:
    """Closed lines as the path of an SVG element whose view box is ``UNITS`` x ``UNITS``."""
    parts = []
    for line in lines:
        points = np.rint(line * UNITS).astype(int)
        steps = np.diff(points, axis=0)
        steps = steps[np.any(steps != 0, axis=1)][:-1]
        if len(steps) >= 2:
            parts.append(f"M{points[0, 0]} {points[0, 1]}l" + " ".join(f"{x} {y}" for x, y in steps) + "z")
    return "".join(parts)


def _smooth(heat: NDArray[np.floating]) -> NDArray[np.float64]:
    """The map on a finer grid, without steps between its cells."""
    from scipy.ndimage import gaussian_filter  # slow to import

    rows, columns = heat.shape
    blurred = gaussian_filter(np.asarray(heat, np.float32), BLUR, mode="nearest")
    fine = Image.fromarray(blurred).resize((columns * FINER, rows * FINER), Image.Resampling.BICUBIC)
    return np.maximum(np.asarray(fine, np.float64), 0.0)


def _level(smooth: NDArray[np.float64], share: float) -> float:
    """The heat above which ``share`` of all heat lies; infinite where there is none."""
    falling = np.sort(smooth, axis=None)[::-1]
    total = falling.sum()
    if total <= 0:
        return float("inf")
    enough = int(np.searchsorted(np.cumsum(falling), share * total))
    return float(falling[min(enough, len(falling) - 1)])


def _lines(heat: NDArray[np.float64], level: float) -> list[Line]:
    """The closed lines around everything hotter than ``level``; at the edge they run along the picture."""
    from contourpy import contour_generator

    if heat.max() <= level * EVEN:
        return []
    rows, columns = heat.shape
    framed = np.pad(heat, 1)
    x = (np.arange(columns + 2) - 0.5) / columns
    y = (np.arange(rows + 2) - 0.5) / rows
    found = contour_generator(x, y, framed).lines(level)
    return [np.clip(np.asarray(line, np.float64), 0.0, 1.0) for line in found]
