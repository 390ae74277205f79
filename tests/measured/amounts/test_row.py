"""A text that changed its style in a row with other things."""

import numpy as np
from support.drawn_text import draw, text

from whatchanged.measured import measure
from whatchanged.measured.amounts.row import styled_row
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding


def row(bold=False, size=16, step=0, words="Amount", spacing=0):
    """A label with a field right of it."""
    picture = text(words, size=size, bold=bold, spacing=spacing, canvas=(400, 48))
    left = 120 + step
    picture = draw(picture, rectangle=((left, 6, left + 160, 40), {"outline": (150, 150, 150)}))
    picture[14:36, left + 10 : left + 110] = text("Search", at=(2.0, 1.0), canvas=(100, 22))
    return np.pad(picture, ((30, 30), (0, 0), (0, 0)), constant_values=255)


def said(before, after):
    """The first statement of a pair."""
    return measure(before, after).statements[0]


def test_a_bolder_label_moves_its_field():
    one = said(row(), row(bold=True, step=4))
    assert (one.kind, one.values["aspect"], one.values["rest"]) == ("restyled", "weight", [4, 0])


def test_a_smaller_label_moves_its_field():
    one = said(row(size=18), row(size=14, step=-14))
    assert (one.kind, one.values["aspect"], one.values["rest"]) == ("resized", "text size", [-14, 0])


def test_a_label_in_capitals_moves_its_field():
    one = said(row(), row(step=12, words="AMOUNT"))
    assert one.kind == "rewritten" and one.values["rest"] == [12, 0]


def test_a_field_that_moved_alone():
    one = said(row(), row(step=12))
    assert one.kind == "moved"


def test_what_was_cut_off_is_no_part_of_a_row():
    below = DetectedChange(Finding("removed", "thing", 0.5), (10, 60, 60, 80), None, 400)
    page = np.full((50, 100, 3), 255, np.uint8)
    assert styled_row([below], page, page) is None
