"""Drawings at another size in an unchanged canvas, drawn with a known truth."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure

BLUE, WHITE = (0, 94, 184), (255, 255, 255)


def picture(width, text="", other=False, center=(300, 150)):
    """A logo with two parts on a blue ground, perhaps with a text below it."""
    scale = 4
    drawn = Image.new("RGB", (600 * scale, 400 * scale), BLUE)
    canvas = ImageDraw.Draw(drawn)
    unit = width * scale / 100

    def at(*points):
        return [(center[0] * scale + (x - 50) * unit, center[1] * scale + (y - 25) * unit) for x, y in points]

    if other:
        canvas.ellipse(at((0, 0), (100, 50)), WHITE)
    else:
        canvas.polygon(at((0, 0), (60, 0), (60, 50), (0, 50)), WHITE)
        canvas.polygon(at((10, 40), (30, 10), (50, 40)), BLUE)
        canvas.polygon(at((70, 50), (85, 0), (100, 50)), (250, 200, 40))
    if text:
        canvas.text((250 * scale, 290 * scale), text, WHITE, ImageFont.load_default(40 * scale))
    return np.asarray(drawn.resize((600, 400), Image.Resampling.BOX))


@pytest.mark.parametrize("text", ["", "nhs"])
@pytest.mark.parametrize(("was", "now"), [(420, 180), (300, 240), (160, 400)])
def test_a_logo_is_drawn_at_another_size(was, now, text):
    first = measure(picture(was), picture(now, text)).statements[0]
    assert (first.kind, first.values["aspect"]) == ("resized", "size")
    assert f"became {'larger' if now > was else 'smaller'}, " in first.sentence
    boxes = first.box_before, first.box_after
    assert [box[2] - box[0] for box in boxes] == pytest.approx([was, now], abs=2)
    assert [box[3] - box[1] for box in boxes] == pytest.approx([was / 2, now / 2], abs=2)


def test_another_logo_of_another_size_is_not_the_same_drawing():
    first = measure(picture(420), picture(180, other=True)).statements[0]
    assert "became smaller" not in first.sentence
