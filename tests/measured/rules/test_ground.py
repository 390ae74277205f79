import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure
from whatchanged.measured.rules.ground import recolored_ground

PALE, WHITE, DARK = (243, 243, 243), (255, 255, 255), (24, 26, 32)


def form(ground, ink="black", rows=6):
    """Alike rows of a form: a label and a field each."""
    picture = Image.new("RGB", (400, 60 * rows), ground)
    draw = ImageDraw.Draw(picture)
    for row in range(rows):
        draw.text((20, 60 * row + 6), f"{('First', 'Last')[row % 2]} name", ink, ImageFont.load_default(14))
        draw.rectangle((20, 60 * row + 28, 380, 60 * row + 50), fill=(248, 248, 250), outline=(210, 210, 210))
    return np.array(picture)


@pytest.mark.parametrize("colors", [(PALE, WHITE), (WHITE, PALE), (WHITE, DARK)])
def test_the_background_took_another_color(colors):
    before, after = form(colors[0]), form(colors[1])
    (change, aligned) = recolored_ground(before, after, np.ones(before.shape[:2], bool))
    assert change.box_after == (0, 0, 400, 360)
    assert (aligned == after).all(axis=2).mean() > 0.98
    first = measure(before, after).statements[0]
    assert (first.kind, first.values["aspect"], first.box_after) == ("recolored", "fill", (0, 0, 400, 360))


@pytest.mark.parametrize("colors", [(DARK, WHITE), (PALE, DARK)])
def test_the_background_around_something_large_took_another_color(colors):
    pictures = []
    for color in colors:
        picture = np.full((72, 90, 3), color, np.uint8)
        picture[14:58, 8:82] = (20, 120, 60)
        picture[30:40, 20:70] = 255
        pictures.append(picture)
    first = measure(*pictures).statements[0]
    assert (first.kind, first.values["aspect"], first.box_after) == ("recolored", "fill", (0, 0, 90, 72))
    inner = pictures[1].copy()
    inner[:4] = pictures[0][:4]  # The edges have two colors.
    inner[-20:] = pictures[0][-20:]
    assert recolored_ground(pictures[0], inner, np.ones(inner.shape[:2], bool)) is None


@pytest.mark.parametrize("after", [form((246, 246, 246)), form(PALE, "red")])
def test_it_kept_its_color(after):
    """A few levels are no other color, and other text is no other background."""
    before = form(PALE)
    assert recolored_ground(before, after, np.ones(before.shape[:2], bool)) is None


def test_a_part_of_it_is_told_otherwise():
    before = form(PALE)
    after = before.copy()
    after[180:][(after[180:] == PALE).all(axis=2)] = WHITE
    assert recolored_ground(before, after, np.ones(before.shape[:2], bool)) is None
