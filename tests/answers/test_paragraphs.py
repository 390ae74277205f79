"""Paragraphs that wrap at other words."""

import pytest
from support.drawn_lines import needs_reader, page

from whatchanged.answers.naming import named
from whatchanged.measured import Statement

pytestmark = needs_reader

NARROW = (
    "Please bring your travel documents",
    "and arrive at the gate thirty",
    "minutes before the departure",
)
WIDE = ("Please bring your travel documents and", "arrive at the gate thirty minutes", "before the departure")


def told(before, after, box=(60, 60, 420, 140), **values):
    """The first statement about a place that looks different."""
    ends = [page(*((text, (60, 60 + 28 * row)) for row, text in enumerate(side))) for side in (before, after)]
    values = values or {"aspect": "part"}
    one = Statement("replaced", box, box, "As it was.", 0.3, 0.05, values, (box,))
    return named([one], *ends)[0]


@pytest.mark.parametrize(("before", "after"), [(NARROW, WIDE), (WIDE, NARROW)])
def test_the_same_words_in_other_lines(before, after):
    found = told(before, after)
    assert (found.kind, found.values["aspect"]) == ("moved", "wrap")
    assert found.sentence == 'The text "Please bring your travel documents …" wraps at other words.'


def test_the_last_line_may_lie_below_the_place_that_differs():
    before, after = ("before the", "departure of flight nine"), ("before the departure of flight nine",)
    found = told((*WIDE[:2], *before), (*WIDE[:2], *after), (60, 100, 420, 140))
    assert found.values["aspect"] == "wrap"


def test_other_words_were_written():
    other = (NARROW[0], "and arrive at the port thirty", NARROW[2])
    assert told(other, WIDE).values["aspect"] != "wrap"


def test_the_same_lines_do_not_wrap():
    assert told(NARROW, NARROW).values["aspect"] != "wrap"
