"""What is said of a change, by its kind and values."""

import pytest

from whatchanged.measured.result import KINDS
from whatchanged.measured.rules.predicates import is_exact, predicate


@pytest.mark.parametrize(
    ("kind", "values", "text"),
    [
        ("moved", {"dx": -8, "dy": 0}, "moved left by 8 pixels"),
        ("moved", {"dx": 12, "dy": 0, "align_after": "center"}, "is now centred, right by 12 pixels"),
        ("resized", {"aspect": "length", "dx": 12, "grew": True}, "became 12 pixels wider"),
        ("resized", {"dwidth": 4, "dheight": -1}, "became 4 pixels wider and 1 pixel shorter"),
        (
            "resized",
            {"aspect": "text size", "amount_before": 14, "amount_after": 16},
            "became larger, 14 to 16 pixels",
        ),
        (
            "restyled",
            {"aspect": "slant", "on_after": True, "color_before": "#0000ff", "color_after": "#ff0000"},
            "is now in italics, and turned from blue to red",
        ),
        ("moved", {"align_after": "center"}, "is now centred"),
        ("added", {"aspect": "dialog", "veil": True}, "was added, and the rest was dimmed"),
        ("removed", {"aspect": "dialog", "veil": False}, "was removed, and the rest is no longer paler"),
        (
            "recolored",
            {"aspect": "surface", "fill_after": "#ffffff", "outline_after": "#808080"},
            "took a white fill and a grey outline",
        ),
        (
            "recolored",
            {"aspect": "surface", "fill_before": "#ff0000", "outline_before": "#808080"},
            "lost its red fill and its outline",
        ),
        ("restyled", {"aspect": "weight", "amount_before": 2.1, "amount_after": 1.4}, "became less bold"),
        (
            "restyled",
            {"aspect": "border width", "amount_before": 1, "amount_after": 2.5},
            "got a thicker outline, 1 to 2.5 pixels",
        ),
        ("restyled", {"aspect": "shadow", "on_after": False}, "lost its shadow"),
        ("resized", {"aspect": "length", "wider": False}, "became narrower"),
        ("resized", {"aspect": "length", "taller": True}, "became taller"),
        ("replaced", {"aspect": "filled", "on_after": False}, "is now only outlined"),
        (
            "recolored",
            {"aspect": "fill", "color_before": "#0000ff", "color_after": "#404040"},
            "turned from blue to dark grey",
        ),
        (
            "recolored",
            {"aspect": "opacity", "amount_before": 1, "amount_after": 0.4},
            "faded to about 40 % of its strength",
        ),
        ("replaced", {"aspect": "icon", "state": "checked", "on_after": True}, "was checked"),
        ("rewritten", {"text_before": "3", "text_after": "4"}, 'changed from "3" to "4"'),
        ("rewritten", {"text_after": "Back"}, 'now reads "Back"'),
        ("rewritten", {"text_before": "Go back"}, 'no longer reads "Go back"'),
        ("rewritten", {"other_words": True}, "reads differently"),
        ("restyled", {"aspect": "ring", "on_after": True}, "got a ring around it"),
        (
            "recolored",
            {"aspect": "contrast", "amount_before": 1, "amount_after": 0.4},
            "is drawn more faintly",
        ),
        (
            "restyled",
            {"aspect": "shape", "same_words": True},
            "is drawn slightly differently",
        ),
        (
            "restyled",
            {"aspect": "shape", "same_words": True, "amount_before": 1, "amount_after": 1.1},
            "looks slightly bolder",
        ),
        (
            "recolored",
            {"aspect": "palette", "colors": [["#0000ff", "#ff0000"], ["#008000", "#ffffff"]]},
            "took other colours: blue to red, dark green to white",
        ),
        ("recolored", {"aspect": "palette", "colors": []}, "took other colours"),
        (
            "recolored",
            {"aspect": "palette", "colors": [], "color_before": "#0000ff"},
            "took several colours instead of blue",
        ),
        (
            "recolored",
            {"aspect": "opacity", "amount_before": 0.5, "amount_after": 1.0},
            "became less transparent, about 2 times as strong as before",
        ),
        (
            "rewritten",
            {"text_before": "3", "text_after": "4", "one_of_them": True},
            'changed, one of them from "3" to "4"',
        ),
        ("replaced", {"aspect": "data", "same_axes": True}, "shows other data"),
    ],
)
def test_what_was_measured_is_said(kind, values, text):
    assert is_exact(kind, values)
    assert predicate(kind, values) == text


@pytest.mark.parametrize("kind", [*KINDS, None])
def test_without_values_the_kind_alone_is_said(kind):
    assert not is_exact(kind, {"aspect": "thing"})
    assert predicate(kind, {"aspect": "thing"}) == predicate(kind, {})


def test_an_amount_that_did_not_change_says_nothing():
    values = {"aspect": "weight", "amount_before": 2, "amount_after": 2}
    assert predicate("restyled", values) == predicate("restyled", {"aspect": "weight"})


@pytest.mark.parametrize(
    ("kind", "aspect", "text"),
    [
        ("replaced", "icon", "looks different"),
        ("replaced", "part", "looks different"),
        ("restyled", "weight", "looks different"),
        ("restyled", "shape", "looks slightly different"),
        ("replaced", "picture", "was replaced"),
    ],
)
def test_what_no_finer_word_explains_is_only_said_to_look_different(kind, aspect, text):
    values = {"aspect": aspect}
    assert predicate(kind, values) == text and not is_exact(kind, values)
    assert predicate(kind, values, 2) == text.replace("looks", "look").replace("was", "were")


@pytest.mark.parametrize(
    ("kind", "values", "text"),
    [
        ("added", {}, "were added"),
        ("restyled", {"aspect": "shadow", "on_after": False}, "lost their shadow"),
        ("restyled", {"aspect": "decoration", "on_after": True}, "were underlined"),
    ],
)
def test_of_several_things_the_verb_is_in_the_plural(kind, values, text):
    assert predicate(kind, values, 3) == text


def test_a_text_that_was_not_read_is_not_said_to_have_other_words():
    assert predicate("rewritten", {"aspect": "text"}) == "looks different"


def test_what_only_looks_different_is_said_with_its_colours():
    values = {"aspect": "part", "color_before": "#0000ff", "color_after": "#ff0000"}
    assert predicate("replaced", values) == "looks different, red instead of blue"
    assert predicate("replaced", values, 2) == "look different, red instead of blue"
    assert not is_exact("replaced", values)
