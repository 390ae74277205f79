"""A button or a card that took another fill and another outline at once."""

import numpy as np
import pytest
from support.drawn_text import text

from whatchanged.measured import measure
from whatchanged.measured.amounts.surface import surface_change

BLUE, WHITE, GREY = (20, 90, 220), (255, 255, 255), (120, 120, 120)
BOX = (60, 30, 320, 78)


def button(fill=WHITE, outline=None, color=(20, 20, 20), words="Settings and reports", ground=WHITE):
    """A picture with a button."""
    picture = np.full((110, 400, 3), ground, np.uint8)
    part = text(words, color=color, ground=fill)
    if outline is not None:
        part[:2], part[-2:], part[:, :2], part[:, -2:] = (outline,) * 4
    picture[BOX[1] : BOX[3], BOX[0] : BOX[2]] = part
    return picture


def said(before, after):
    """The first statement of a pair."""
    return measure(before, after).statements[0]


def test_a_filled_button_that_is_only_outlined():
    one = said(button(BLUE, color=WHITE), button(outline=BLUE, color=BLUE))
    assert (one.kind, one.values["aspect"]) == ("recolored", "surface")
    assert one.sentence.endswith(" changed from filled blue to outlined.")
    assert said(button(BLUE, color=WHITE), button(outline=GREY)).sentence.endswith(" to outlined in grey.")


def test_an_outlined_button_that_was_filled():
    one = said(button(outline=BLUE, color=BLUE), button(BLUE, color=WHITE))
    assert one.sentence.endswith(" changed from outlined to filled blue.")


def test_a_filled_button_that_became_grey_with_an_outline():
    one = said(button(BLUE, color=WHITE), button((220, 220, 220), outline=GREY))
    assert one.sentence.endswith(" turned from blue to light grey and got a grey outline.")
    back = said(button((220, 220, 220), outline=GREY), button(BLUE, color=WHITE))
    assert back.sentence.endswith(" turned from light grey to blue and lost its outline.")


def test_a_card_that_took_another_fill_and_another_outline():
    light, dark = (200, 220, 255), (150, 60, 60)
    one = said(button(light, outline=BLUE), button((255, 220, 200), outline=dark))
    assert ", its outline from blue to " in one.sentence


def test_a_text_that_got_a_fill():
    one = surface_change(button(), button(BLUE, color=WHITE), BOX)
    assert one is not None and one[0].values["color_before"] == "#ffffff"
    outlined = button((200, 220, 255), outline=GREY)
    assert said(button(), outlined).sentence.endswith(" took a light blue fill and a grey outline.")
    assert said(outlined, button()).sentence.endswith(" lost its light blue fill and its outline.")


def test_another_fill_and_colour_of_the_text_is_no_corner():
    one = said(button((40, 44, 52), color=WHITE), button(BLUE, color=WHITE))
    assert (one.kind, one.values["aspect"]) == ("recolored", "fill")


def test_a_ring_around_an_outline_that_went_is_no_other_colour_of_the_outline():
    plain = button(outline=GREY)
    ring = plain.copy()
    left, top, right, bottom = BOX
    ring[top - 2 : bottom + 2, left - 2 : right + 2] = BLUE
    ring[top:bottom, left:right] = plain[top:bottom, left:right]
    found = surface_change(ring, plain, (left - 2, top - 2, right + 2, bottom + 2))
    assert found is None or found[0].aspect != "border"
    recolored = surface_change(button(outline=BLUE), plain, BOX)
    assert recolored is not None and recolored[0].aspect == "border"


@pytest.mark.parametrize("other", ["Messages", "Orders of all"])
def test_other_words_are_no_other_surface(other):
    before, after = button(BLUE, color=WHITE), button(outline=BLUE, color=BLUE, words=other)
    assert surface_change(before, after, BOX) is None


def test_the_cell_of_a_heat_map_is_no_button():
    before, after = button(BLUE, color=WHITE), button(outline=BLUE, color=BLUE)
    for picture in (before, after):
        picture[:, BOX[2] + 2 :] = (90, 200, 120)
        picture[: BOX[1] - 2] = (200, 90, 120)
    assert surface_change(before, after, BOX) is None


@pytest.mark.parametrize("paler", [True, False])
def test_an_outlined_button_faded_with_its_words(paler):
    pair = button(outline=BLUE, color=BLUE), button(outline=(161, 189, 241), color=(161, 189, 241))
    one = said(*(pair if paler else pair[::-1]))
    assert (one.kind, one.values["aspect"]) == ("recolored", "opacity")
    assert (one.values["amount_after"] < one.values["amount_before"]) == paler


def test_an_outline_alone_became_lighter():
    one = said(button(outline=BLUE, color=BLUE), button(outline=(161, 189, 241), color=BLUE))
    assert (one.kind, one.values["aspect"]) == ("recolored", "border")
