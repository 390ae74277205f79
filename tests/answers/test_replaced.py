"""Pictures that were replaced by others: the text that only one of them shows."""

import pytest
from support.drawn_lines import needs_reader, page

from whatchanged.answers.replaced import with_texts
from whatchanged.measured import Statement
from whatchanged.measured.rules.sentences import is_mostly

pytestmark = needs_reader
SENTENCE = "Most of the picture differs."
BLUE = ((0, 60, 640, 400), "navy")


def replaced(before, after):
    box = (0, 0, 640, 400)
    values = {"aspect": "picture"}
    one = Statement("replaced", box, box, SENTENCE, 0.5, share=0.9, values=values, boxes=(box,))
    assert is_mostly(one)
    return with_texts(one, (before, after))


def test_the_largest_text_of_each_picture_is_quoted():
    before = page(("Search the archive", (30, 20)), boxes=[BLUE])
    now = replaced(before, page(("Unexpected error", (30, 200))))
    told = 'it now says "Unexpected error" instead of "Search the archive"'
    assert now.sentence == f"Most of the picture differs: {told}."
    assert now.values["text_before"] == "Search the archive"
    assert now.values["text_after"] == "Unexpected error"


def test_a_picture_without_text():
    empty, full = page(boxes=[BLUE]), page(("Unexpected error", (30, 200)))
    assert replaced(empty, full).sentence.endswith(': it now says "Unexpected error".')
    assert replaced(full, empty).sentence.endswith(': it no longer says "Unexpected error".')
    assert replaced(empty, empty).sentence == SENTENCE


@pytest.mark.parametrize("other", ["Unexpected error", "1. Unexpected error", "Unexpected errors *"])
def test_a_text_that_both_show_is_not_quoted(other):
    before = page(("Unexpected error", (30, 20)), boxes=[BLUE])
    assert replaced(before, page((other, (30, 200)))).sentence == SENTENCE


def test_of_a_picture_with_many_lines_it_is_unknown_what_it_does_not_say():
    many = page(*[(f"Line of text {number}", (30, 25 * number)) for number in range(15)])
    few = page(("Unexpected error", (30, 200)))
    assert "now says" not in replaced(many, few).sentence
    assert "no longer says" in replaced(many, few).sentence


def test_what_is_said_of_a_part_is_no_replacement():
    box = (0, 0, 64, 40)
    assert not is_mostly(Statement("replaced", box, box, "The icon shows other content.", 0.5))
