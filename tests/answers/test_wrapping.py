"""Words that wrap to another line."""

import pytest
from support.drawn_lines import box_of, needs_reader, page

from whatchanged.answers.naming import named
from whatchanged.measured import Statement

pytestmark = needs_reader

FIRST, SECOND = (60, 60), (60, 90)
UP = ("complications. You need to take", "it within 24 hours")
DOWN = ("complications. You need to", "take it within 24 hours")


def told(before, after):
    """The statement about the second line, which seems to be rewritten."""
    ends = [page((first, FIRST), (second, SECOND)) for first, second in (before, after)]
    was, now = (box_of(second, SECOND) for _, second in (before, after))
    one = Statement("rewritten", was, now, "As it was.", 0.5, 0.01, {"aspect": "text"}, (now,))
    (found,) = named([one], *ends)
    return found


@pytest.mark.parametrize(("before", "after", "way"), [(UP, DOWN, "down"), (DOWN, UP, "up")])
def test_a_word_that_wraps_elsewhere_moved(before, after, way):
    found = told(before, after)
    assert found.kind == "moved" and found.values["words"] == "take"
    assert found.sentence.startswith('The text "take" moved ') and f" and {way} by " in found.sentence


def test_a_word_that_is_new_was_written():
    found = told(("complications. You need to", UP[1]), DOWN)
    assert (found.kind, found.values["text_after"]) == ("rewritten", "take it")
