"""Boxes over other contents: drawn text and lines, with a menu or a half-transparent legend on top."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure
from whatchanged.measured.amounts.legend import is_legend
from whatchanged.measured.rules.boxed import is_boxed

FONT = ImageFont.load_default(12)
SIZE = (420, 260)


def page():
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    for row in range(12):
        draw.text(
            (20, 10 + 20 * row), f"Line {row} of a page with much to read", fill=(40, 45, 60), font=FONT
        )
    return image


def plot():
    """A frame with a curve that runs through its upper left corner."""
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((30, 20, 400, 240), outline="black")
    draw.line([(30, 30), (140, 70), (260, 170), (400, 200)], fill=(31, 119, 180), width=2)
    return image


def box_on(image, box, texts, line=(153, 153, 153), samples=False, through=0.0):
    """The picture with a box of texts on it; what lies behind shines through by this part."""
    over = image.copy()
    draw = ImageDraw.Draw(over)
    draw.rectangle(box, fill="white", outline=line)
    for number, text in enumerate(texts):
        top = box[1] + 6 + 18 * number
        if samples:
            color = [(31, 119, 180), (255, 127, 14), (44, 160, 44)][number]
            draw.line((box[0] + 6, top + 7, box[0] + 26, top + 7), fill=color, width=2)
        draw.text((box[0] + (34 if samples else 10), top), text, fill=(20, 20, 20), font=FONT)
    return Image.blend(over, image, through)


def told(before, after):
    (first, *rest) = measure(before, after).statements
    return first, rest


@pytest.mark.parametrize("line", [(153, 153, 153), (214, 214, 214)])
def test_a_menu_over_text_came_or_went(line):
    menu = box_on(page(), (60, 40, 190, 110), ("Edit", "Copy", "Delete"), line)
    came, rest = told(page(), menu)
    assert (came.kind, came.box_before, came.box_after, rest) == ("added", None, (60, 40, 191, 111), [])
    went, rest = told(menu, page())
    assert (went.kind, went.box_before, went.box_after, rest) == ("removed", (60, 40, 191, 111), None, [])


def test_an_outline_around_text_that_stays_is_no_box_that_came():
    outlined = page()
    ImageDraw.Draw(outlined).rectangle((15, 48, 250, 68), outline=(37, 99, 235))
    first, _ = told(page(), outlined)
    assert first.kind != "added" or first.values["aspect"] in ("outline", "border")


BOXES = ((36, 26, 130, 68), (290, 26, 384, 68))


@pytest.mark.parametrize("through", [0.0, 0.2])
def test_a_legend_over_a_curve(through):
    one, other = (box_on(plot(), box, ("train", "test"), (204, 204, 204), True, through) for box in BOXES)
    went, rest = told(one, plot())
    assert (went.kind, went.element, went.box_before, rest) == ("removed", "legend", (36, 26, 131, 69), [])
    came, rest = told(plot(), one)
    assert (came.kind, came.element, came.box_after, rest) == ("added", "legend", (36, 26, 131, 69), [])
    moved, rest = told(one, other)
    assert (moved.kind, moved.element, rest) == ("moved", "legend", [])
    assert (moved.values["dx"], moved.values["dy"]) == (254, 0)


def test_what_has_no_samples_is_no_legend():
    box = (36, 26, 131, 69)
    legend = np.asarray(box_on(plot(), BOXES[0], ("train", "test"), samples=True))
    menu = np.asarray(box_on(plot(), BOXES[0], ("train", "test")))
    assert is_legend(legend, box) and not is_legend(menu, box)
    assert is_boxed(menu, box) and not is_boxed(np.asarray(plot()), box)
    assert not is_boxed(menu, (0, 0, *SIZE))
