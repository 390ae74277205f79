"""Contour lines of attention maps: lines around the regions with most of the attention.

A line encloses the smallest area that contains a certain share of the attention. The share
refers to the attention of both pictures together. A picture without attention therefore has no line.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.errors import ShapeError

SHARES = (0.5, 0.9)
"""The share of the attention inside each line, from the innermost line outwards."""
COLORS = ((255, 214, 64), (255, 122, 26))
"""The line colours (red, green, blue), which are visible on dark pictures.

Dark rims make the lines visible on light pictures.
"""
FINER = 4
"""The number of sampling points for each side of a cell.

The lines are drawn on the grid of sampling points.
"""
BLUR = 1.0
"""Standard deviation, in cells, of the smoothing of the map."""
EVEN = 1.001
"""A map has no line at a level if its maximum is less than this factor times the level."""
UNITS = 1000
"""The width and the height of the view box of ``svg_path``."""
LEAST_POINTS, MOST_STRIDE = 16, 2
"""If a line has at least ``LEAST_POINTS * MOST_STRIDE`` points, ``svg_path`` omits every second point."""

ClosedLine = NDArray[np.float64]
"""The points of one closed line, (N, 2): x as a fraction of the picture's width, and y as a fraction of the
height.
"""


def outlines(
    heatmaps: NDArray[np.floating],
) -> tuple[tuple[list[ClosedLine], ...], tuple[list[ClosedLine], ...]]:
    """Return the contour lines of both pictures, for each of ``SHARES``.

    heatmaps: the attention of both pictures, (2, rows, columns), not negative. The cells cover the whole
    pictures. Raises ShapeError for any other shape.
    """
    if heatmaps.ndim != 3 or len(heatmaps) != 2:
        raise ShapeError(f"heat maps: got {heatmaps.shape}, wanted (2, rows, columns).")
    smooth = np.stack([_smooth(heat) for heat in heatmaps])  # (2, rows * FINER, columns * FINER)
    levels = [_level(smooth, share) for share in SHARES]
    before, after = (_lines(heat, levels) for heat in smooth)
    return before, after


def svg_path(lines: Sequence[ClosedLine]) -> str:
    """Return closed lines as the path of an SVG element whose view box is ``UNITS`` x ``UNITS``.

    In long lines, every second point is dropped, so that pages of thousands of pairs are smaller.
    """
    parts = []
    for line in lines:
        stride = min(max(len(line) // LEAST_POINTS, 1), MOST_STRIDE)
        kept = np.concatenate([line[:-1:stride], line[-1:]])
        points = np.rint(kept * UNITS).astype(int)
        steps = np.diff(points, axis=0)
        steps = steps[np.any(steps != 0, axis=1)][:-1]
        if len(steps) >= 2:
            moves = " ".join(map(str, steps.ravel().tolist()))
            parts.append(f"M{points[0, 0]} {points[0, 1]}l{moves}z")
    return "".join(parts)


def _smooth(heat: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the map interpolated on a finer grid."""
    rows, columns = heat.shape
    blurred = _blur(np.asarray(heat, np.float32))
    fine = Image.fromarray(blurred).resize((columns * FINER, rows * FINER), Image.Resampling.BICUBIC)
    return np.maximum(np.asarray(fine, np.float64), 0.0)


def _blur(heat: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the map convolved with a normal density. Beyond the edges, the values at the edges are repeated.

    The convolution is written out here: SciPy takes longer to import than this whole module takes to run.
    """
    reach = round(4 * BLUR)
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * BLUR**2))
    weights /= weights.sum()
    rows, columns = heat.shape
    framed = np.pad(heat, reach, mode="edge")
    down = sum(weight * framed[i : i + rows] for i, weight in enumerate(weights))  # (rows, columns + 2 reach)
    both = sum(weight * np.asarray(down)[:, i : i + columns] for i, weight in enumerate(weights))
    return np.asarray(both, np.float32)


def _level(smooth: NDArray[np.float64], share: float) -> float:
    """Return the attention value of a line.

    The cells with larger values contain ``share`` of all attention. Without any attention, the result is
    infinite.
    """
    falling = np.sort(smooth, axis=None)[::-1]
    total = falling.sum()
    if total <= 0:
        return float("inf")
    enough = int(np.searchsorted(np.cumsum(falling), share * total))
    return float(falling[min(enough, len(falling) - 1)])


def _lines(heat: NDArray[np.float64], levels: Sequence[float]) -> tuple[list[ClosedLine], ...]:
    """Return, for each level, the closed lines around all values above the level.

    At the edge of the picture, a line follows the border.
    """
    from contourpy import contour_generator

    if heat.max() <= min(levels) * EVEN:
        return tuple([] for _ in levels)
    rows, columns = heat.shape
    x = (np.arange(columns + 2) - 0.5) / columns
    y = (np.arange(rows + 2) - 0.5) / rows
    contours = contour_generator(x, y, np.pad(heat, 1))
    results = []
    for level in levels:
        lines = contours.lines(level) if heat.max() > level * EVEN else []
        results.append([np.clip(np.asarray(line, np.float64), 0.0, 1.0) for line in lines])
    return tuple(results)
