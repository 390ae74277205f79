"""Draws docs/background/tokens.png:

    python tools/draw_tokens.py docs/background/tokens.png

It shows one shipped picture four times, split into tokens by each vision. The cells of "objects" are those to
which any word of the shipped model's sentence attends.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from whatchanged.captioner.bundle import SHIPPED
from whatchanged.captioner.runtime import load

PAIR = "04"
PANEL = (480, 320)
GAP, LABEL = 16, 26
LINE = (255, 255, 255)
KEPT = (230, 60, 40)


def main() -> None:
    """Draw four panels, two in a row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", metavar="OUT.png", type=Path, help="file for the picture")
    out = parser.parse_args().out
    picture = Image.open(SHIPPED / "demo" / f"{PAIR}-before.png").convert("RGB").resize(PANEL)
    panels = [
        ("features: 7 x 7 cells, each a vector stored on disk", gridded(picture, 7, 7)),
        ("patches: 7 x 7 squares of pixels", gridded(apart(picture, 7, 7), 7, 7)),
        ("backbone: 8 x 5 cells of a network that learns", gridded(picture, 5, 8)),
        ("objects: the 16 of 30 x 20 cells most like an object", kept(picture)),
    ]
    width, height = PANEL
    sheet = Image.new("RGB", (2 * width + GAP, 2 * (height + LABEL) + GAP), "white")
    pen = ImageDraw.Draw(sheet)
    for number, (label, panel) in enumerate(panels):
        left, top = number % 2 * (width + GAP), number // 2 * (height + LABEL + GAP)
        pen.text((left, top + 2), label, fill="black", font=ImageFont.load_default(17))
        sheet.paste(panel, (left, top + LABEL))
    sheet.quantize(256).save(out, optimize=True)


def gridded(picture: Image.Image, rows: int, columns: int) -> Image.Image:
    """The picture with the lines of a grid."""
    drawn = picture.copy()
    pen = ImageDraw.Draw(drawn)
    width, height = picture.size
    for row in range(1, rows):
        pen.line((0, row * height / rows, width, row * height / rows), fill=LINE, width=2)
    for column in range(1, columns):
        pen.line((column * width / columns, 0, column * width / columns, height), fill=LINE, width=2)
    return drawn


def apart(picture: Image.Image, rows: int, columns: int) -> Image.Image:
    """The picture with gaps between its squares."""
    pixels = np.array(picture)
    for index, count in ((0, rows), (1, columns)):
        side = pixels.shape[index] / count
        for number in range(1, count):
            middle = round(number * side)
            cut = [slice(None)] * 2
            cut[index] = slice(middle - 5, middle + 5)
            pixels[tuple(cut)] = 255
    return Image.fromarray(pixels)


def kept(picture: Image.Image) -> Image.Image:
    """The picture with the cells that the shipped model keeps as tokens."""
    found = load().describe(*(SHIPPED / "demo" / f"{PAIR}-{side}.png" for side in ("before", "after")))
    maps: NDArray[np.float32] = np.stack([heat[0] for _, heat in found.words])  # (words, rows, columns)
    rows, columns = maps.shape[1:]
    drawn = picture.copy()
    pen = ImageDraw.Draw(drawn)
    width, height = picture.size[0] / columns, picture.size[1] / rows
    for row, column in np.argwhere(maps.max(axis=0) > 0):
        box = (column * width, row * height, (column + 1) * width, (row + 1) * height)
        pen.rectangle(box, outline=KEPT, width=3)
    return drawn


if __name__ == "__main__":
    main()
