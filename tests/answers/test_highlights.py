"""Highlights that moved, with the names of both items as they are read in drawn pictures."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from support.drawn_lines import needs_reader

from whatchanged.answers.naming import named
from whatchanged.measured import measure

pytestmark = needs_reader

ITEMS = ("Overview", "Members", "Billing", "Security")


def menu(selected, underlined=False):
    """A menu with one item selected."""
    picture = Image.new("RGB", (480, 260), "white")
    canvas = ImageDraw.Draw(picture)
    for number, text in enumerate(ITEMS):
        top = 20 + 48 * number
        if number == selected and underlined:
            canvas.rectangle((30, top + 42, 150, top + 44), fill=(30, 90, 220))
        elif number == selected:
            canvas.rounded_rectangle((20, top, 219, top + 47), 6, fill=(222, 232, 252))
        canvas.text((34, top + 12), text, "black", ImageFont.load_default(18))
    return np.asarray(picture)


def sentence(before, after):
    """The sentence of the only change, with names."""
    (one,) = named(measure(before, after).statements, before, after)
    return one.sentence


def test_the_words_of_both_items_are_told():
    assert sentence(menu(1), menu(3)) == 'The highlight moved from "Members" to "Security".'


def test_an_underline_has_the_words_above_it():
    told = sentence(menu(0, underlined=True), menu(2, underlined=True))
    assert told == 'The underline moved from "Overview" to "Billing".'


def test_items_without_words_are_told_by_the_distance():
    pictures = []
    for chosen in (0, 2):
        picture = Image.new("RGB", (240, 80), "white")
        canvas = ImageDraw.Draw(picture)
        for number in range(4):
            left = 20 + 50 * number
            if number == chosen:
                canvas.rectangle((left, 20, left + 39, 59), fill=(222, 232, 252))
            canvas.ellipse((left + 12, 32, left + 20 + 2 * number, 48), fill="black")
        pictures.append(np.asarray(picture))
    assert sentence(*pictures) == "The highlight in the middle moved right by 100 pixels."
