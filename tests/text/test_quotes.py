"""Which words are quoted, and when none are."""

import pytest
from support.drawn_lines import STEP, reading

from whatchanged.text.quotes import Quotes, certain, differing, handle, same_words, shortened


@pytest.mark.parametrize(
    ("before", "after", "quoted"),
    [
        ("Save file", "Store file", ("Save", "Store")),
        ("Total 17.5 kg", "Total 19.5 kg", ("17.5", "19.5")),
        ("Edit save", "Edit old save", ("Edit", "Edit old")),
        ("General create close", "General create", ("create close", "create")),
        ("old save", "save", ("old save", "save")),
        ("one two three four", "one 2 3 four", ("two three", "2 3")),
    ],
)
def test_the_words_that_differ(before, after, quoted):
    assert differing(before, after) == Quotes(*quoted)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Save", "Save"),
        ("Ill", "lI1"),
        ("10 O", "1O 0"),
        ("modern", "modem"),
        ("$value", "Svalue"),
        ("Save.", "Save,"),
        ("", "Save"),
        ("a b c", "d a e"),  # perhaps not the same part of the line
        ("a " * 40, "b " * 40),
        ("u", "Save"),
    ],
)
def test_nothing_is_quoted(before, after):
    assert differing(before, after) is None


@pytest.mark.parametrize(
    ("text", "certainty", "words"),
    [
        ("Save file", 1.0, "Save file"),
        ("Save file", 0.91, "Save file"),
        ("Save file", 0.89, None),
        ("O Search", 1.0, "Search"),  # an icon at the left
        ("Search ×", 1.0, "Search"),
        ("A search", 1.0, "A search"),
        ("7", 1.0, "7"),
        ("x", 1.0, None),
        ("–", 1.0, None),
        ("Привет", 1.0, None),
        ("שלום", 1.0, None),
        ("設定", 1.0, "設定"),
        ("Save file", [0.3, 1.0], "file"),
        ("Save this file", [1.0, 0.5, 1.0], None),
    ],
)
def test_a_handle(text, certainty, words):
    assert handle(reading(text, certainty)) == words


def test_a_handle_of_some_words():
    assert handle(reading("Save this file"), [1, 2]) == "this file"


def test_letters_that_are_not_known_between_those_of_a_handle():
    beside = len("Save") * STEP
    assert handle(reading("Save file", extra=[beside])) is None
    assert handle(reading("Save file", extra=[(len("Save file") + 1) * STEP])) == "Save file"


@pytest.mark.parametrize(
    ("text", "certainty", "words"),
    [
        ("Save file", 1.0, "Save file"),
        ("Save file", 0.94, None),
        ("Save file", [1.0, 0.9], None),
        ("OrderServer", 1.0, None),  # two words whose space was not seen
        ("[ Save", 1.0, "Save"),
        ("Привет", 1.0, None),
    ],
)
def test_words_that_are_the_change(text, certainty, words):
    found = reading(text, certainty)
    assert certain(found, range(len(found.line.words))) == words


def test_ink_of_which_nothing_was_read_beside_words_that_are_the_change():
    found = reading("Save", extra=[(len("Save") + k) * STEP for k in (1, 2)])
    assert certain(found, [0]) is None
    assert certain(found, [0], alone=True) == "Save"


def test_an_icon_beside_words_that_are_the_change():
    assert certain(reading("Save", extra=[(len("Save") + 1) * STEP]), [0]) == "Save"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("one two three four five", "one two three four five"),
        ("one two three four five six", "one two three four five …"),
        ("one two three four five, six", "one two three four five …"),
        ("a" * 90, "a" * 59 + "…"),
    ],
)
def test_at_most_five_words(text, short):
    assert shortened(text) == short


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Save", "save.", True), ("modern", "modem", True), ("O", "0", True), ("175", "195", False)],
)
def test_letters_of_one_shape(one, other, same):
    assert same_words(one, other) == same


def test_a_capital_of_the_same_shape_is_no_other_word():
    assert differing("v 8.0.0 today", "V 8.1.0 today") == ("8.0.0", "8.1.0")
    assert differing("a 8.0.0 today", "A 8.1.0 today") == ("a 8.0.0", "A 8.1.0")
