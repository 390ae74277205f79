"""Small pictures for the tests of the measured answer."""

import numpy as np
from PIL import Image, ImageDraw

WHITE = (255, 255, 255)


def page(width=200, height=120, ground=WHITE):
    """A picture with three rows of bars of different lengths, as text has."""
    image = Image.new("RGB", (width, height), ground)
    draw = ImageDraw.Draw(image)
    for row in range(3):
        left = 12
        for word in range(4):
            length = 8 + (7 * word + 5 * row) % 13
            draw.rectangle((left, 20 + 24 * row, left + length, 28 + 24 * row), fill=(30, 30, 30 + 20 * word))
            left += length + 6
    return np.array(image)


def with_box(pixels, box, color):
    """A copy with a filled box, ends exclusive."""
    left, top, right, bottom = box
    copy = pixels.copy()
    copy[top:bottom, left:right] = color
    return copy
