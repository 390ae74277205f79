"""Attention maps over both pictures, one column for each title: a word of a sentence, or a block.

The picture before stands above the picture after. The map is painted over its picture; higher values are more
opaque. Both pictures of a title share one scale, so a picture without attention stays as it is. Titles that
do not fit in one row continue in the next.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFont

from whatchanged.errors import ShapeError
from whatchanged.figures.figure import Figure, Mark, PictureMark, TextMark

TitledMaps = Sequence[tuple[str, NDArray[np.floating]]]
"""Titles, each with its maps (2, rows, columns), before and after."""

WIDTH = 1080
"""The largest width of a figure, in pixels."""
TILE = 168
"""Width of a picture."""
GAP, TITLE, LABEL = 6, 24, 52
"""The gap between pictures, the height of a title, and the width of the words "before" and "after", in
pixels.
"""
WEAK, STRONG = np.array([214, 39, 40.0]), np.array([255, 221, 87.0])
"""Colors of a low and of the highest value of a map."""
OPAQUE = 0.85
"""The opacity of the highest value."""


def draw_maps(pictures: tuple[Image.Image, Image.Image], maps: TitledMaps, tile: int = TILE) -> Figure:
    """Draw the pictures before and after with each of the maps. tile: width of a picture in the figure, in
    pixels.

    Raises ShapeError where there is no map, or where a map is not (2, rows, columns).
    """
    if not maps:
        raise ShapeError("a figure of attention: there is no map to draw, so there is no figure.")
    for title, of_title in maps:
        if of_title.ndim != 3 or len(of_title) != 2:
            raise ShapeError(f"maps of {title!r}: got {of_title.shape}, wanted (2, rows, columns).")
    tile = max(tile, *(round(_text_width(title)) + GAP for title, _ in maps))
    shown = [fitted(picture, tile) for picture in pictures]
    across = max(1, (WIDTH - LABEL) // (tile + GAP))
    below = TITLE + sum(picture.height + GAP for picture in shown)
    marks: list[Mark] = []
    for number, (title, of_title) in enumerate(maps):
        left = LABEL + number % across * (tile + GAP)
        marks += _column(shown, of_title, title, (left, number // across * below))
        if number % across == 0:
            marks += _labels(shown, number // across * below)
    columns, rows = min(across, len(maps)), -(-len(maps) // across)
    return Figure(LABEL + columns * (tile + GAP), rows * below, marks)


def heated(picture: Image.Image, heat: NDArray[np.floating], most: float) -> Image.Image:
    """Return the picture, half desaturated, with a map (rows, columns) over it. most: the highest value."""
    pixels = np.asarray(picture.convert("RGB"), np.float64)
    pixels = 0.5 * pixels + 0.5 * pixels.mean(axis=2, keepdims=True)
    if most > 0:
        scaled = Image.fromarray(np.asarray(heat / most, np.float32))
        even = np.asarray(scaled.resize(picture.size, Image.Resampling.BICUBIC), np.float64)
        level = np.clip(even, 0.0, 1.0)[..., None]  # (H, W, 1)
        opaque = OPAQUE * np.sqrt(level) * (level > 0.02)
        pixels = (1 - opaque) * pixels + opaque * (WEAK + level * (STRONG - WEAK))
    return Image.fromarray(np.rint(pixels).astype(np.uint8))


def fitted(picture: Image.Image, width: int) -> Image.Image:
    """Return the picture resized to this width, at most three times as high."""
    height = min(3 * width, max(1, round(picture.height * width / picture.width)))
    return picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)


def _column(
    shown: Sequence[Image.Image], maps: NDArray[np.floating], title: str, corner: tuple[int, int]
) -> list[Mark]:
    """Return a title and, below it, both pictures with its maps; ``corner`` is the upper left."""
    left, top = corner
    marks: list[Mark] = [TextMark((left + shown[0].width / 2, top + TITLE / 2), title, anchor="middle")]
    top += TITLE
    most = float(maps.max())
    for picture, heat in zip(shown, maps, strict=True):
        marks.append(PictureMark((left, top), heated(picture, heat, most)))
        top += picture.height + GAP
    return marks


def _labels(shown: Sequence[Image.Image], top: int) -> list[Mark]:
    """Return the labels "before" and "after" at the left of a row that begins at ``top``."""
    marks: list[Mark] = []
    top += TITLE
    for name, picture in zip(("before", "after"), shown, strict=True):
        marks.append(TextMark((LABEL - GAP, top + picture.height / 2), name, 12, "end"))
        top += picture.height + GAP
    return marks


def _text_width(text: str) -> float:
    return float(ImageFont.load_default(TextMark.size).getlength(text))
