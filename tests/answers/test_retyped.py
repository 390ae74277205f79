"""Lines of the same words whose letters became wider, by readings that are made up."""

from dataclasses import replace

import pytest
from support.drawn_lines import reading
from support.drawn_text import text

from whatchanged.answers.retyped import in_other_type
from whatchanged.measured import Statement
from whatchanged.measured.amounts.coverage import ink_box, read_coverage

WORDS = "Settings and reports"


def ink_of(picture):
    """The box of the ink of a picture."""
    return tuple(int(side) for side in ink_box(read_coverage(picture).ink))


def line_of(words, picture, side):
    """The only line of a picture as if these words had been read."""
    one = reading(words, side=side)
    return [one._replace(at=one.at._replace(box=ink_of(picture)))]


def told(before, after, words=(WORDS, WORDS), kind="moved", values=None):
    """The statement about the right half of a line, after it was read."""
    was, now = ink_of(before), ink_of(after)
    halves = [((box[0] + box[2]) // 2, box[1], box[2], box[3]) for box in (was, now)]
    values = {"aspect": "position", "dx": now[2] - was[2], "dy": 0} if values is None else values
    statement = Statement(kind, halves[0], halves[1], "", 0.5, values=values, boxes=(halves[1],))
    read = tuple(
        line_of(one, picture, side)
        for side, (one, picture) in enumerate(zip(words, (before, after), strict=True))
    )
    return statement, in_other_type(statement, read, (before, after))


def test_the_end_of_a_line_that_moved_is_wider_spacing_of_the_whole_line():
    before, after = text(spacing=0.01), text(spacing=1)
    _, found = told(before, after)
    assert (found.kind, found.values["aspect"]) == ("restyled", "letter spacing")
    assert found.box_after == ink_of(after)


def test_other_words_did_not_change_their_type():
    statement, found = told(text(spacing=0.01), text(spacing=1), words=(WORDS, "Settings and records"))
    assert found is statement


def test_a_line_that_moved_as_a_whole_stays_moved():
    statement, found = told(text(), text(at=(32.0, 12.0)))
    assert found is statement


def test_a_line_that_moved_farther_than_it_grew_stays_moved():
    statement, found = told(
        text(spacing=0.01, canvas=(460, 48)), text(spacing=1, at=(150.0, 12.0), canvas=(460, 48))
    )
    assert found is statement


@pytest.mark.parametrize("kind", ["recolored", "resized"])
def test_what_seemed_another_colour_or_length(kind):
    aspect = {"recolored": "ink", "resized": "length"}[kind]
    _, found = told(text(size=14), text(size=18), kind=kind, values={"aspect": aspect})
    assert (found.kind, found.values["aspect"]) == ("resized", "text size")


def test_other_statements_are_kept():
    before, after = text(spacing=0.01), text(spacing=1)
    statement, _ = told(before, after)
    other = replace(statement, kind="added", box_before=None)
    assert in_other_type(other, ([], []), (before, after)) is other
