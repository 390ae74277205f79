"""Words at the ends of lines, by readings that are made up."""

import pytest
from support.drawn_lines import reading

from whatchanged.answers.line_ends import end_words, numbered
from whatchanged.measured import Statement


def line(before, after):
    """A rewritten line and its readings."""
    read = ([reading(before, side=0)], [reading(after, side=1)])
    boxes = [lines[0].at.box for lines in read]
    return Statement("rewritten", boxes[0], boxes[1], "", 0.5, values={"aspect": "text"}), read


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("signal", "with signal", (1, "with")),
        ("with signal", "signal", (0, "with")),
        ("Pick one", "Pick one now", (1, "now")),
        ("Pick one", "Pick two", None),
        ("Pick one", "Take one now", None),
    ],
)
def test_words_that_one_end_gained_or_lost(before, after, expected):
    found = end_words(*line(before, after))
    assert (None if found is None else found[:2]) == expected


def test_their_box_ends_where_the_rest_begins():
    one, read = line("signal", "with signal")
    found = end_words(one, read)
    with_columns = read[1][0].line.words[0].columns
    rest = read[1][0].line.words[1].columns
    assert found.box[0] <= with_columns[0] and with_columns[-1] <= found.box[2] < rest[0]


@pytest.mark.parametrize(("gained", "kind"), [(True, "added"), (False, "removed")])
def test_a_number_before_a_line_came_or_went(gained, kind):
    texts = ("Title", "1. Title")
    found = numbered(*line(*(texts if gained else texts[::-1])))
    assert found.kind == kind
    assert (found.box_before is None, found.box_after is None) == (gained, not gained)


def test_words_may_have_wrapped_so_they_are_no_number():
    one, read = line("signal", "with signal")
    assert numbered(one, read) == one
