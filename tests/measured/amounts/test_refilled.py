import numpy as np
import pytest

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
