"""Heat maps over a pair: the pictures before and after side by side, warm where the words look."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.captioner.card import GridAttention
from whatchanged.errors import ShapeError

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
"""The opacity of the hottest place."""
GAP = 8
"""White pixels between the two pictures."""
MOST_HEIGHT = 640
MOST_WIDTH = 2560
"""The largest size of one picture. A strip of 4000 x 8, as high as a photograph, would be 100,000 wide."""


def overlay(
    before: Image.Image, after: Image.Image, heatmaps: NDArray[np.floating], grid: GridAttention
) -> Image.Image:
    """Both pictures side by side at one height, each under its heat map.

    heatmaps: (2, rows, columns), as ``grid`` declares; the cells cover the whole picture. The two maps share
    one scale, their common maximum, so a picture where nobody looked stays as it is. A picture that would be
    wider than ``MOST_WIDTH`` is shown at that width and is less high than the other.

    Raises ShapeError where the maps are not those of the grid.
    """
    if heatmaps.shape != (2, *grid.shape):
        raise ShapeError(
            f"heat maps: got {heatmaps.shape}, wanted {(2, *grid.shape)}, as the model's card declares."
        )
    top = float(heatmaps.max(initial=0.0))
    height = min(MOST_HEIGHT, max(before.height, after.height))
    panels = []
    for picture, heat in zip((before, after), heatmaps, strict=True):
        shown = picture.resize(_shown_size(picture, height), Image.Resampling.BICUBIC)
        panels.append(_warm(shown, heat / top if top > 0 else heat))
    return _beside(panels)


def _shown_size(picture: Image.Image, height: int) -> tuple[int, int]:
    """The size at which the picture is ``height`` high, or as high as ``MOST_WIDTH`` allows."""
    width = max(1, round(picture.width * height / picture.height))
    if width <= MOST_WIDTH:
        return width, height
    return MOST_WIDTH, max(1, round(height * MOST_WIDTH / width))


def _warm(picture: Image.Image, heat: NDArray[np.floating]) -> Image.Image:
    """The picture blended with the colour of its heat (rows, columns), from 0 to 1, enlarged smoothly."""
    small = Image.fromarray(np.ascontiguousarray(heat, dtype=np.float32))
    enlarged = small.resize(picture.size, Image.Resampling.BICUBIC)
    smooth = np.clip(np.asarray(enlarged), 0.0, 1.0)  # (H, W)
    steps = np.linspace(0, 1, len(COLORS))
    table = np.asarray(COLORS, np.float64)
    color = np.stack([np.interp(smooth, steps, table[:, channel]) for channel in range(3)], axis=-1)
    cover = STRENGTH * smooth[..., None]  # (H, W, 1)
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
