"""Lines of a plot, drawn four times as large and reduced: two or three curves that cross."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from whatchanged.measured import measure

BLUE, ORANGE, GREEN = (31, 119, 180), (255, 127, 14), (44, 160, 44)
AT = (40, 130, 220, 310)
CURVES = {BLUE: (30, 110, 150, 170), ORANGE: (150, 120, 60, 40), GREEN: (60, 90, 170, 120)}


def plot(colors=(BLUE, ORANGE), dash=None, markers=False, filled=True):
    """A plot of 360 x 220 pixels; dash: the lengths of a dash and of a gap."""
    image = Image.new("RGB", (4 * 360, 4 * 220), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((4 * 20, 4 * 10, 4 * 340, 4 * 200), outline="black", width=4)
    for color in colors:
        points = np.array(list(zip(AT, CURVES[color], strict=True)), float)
        for one, other in zip(points, points[1:], strict=False):
            length = float(np.hypot(*(other - one)))
            step = (other - one) / length
            on, off = dash or (length, 1)
            for start in np.arange(0, length, on + off):
                ends = [one + step * start, one + step * min(length, start + on)]
                draw.line([tuple(4 * end) for end in ends], fill=color, width=8)
        for x, y in points if markers else ():
            draw.ellipse((4 * x - 18, 4 * y - 18, 4 * x + 18, 4 * y + 18), fill=color)
    return image.resize((360, 220), Image.Resampling.BOX)


def only(before, after):
    (statement,) = measure(before, after).statements
    return statement


@pytest.mark.parametrize("dash", [(8, 4), (6, 6), (4, 3)])
def test_lines_became_dashed_or_solid(dash):
    for pair, on in (((plot(), plot(dash=dash)), True), ((plot(dash=dash), plot()), False)):
        statement = only(*pair)
        assert statement.values == {"aspect": "line style", "on_after": on}
        assert (statement.element, statement.count) == ("line", 2)


def test_lines_got_or_lost_markers():
    for pair, on in (((plot(), plot(markers=True)), True), ((plot(markers=True), plot()), False)):
        statement = only(*pair)
        assert statement.values == {"aspect": "markers", "on_after": on}
        assert (statement.element, statement.count) == ("line", 2)


def test_a_line_came_or_went_among_others():
    fewer, more = plot(), plot((BLUE, ORANGE, GREEN))
    came, went = only(fewer, more), only(more, fewer)
    assert (came.kind, went.kind) == ("added", "removed")
    assert came.values["look"] == went.values["look"] == "green line"


def test_areas_that_were_emptied_are_no_dashes():
    """Handles along a line that are only outlined now."""
    pictures = []
    for fill in (GREEN, "white"):
        image = Image.new("RGB", (200, 160), "white")
        draw = ImageDraw.Draw(image)
        draw.rectangle((40, 40, 160, 120), outline=(170, 190, 250))
        for x, y in ((40, 40), (100, 40), (160, 40), (40, 120), (100, 120), (160, 120)):
            draw.ellipse((x - 6, y - 6, x + 6, y + 6), fill=fill, outline=GREEN)
        pictures.append(image)
    statements = measure(*pictures).statements
    assert all(one.values["aspect"] not in ("line style", "markers") for one in statements)
