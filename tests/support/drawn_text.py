"""Lines of text and plain things, drawn for tests with a truth that is known."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

WHITE, BLACK = (255, 255, 255), (20, 20, 20)


def text(
    words="Settings and reports",
    size=16,
    at=(20.0, 12.0),
    bold=False,
    slant=0.0,
    spacing=0,
    underlined=False,
    color=BLACK,
    ground=WHITE,
    canvas=(260, 48),
):
    """A line of text on a plain ground, (H, W, 3)."""
    font = ImageFont.load_default(size)
    picture = Image.new("RGB", canvas, ground)
    pen = ImageDraw.Draw(picture)
    left, top = at
    for letter in words if spacing else [words]:
        pen.text((left, top), letter, fill=color, font=font)
        if bold:
            pen.text((left + 0.8, top), letter, fill=color, font=font)
        left += pen.textlength(letter, font=font) + spacing
    if underlined:
        base = round(top + 1.15 * size)
        pen.rectangle((at[0], base, left - 1, base), fill=color)
    if slant:
        picture = picture.transform(
            canvas, Image.Transform.AFFINE, (1, slant, -slant * (top + size), 0, 1, 0), 3, fillcolor=ground
        )
    return np.array(picture)


def page(size=(160, 100), ground=WHITE):
    """An empty picture."""
    return np.array(Image.new("RGB", size, ground))


def draw(picture, **shapes):
    """The picture with shapes: the name of a method of a pen; box or points, then options."""
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    for name, (where, options) in shapes.items():
        getattr(pen, name)(where, **options)
    return np.array(image)
