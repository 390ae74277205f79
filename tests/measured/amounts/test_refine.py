"""What is said of drawn pairs from the pictures to the sentence."""

import numpy as np
import pytest
from support.drawn_text import draw, page, text

from whatchanged.measured import measure
from whatchanged.measured.amounts.refine import refined
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.predicates import is_exact


def said(before, after):
    """The first statement of a pair."""
    return measure(before, after).statements[0]


def test_bolder_text():
    assert said(text(), text(bold=True)).sentence == "The text at the left became bolder."


def test_larger_text():
    sentence = said(text(size=16), text(size=20)).sentence
    assert sentence.startswith("The text ") and " became larger, " in sentence


def test_a_fill_behind_text_is_recoloured_not_added():
    before = np.concatenate([text(), text("Orders"), text("Log in")])
    after = before.copy()
    after[48:96] = np.minimum(after[48:96], (210, 230, 255))
    one = said(before, after)
    assert (one.kind, one.values["aspect"]) == ("recolored", "fill")
    assert one.sentence.endswith("turned from white to light blue.")


def test_a_box_that_was_ticked():
    empty = draw(
        page(), rectangle=((40, 40, 57, 57), {"outline": (110, 110, 110), "fill": "white", "width": 2})
    )
    ticked = draw(empty, line=([(44, 49), (48, 53), (54, 44)], {"fill": "black", "width": 2}))
    one = said(empty, ticked)
    assert (one.element, one.values["state"], one.values["on_after"]) == ("checkbox", "checked", True)
    assert one.sentence.startswith("The checkbox ") and one.sentence.endswith(" was checked.")


def test_an_outline_around_text():
    before = np.pad(text(), ((20, 20), (20, 20), (0, 0)), constant_values=255)
    after = draw(before, rectangle=((25, 25, 270, 62), {"outline": (90, 90, 90), "width": 2}))
    assert said(before, after).sentence.endswith(" got an outline.")


def test_lines_of_text_that_came():
    blank = np.full((48, 260, 3), 255, np.uint8)
    one, other = text("Orders of last week"), text("Messages")
    before = np.concatenate([text(), blank, blank, blank])
    after = np.concatenate([text(), blank, one, other])
    statement = said(before, after)
    assert (statement.kind, statement.element) == ("added", "text")
    assert statement.sentence.startswith("Two texts ")


@pytest.mark.parametrize("words", ["Settings and reposts", "Invoices by country"])
def test_of_other_words_no_style_is_told(words):
    one = said(text(), text(words))
    assert not is_exact(one.kind, one.values)


def test_words_that_are_quite_other_are_rewritten():
    assert said(text("Wow, mild!"), text("Giraffe six")).kind == "rewritten"


def plot(seed):
    """A grid with points at random places."""
    picture = np.full((300, 400, 3), 255, np.uint8)
    picture[40:260:55, 50:350] = picture[40:261, 50:350:60] = 205
    picture[40:261, 349] = picture[260, 50:350] = 205
    places = np.random.default_rng(seed).integers((50, 60), (240, 330), (60, 2))
    for row, column in places:
        picture[row : row + 7, column : column + 7] = (0, 90, 200)
    return picture


def test_a_plot_of_other_data():
    one = said(plot(1), plot(2))
    assert (one.kind, one.values["aspect"]) == ("replaced", "data")
    assert one.sentence == "The plot shows other data."


def test_bars_in_other_colours():
    def bars(*colors):
        picture = np.full((200, 300, 3), 255, np.uint8)
        for number, color in enumerate(colors):
            picture[40 + 20 * number : 180, 40 + 60 * number : 90 + 60 * number] = color
        return picture

    blue, red, green, orange = (0, 90, 200), (210, 20, 20), (20, 140, 40), (250, 140, 0)
    one = said(bars(blue, red, blue), bars(green, orange, green))
    assert one.sentence == (
        "What is drawn in the middle took other colours: blue to dark green, red to orange."
    )


def test_a_thing_that_moved_is_called_by_its_look():
    before, after = (draw(page(), rectangle=((x, 30, x + 19, 49), {"fill": "red"})) for x in (20, 45))
    assert said(before, after).sentence == "The red area at the left moved right by 25 pixels."


