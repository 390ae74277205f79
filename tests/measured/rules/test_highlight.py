"""Highlights that moved from one item to another, drawn with a known truth."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from whatchanged.measured import measure

ITEMS = [(40, 20 + 40 * number, 240, 60 + 40 * number) for number in range(5)]
"""The boxes of the items of a menu."""
GREY, BLUE, PALE = (225, 225, 225), (30, 90, 220), (222, 232, 252)


def marks(canvas, box, number, color=(40, 40, 40)):
    """The content of an item: strokes at places of its own."""
    for place in range(6):
        left = box[0] + 14 + 9 * place + (7 * number + 5 * place * place) % 4
        canvas.rectangle((left, box[1] + 14, left + 2 + (number + place) % 4, box[1] + 25), fill=color)


def menu(selected, style, items=ITEMS, moved=None):
    """A menu with one item selected. moved: the item whose content stands elsewhere."""
    picture = Image.new("RGB", (420, 260), "white")
    canvas = ImageDraw.Draw(picture)
    for number, box in enumerate(items):
        left, top, right, bottom = box
        chosen = number == selected
        if chosen and style == "fill":
            canvas.rounded_rectangle((left, top, right - 1, bottom - 1), 8, fill=PALE)
        if chosen and style == "outline":
            canvas.rectangle((left, top, right - 1, bottom - 1), outline=BLUE, width=3)
        if chosen and style == "line":
            canvas.rectangle((left, bottom - 3, right - 1, bottom - 1), fill=BLUE)
        color = BLUE if chosen and style == "ink" else (120, 120, 120) if style == "ink" else (40, 40, 40)
        if number != moved:
            marks(canvas, box, number, color)
    return np.asarray(picture)


@pytest.mark.parametrize(
    ("style", "noun", "kind"),
    [
        ("fill", "highlight", "recolored"),
        ("outline", "outline", "restyled"),
        ("line", "underline", "moved"),
        ("ink", "highlight", "recolored"),
    ],
)
@pytest.mark.parametrize(("was", "now"), [(0, 3), (2, 1), (4, 0)])
def test_a_highlight_moved(style, noun, kind, was, now):
    found = measure(menu(was, style), menu(now, style)).statements
    assert [(one.kind, one.values["aspect"], one.values["mark"]) for one in found] == [
        (kind, "highlight", noun)
    ]
    assert found[0].values["dy"] == 40 * (now - was)
    assert found[0].sentence.startswith(f"The {noun} ")


def test_items_of_different_lengths_and_a_thumb_in_a_track():
    """A white thumb in a grey track is the highlight, and the track is not, though the page is white too."""
    pictures = []
    for chosen in (0, 1):
        picture = Image.new("RGB", (420, 120), "white")
        canvas = ImageDraw.Draw(picture)
        canvas.rounded_rectangle((40, 30, 279, 79), 8, fill=GREY)
        boxes = [(45, 35, 134, 74), (137, 35, 274, 74)]
        canvas.rounded_rectangle(boxes[chosen], 6, fill="white")
        for number, box in enumerate(boxes):
            marks(canvas, (box[0], box[1], box[2] + 1, box[3] + 1), number)
        pictures.append(np.asarray(picture))
    first = measure(*pictures).statements[0]
    assert first.values["aspect"] == "highlight"
    assert first.values["dx"] == 92


def test_a_radio_button_was_chosen_in_place_of_another_one():
    pictures = []
    for chosen in (0, 2):
        picture = Image.new("RGB", (200, 160), "white")
        canvas = ImageDraw.Draw(picture)
        for number in range(3):
            left, top = 30, 20 + 40 * number
            color = BLUE if number == chosen else (130, 130, 130)
            canvas.ellipse((left, top, left + 19, top + 19), outline=color, width=2)
            if number == chosen:
                canvas.ellipse((left + 5, top + 5, left + 14, top + 14), fill=BLUE)
        pictures.append(np.asarray(picture))
    first = measure(*pictures).statements[0]
    assert (first.values["mark"], first.values["dy"]) == ("selection", 80)


def test_a_block_with_its_content_is_no_highlight():
    """What stood on the fill moved with it."""
    pictures = [menu(0, "fill", ITEMS[:1]), menu(0, "fill", [ITEMS[3]])]
    assert all(one.values["aspect"] != "highlight" for one in measure(*pictures).statements)


def test_a_block_without_content_is_no_highlight():
    pictures = []
    for top in (20, 140):
        picture = np.full((260, 420, 3), 255, np.uint8)
        picture[top : top + 40, 40:240] = PALE
        pictures.append(picture)
    assert all(one.values["aspect"] != "highlight" for one in measure(*pictures).statements)


def test_a_text_that_moved_is_no_highlight():
    pictures = []
    for place in (0, 3):
        picture = Image.new("RGB", (420, 260), "white")
        marks(ImageDraw.Draw(picture), ITEMS[place], 1)
        pictures.append(np.asarray(picture))
    assert all(one.values["aspect"] != "highlight" for one in measure(*pictures).statements)


def test_the_side_of_a_thing_that_grew_is_no_highlight():
    pictures = []
    for more in (0, 8):
        picture = np.full((200, 260, 3), 255, np.uint8)
        picture[40 : 100 + more, 30:230] = 90
        picture[42 : 98 + more, 32:228] = 255
        pictures.append(picture)
    assert all(one.values["aspect"] != "highlight" for one in measure(*pictures).statements)


def test_what_else_changed_is_told_after_the_highlight():
    before, after = menu(0, "fill"), menu(2, "fill").copy()
    after[100:200, 300:400] = (200, 60, 60)
    found = measure(before, after).statements
    assert [one.values["aspect"] for one in found][:1] == ["highlight"]
    assert [one.kind for one in found] == ["recolored", "added"]
