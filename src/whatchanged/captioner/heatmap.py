"""Heat maps laid over a pair: before and after side by side, warm where the words looked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

COLORS = (
    (0, 0, 4),
    (28, 16, 68),
    (79, 18, 123),
    (129, 37, 129),
    (181, 54, 122),
    (229, 80, 100),
    (251, 135, 97),
    (254, 194, 135),
    (252, 253, 191),
)
"""Nine even steps of the magma map (van der Walt and Smith, CC0): lightness rises evenly with the heat."""

STRENGTH = 0.75
"""How much of the picture the hottest place covers."""
GAP = 8
MOST_HEIGHT = 640
MOST_WIDTH = 2560
"""Of one picture: a strip of 4000 x 8 beside a photograph would be a hundred thousand pixels wide."""


def overlay(before: Image.Image, after: Image.Image, heatmaps: NDArray[np.floating]) -> Image.Image:
    """Both pictures at one height, side by side on white, each under its heat map (2, rows, columns).

    A picture that would be wider than ``MOST_WIDTH`` is shown at that width, less high than the other.

    The two maps share one scale (their common maximum), so a cold picture stays cold. A place is covered in
    proportion to its heat: where nobody looked, the picture shows through untouched.
    """
    top = float(heatmaps.max(initial=0.0))
    height = min(MOST_HEIGHT, max(before.height, after.height))
    panels = []
    for picture, heat in zip((before, after), heatmaps, strict=True):
        width = max(1, round(picture.width * height / picture.height))
        size = width, height
        if width > MOST_WIDTH:
            size = MOST_WIDTH, max(1, round(height * MOST_WIDTH / width))
        shown = picture.resize(size, Image.Resampling.BICUBIC)
        panels.append(_warm(shown, heat / top if top > 0 else heat))
    return _beside(panels)


def _warm(picture: Image.Image, heat: NDArray[np.floating]) -> Image.Image:
    """The picture blended with the colour of its heat (rows, columns), 0..1, enlarged smoothly."""
    small = Image.fromarray(np.ascontiguousarray(heat, dtype=np.float32))
    smooth = np.clip(np.asarray(small.resize(picture.size, Image.Resampling.BICUBIC)), 0.0, 1.0)
    steps = np.linspace(0, 1, len(COLORS))
    table = np.asarray(COLORS, np.float64)
    color = np.stack([np.interp(smooth, steps, table[:, channel]) for channel in range(3)], axis=-1)
    cover = STRENGTH * smooth[..., None]
    return Image.fromarray(np.rint((1 - cover) * np.asarray(picture) + cover * color).astype(np.uint8))


def _beside(panels: Sequence[Image.Image]) -> Image.Image:
    """The panels in a row, a gap of white between them."""
    width = sum(panel.width for panel in panels) + GAP * (len(panels) - 1)
    sheet = Image.new("RGB", (width, max(panel.height for panel in panels)), "white")
    left = 0
    for panel in panels:
        sheet.paste(panel, (left, 0))
        left += panel.width + GAP
    return sheet