def test_more_text_in_place_of_less_was_rewritten():
    """By the amount of ink alone something was added; but what stood there was text as well."""
    blank = np.full((48, 260, 3), 255, np.uint8)
    before = np.concatenate([text("Draft", at=(60.0, 12.0)), blank])
    after = np.concatenate([text("Orders of last week"), text("with all their positions")])
    one = said(before, after)
    assert (one.kind, one.values["aspect"]) == ("rewritten", "text")


def test_a_framed_plot_of_another_size_did_not_get_an_outline():
    pictures = []
    for right, bottom in ((200, 150), (240, 110)):
        picture = draw(page((260, 180)), rectangle=((20, 20, right, bottom), {"outline": (200, 200, 200)}))
        wide, high = (right - 20) / 5, (bottom - 20) / 6
        for k in range(5):
            bar = (
                (round(24 + wide * k), round(bottom - high * (k + 1))),
                (round(10 + wide * (k + 1)), bottom - 1),
            )
            picture = draw(picture, rectangle=(bar, {"fill": (30, 90, 160)}))
        pictures.append(picture)
    one = said(*pictures)
    assert (one.kind, one.values["aspect"]) == ("resized", "size")
    assert one.sentence.endswith(" changed its size from 181 x 131 to 221 x 91 pixels.")


@pytest.mark.parametrize(("high", "kind"), [(5, "restyled"), (30, "moved")])
def test_a_thin_part_beside_its_place_by_a_pixel_was_drawn_differently(high, kind):
    before, after = (np.full((90, 140, 3), 255, np.uint8) for _ in range(2))
    before[30 : 30 + high, 40:80], after[30 : 30 + high, 41:81] = 90, 90
    finding = Finding("moved", "position", 0.7, {"dx": 1, "dy": 0})
    was, now = (40, 30, 80, 30 + high), (41, 30, 81, 30 + high)
    (one,) = refined([DetectedChange(finding, was, now, 40)], before, after)
    assert one.finding.kind == kind


def test_parts_on_bare_ground_were_added():
    """More ink in one box of which the two parts have bare ground around them."""
    before, after = page(), draw(page(), rectangle=((30, 20, 49, 39), {"fill": (200, 30, 30)}))
    after = draw(after, rectangle=((100, 60, 119, 79), {"fill": (200, 30, 30)}))
    box = (30, 20, 120, 80)
    values = {"by_amount": True}
    (one,) = refined([DetectedChange(Finding("added", "thing", 0.3, values), None, box, 800)], before, after)
    assert (one.finding.kind, one.finding.values, one.box_before) == ("added", {}, None)
    assert set(one.boxes) == {(30, 20, 50, 40), (100, 60, 120, 80)}


def test_of_what_only_looks_different_the_colours_are_said():
    before = draw(page(), line=([(30, 20), (90, 70)], {"fill": (30, 30, 200), "width": 6}))
    after = draw(page(), line=([(90, 20), (30, 70)], {"fill": (200, 30, 30), "width": 6}))
    box = (28, 18, 93, 73)
    (one,) = refined([DetectedChange(Finding("replaced", "part", 0.3), box, box, 800)], before, after)
    assert set(one.finding.values) == {"color_before", "color_after"}


@pytest.mark.parametrize(("color", "kind"), [("#181617", "restyled"), ("#404040", "recolored")])
def test_ink_of_the_same_colour_was_only_drawn_differently(color, kind):
    box, plain = (20, 20, 60, 40), np.full((80, 120, 3), 255, np.uint8)
    codes = {"color_before": "#141a18", "color_after": color}
    change = DetectedChange(Finding("recolored", "ink", 0.6, codes), box, box, 200)
    (found,) = refined([change], plain, plain)
    assert found.finding.kind == kind


def test_a_ring_around_a_button_is_no_larger_button():
    ring, blue = (147, 197, 253), (13, 148, 136)
    before = draw(page(), rectangle=((50, 30, 110, 66), {"fill": blue}))
    before = draw(before, text=((66, 40), {"text": "Add", "fill": (255, 255, 255)}))
    after = draw(before, rectangle=((47, 27, 113, 69), {"outline": ring, "width": 3}))
    first = measure(before, after).statements[0]
    assert (first.kind, first.values["aspect"]) == ("restyled", "outline")
