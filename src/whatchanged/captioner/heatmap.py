"""Heat maps over a pair: both pictures side by side, with contour lines of the attention."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from whatchanged.captioner.card import GridAttention
from whatchanged.contours import COLORS, SHARES, ClosedLine, outlines
from whatchanged.errors import ShapeError

GAP = 8
"""The gap between the two pictures, in white pixels."""
LEAST_HEIGHT, MOST_HEIGHT = 320, 640
"""The least and the largest height of the displayed pictures: lines keep their width, so small pictures are
enlarged.
"""
MOST_WIDTH = 2560
"""The largest width of one picture. A strip of 4000 x 8 at the height of a photograph would be 100,000
wide.
"""

FINER = 3
"""Lines are drawn at this multiple of the size, then reduced, so that they are smooth."""
LINE_WIDTH, RIM_WIDTH = 2, 4
"""The width in pixels of a line, and of its dark rim."""
RIM = (0, 0, 0, 140)

LEGEND = 22
"""The height in pixels of the legend below the pictures."""
INK = (70, 70, 70)


def overlay(
    before: Image.Image, after: Image.Image, heatmaps: NDArray[np.floating], grid: GridAttention
) -> Image.Image:
    """Return both pictures side by side at one height, with contour lines of the attention, and a legend.

    heatmaps: (2, rows, columns), as ``grid`` declares; the cells cover the whole picture. The lines are those
    of ``contours.outlines``: a picture without attention has none. A picture that would be wider than
    ``MOST_WIDTH`` is shown at that width and is less high than the other.

    Raises ShapeError where the maps are not those of the grid.
    """
    if heatmaps.shape != (2, *grid.shape):
        raise ShapeError(
            f"heat maps: got {heatmaps.shape}, wanted {(2, *grid.shape)}, as the model's card declares."
        )
    height = min(MOST_HEIGHT, max(LEAST_HEIGHT, before.height, after.height))
    panels = []
    for picture, levels in zip((before, after), outlines(heatmaps), strict=True):
        shown = picture.resize(_shown_size(picture, height), Image.Resampling.BICUBIC)
        panels.append(_outlined(shown, levels))
    return _above_the_legend(beside(panels))


def _shown_size(picture: Image.Image, height: int) -> tuple[int, int]:
    """Return the size of the picture at this height, or at the height that ``MOST_WIDTH`` allows."""
    width = max(1, round(picture.width * height / picture.height))
    if width <= MOST_WIDTH:
        return width, height
    return MOST_WIDTH, max(1, round(height * MOST_WIDTH / width))


def _outlined(picture: Image.Image, levels: Sequence[Sequence[ClosedLine]]) -> Image.Image:
    """Return the picture with the lines of each level, above the dark rims of all lines."""
    if not any(levels):
        return picture
    fine = (picture.width * FINER, picture.height * FINER)
    drawing = Image.new("RGBA", fine, (0, 0, 0, 0))
    draw = ImageDraw.Draw(drawing)
    for lines in levels:
        for line in lines:
            _draw(draw, line, fine, RIM, RIM_WIDTH)
    for lines, color in zip(levels, COLORS, strict=True):
        for line in lines:
            _draw(draw, line, fine, (*color, 255), LINE_WIDTH)
    smooth = drawing.resize(picture.size, Image.Resampling.BOX)
    return Image.alpha_composite(picture.convert("RGBA"), smooth).convert("RGB")


def _draw(
    draw: ImageDraw.ImageDraw,
    line: ClosedLine,
    size: tuple[int, int],
    color: tuple[int, int, int, int],
    width: int,
) -> None:
    """Draw one closed line, beyond its first point, so that the joint there is round too."""
    points = [(float(x) * size[0], float(y) * size[1]) for x, y in line]
    draw.line([*points, *points[1:2]], fill=color, width=width * FINER, joint="curve")


def beside(panels: Sequence[Image.Image]) -> Image.Image:
    """Return the panels in a row, as high as the highest, with a white gap between them."""
    width = sum(panel.width for panel in panels) + GAP * (len(panels) - 1)
    sheet = Image.new("RGB", (width, max(panel.height for panel in panels)), "white")
    left = 0
    for panel in panels:
        sheet.paste(panel, (left, 0))
        left += panel.width + GAP
    return sheet


def _above_the_legend(sheet: Image.Image) -> Image.Image:
    """Return the sheet with a legend of the lines below it."""
    whole = Image.new("RGB", (sheet.width, sheet.height + LEGEND), "white")
    whole.paste(sheet)
    draw = ImageDraw.Draw(whole)
    font = ImageFont.load_default(12)
    middle, left = sheet.height + LEGEND // 2, 2
    for share, color in zip(SHARES, COLORS, strict=True):
        end = left + 18
        draw.line([(left, middle), (end, middle)], fill=RIM[:3], width=RIM_WIDTH)
        draw.line([(left, middle), (end, middle)], fill=color, width=LINE_WIDTH)
        text = f"{share:.0%} of where the words looked"
        draw.text((end + 5, middle), text, fill=INK, font=font, anchor="lm")
        left = end + 20 + round(draw.textlength(text, font=font))
    return whole
