"""What became of drawn lines, drawn with a known truth."""

import pytest
from tests.drawn_text import draw, page, text

from whatchanged.measured.amounts.strokes import line_width_change, marker_change

POINTS = [(10, 90), (60, 40), (110, 70), (150, 15)]
BOX = (0, 0, 160, 100)


def curve(width=2, color=(30, 90, 200), markers=0):
    picture = draw(page(), line=(POINTS, {"fill": color, "width": width, "joint": "curve"}))
    for x, y in POINTS if markers else ():
        around = (x - markers, y - markers, x + markers, y + markers)
        picture = draw(picture, ellipse=(around, {"fill": color}))
    return picture


@pytest.mark.parametrize(("before", "after"), [(1, 3), (2, 4), (4, 2)])
def test_a_line_became_thicker_or_thinner(before, after):
    finding = line_width_change(curve(before), curve(after), BOX)
    amounts = finding.values["amount_before"], finding.values["amount_after"]
    assert finding.aspect == "line width"
    assert (amounts[1] > amounts[0]) == (after > before)


def test_bold_text_and_another_course_are_no_line_width():
    assert line_width_change(text(), text(bold=True), (0, 0, 260, 48)) is None
    other = draw(page(), line=([*POINTS[::-1][:3], (10, 10)], {"fill": (30, 90, 200), "width": 5}))
    assert line_width_change(curve(), other, BOX) is None


@pytest.mark.parametrize("on", [True, False])
def test_markers_came_or_went(on):
    pair = (curve(), curve(markers=5)) if on else (curve(markers=5), curve())
    finding = marker_change(*pair, BOX)
    assert (finding.aspect, finding.values) == ("markers", {"on_after": on})


def test_a_thicker_line_has_no_markers():
    assert marker_change(curve(2), curve(4), BOX) is None
