"""Draw a measured answer: before and after side by side, with boxes around what changed."""

from collections.abc import Sequence

from PIL import Image, ImageDraw

from whatchanged.captioner.heatmap import MOST_HEIGHT, MOST_WIDTH, beside
from whatchanged.measured import Box, Statement

COLOR = (214, 39, 40)
"""Red, on a white line, so that it is visible on any background."""
WIDTH = 2
"""The line's width in pixels; the white line around it is as wide. Both lie outside of what changed."""


def outlined(before: Image.Image, after: Image.Image, statements: Sequence[Statement]) -> Image.Image:
    """Return both pictures side by side at one scale, each with the boxes of the statements in it."""
    old = [s.box_before for s in statements if s.box_before is not None]
    new = [box for s in statements if s.box_after is not None for box in s.boxes or (s.box_after,)]
    scale = min(1.0, *(min(MOST_HEIGHT / p.height, MOST_WIDTH / p.width) for p in (before, after)))
    return beside([_with_boxes(before, old, scale), _with_boxes(after, new, scale)])


def _with_boxes(picture: Image.Image, boxes: Sequence[Box], scale: float) -> Image.Image:
    """Return the picture at this scale, with these boxes, given in its own pixels."""
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    shown = picture.resize(size, Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(shown)
    for box in boxes:
        inner = [round(edge * scale) for edge in box]
        for wider, color in ((2 * WIDTH, (255, 255, 255)), (WIDTH, COLOR)):
            corners = (inner[0] - wider, inner[1] - wider, inner[2] + wider - 1, inner[3] + wider - 1)
            draw.rectangle(corners, outline=color, width=WIDTH)
    return shown
