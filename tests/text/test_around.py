"""Which lines lie in a box, and which stand beside it."""

import numpy as np
import pytest
from support.drawn_lines import box_of, drawn, page

from whatchanged.text.around import far_lines, first_words, is_text, lines_around, may_be_text, upright_lines

UPLOAD = box_of("Upload", (200, 100))


def relations(box, *lines):
    return [line.relation for line in lines_around(page(*lines), box).beside]


@pytest.mark.parametrize(
    ("box", "relation"),
    [
        ((170, 100, 190, 120), "left of"),
        ((290, 100, 310, 120), "right of"),
        ((210, 130, 230, 150), "below"),
        ((210, 70, 230, 90), "above"),
    ],
)
def test_where_a_thing_stands(box, relation):
    assert relations(box, ("Upload", (200, 100))) == [relation]


def test_what_is_too_far_away():
    assert relations((210, 260, 230, 280), ("Upload", (200, 100))) == []


def test_the_label_of_a_row_and_the_nearest_first():
    lines = (("Notifications", (20, 100)), ("Dark mode", (20, 60)))
    around = lines_around(page(*lines), (300, 98, 340, 122))
    assert [line.relation for line in around.beside] == ["right of"]
    assert around.beside[0].box[1] >= 98
    near = lines_around(page(("Far", (20, 100)), ("Near", (240, 100))), (300, 98, 340, 122))
    assert [line.box[0] > 200 for line in near.beside] == [True, False]


def test_own_lines():
    picture = page(("Delete file?", (120, 100)), ("It is gone for good.", (120, 130)), ("Other", (20, 300)))
    own = lines_around(picture, (100, 80, 400, 180)).own
    assert [line[1] < 120 for line in own] == [True, False]


def test_a_box_that_is_a_part_of_a_line():
    left, top, right, bottom = UPLOAD
    (own,) = lines_around(page(("Upload", (200, 100))), (left + 10, top, left + 24, bottom)).own
    assert own[0] <= left + 2 and own[2] >= right - 2


def test_a_line_that_the_window_cuts_names_nothing():
    long = "a long line of very many words that goes on and on to the left and to the right of it"
    picture = page((long, (10, 100)), width=1200)
    around = lines_around(picture, (700, 130, 720, 150))
    assert around.own == () and around.beside == ()


@pytest.mark.parametrize(
    ("box", "text"), [((195, 98, 280, 124), True), ((150, 60, 500, 300), False), ((195, 98, 600, 124), False)]
)
def test_what_is_nothing_but_text(box, text):
    assert is_text((UPLOAD,), box) is text


def test_nothing_is_no_text():
    assert not is_text((), (0, 0, 10, 10))


@pytest.mark.parametrize(
    ("line", "text"), [((0, 0, 20, 20), False), ((0, 0, 60, 20), True), ((0, 0, 10, 20), True)]
)
def test_icons(line, text):
    assert may_be_text(line) is text


def test_what_is_written_upwards():
    picture = np.rot90(drawn("depth (metres)"))
    left, top, right, bottom = box_of("depth (metres)")
    box = (top - 2, 420 - right - 2, bottom + 2, 420 - left + 2)
    (found,) = upright_lines(picture, box)
    assert abs(found[1] - (420 - right)) <= 3 and abs(found[3] - (420 - left)) <= 3
    assert upright_lines(picture, (0, 0, 64, 64)) == ()


def far(box, *lines):
    return [line.relation for line in far_lines(page(*lines), box)]


def test_the_label_of_a_wide_row():
    assert far((600, 98, 630, 122), ("Upload", (20, 100)), ("Other", (20, 200))) == ["right of"]
    assert far((20, 98, 50, 122), ("Upload", (500, 100))) == ["left of"]


@pytest.mark.parametrize(("menu", "relations"), [((0, 40, 120), []), ((240, 240, 240), ["right of"])])
def test_the_label_of_a_row_stands_on_the_same_ground(menu, relations):
    picture = page(("Upload", (20, 100))).copy()
    part = picture[:, :150]
    part[part.min(axis=2) > 200] = menu
    assert [line.relation for line in far_lines(picture, (600, 98, 630, 122))] == relations


@pytest.mark.parametrize(("top", "relations"), [(190, ["below"]), (20, ["above"]), (330, [])])
def test_a_line_far_above_or_below(top, relations):
    assert far((210, top, 240, top + 20), ("Upload", (200, 100))) == relations


def test_a_box_that_is_a_part_of_several_lines():
    picture = page(("Page last reviewed: 12/02/2016", (20, 100)), ("Next review due: 01/02/2019", (20, 130)))
    own = lines_around(picture, (130, 100, 300, 146)).own
    assert [line[1] < 120 for line in own] == [True, False]


def test_lines_are_in_reading_order():
    """The letters of the right one reach higher: its box begins above that of the left one."""
    around = lines_around(page(("can see", (60, 100)), ("Title", (180, 99))), (50, 90, 400, 140))
    assert [box[0] for box in around.own] == sorted(box[0] for box in around.own)
    assert len(around.own) == 2


def test_the_outlines_of_cells_are_no_line():
    boxes = [((60, 60, 380, 100), "black"), ((62, 62, 218, 98), "white"), ((220, 62, 378, 98), "white")]
    own = lines_around(page(("first", (70, 68)), ("second", (230, 68)), boxes=boxes), (50, 50, 400, 110)).own
    assert len(own) == 2 and max(box[3] - box[1] for box in own) < 30


def test_the_first_words_of_a_row_are_no_icon():
    icon, word, other, below = (0, 0, 16, 16), (30, 2, 90, 14), (120, 2, 300, 14), (0, 40, 200, 54)
    assert first_words([below, icon, other, word]) == (word,)
    assert first_words([icon]) == (icon,) and first_words([]) == ()
