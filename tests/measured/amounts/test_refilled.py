import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.amounts.refilled import only_refilled, refilled_part
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

BOX = (20, 20, 220, 100)
WHITE, GREY, GREEN = (255, 255, 255), (240, 240, 240), (25, 179, 148)


def rows(upper, lower):
    """Two rows of a list, 40 pixels high each, with some text in the lower one."""
    picture = np.full((140, 260, 3), 255, np.uint8)
    picture[20:60, 20:220] = upper
    picture[60:100, 20:220] = lower
    picture[74:86, 30:70:3] = 60
    return picture


def test_only_the_row_that_took_the_fill_is_meant():
    part = refilled_part(rows(GREY, WHITE), rows(WHITE, GREEN), BOX, (WHITE, GREEN))
    assert part == (20, 60, 220, 100)


def test_a_whole_box_is_no_part():
    assert refilled_part(rows(WHITE, WHITE), rows(GREEN, GREEN), BOX, (WHITE, GREEN)) is None


@pytest.mark.parametrize(("kind", "box"), [("recolored", (20, 60, 220, 100)), ("replaced", BOX)])
def test_the_statement_takes_the_box_of_the_fill(kind, box):
    codes = {"color_before": "#ffffff", "color_after": "#19b394"}
    change = DetectedChange(Finding(kind, "fill", 0.7, codes), BOX, BOX, 16000)
    found = only_refilled(change, rows(GREY, WHITE), rows(WHITE, GREEN))
    assert (found.box_before, found.box_after) == (box, box)


def selected(chosen=None, hovered=None, other="----"):
    """Four rows of a list, one of them selected, one of them hovered."""
    picture = np.full((200, 260, 3), 255, np.uint8)
    for row in range(4):
        top = 20 + 40 * row
        if row == hovered:
            picture[top : top + 40, 20:220] = 238
        if row == chosen:
            picture[top : top + 40, 20:220] = (27, 115, 232)
        marks = range(30, 30 + 10 * len(other) + 8 * row, 6)
        for x in marks:
            picture[top + 14 : top + 26, x : x + 3] = 255 if row == chosen else 40
    return picture


def test_a_row_that_was_selected_beside_one_that_lost_its_highlight():
    one = measure(selected(hovered=1), selected(chosen=2)).statements[0]
    assert (one.kind, one.values["aspect"], one.values["color_after"]) == ("recolored", "fill", "#1b73e8")
    assert one.box_after == (20, 100, 220, 140)


def test_other_content_on_another_fill_is_more_than_a_fill():
    after = selected(chosen=2)
    after[110:130, 24:200] = (27, 115, 232)
    after[105:135:4, 120:210] = 255
    change = DetectedChange(
        Finding("replaced", "content", 0.3), (20, 60, 220, 140), (20, 60, 220, 140), 16000
    )
    assert only_refilled(change, selected(hovered=1), after) is change
