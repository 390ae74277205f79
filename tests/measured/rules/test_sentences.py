"""What a statement says, by hand."""

import pytest

from whatchanged.measured.result import Statement
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.sentences import (
    Subject,
    plain_subject,
    reword,
    statement,
    subject_text,
    together,
)

SIZE = (100, 50)


def said(finding, before, after, pixels):
    return statement(finding, before, after, pixels, SIZE).sentence


@pytest.mark.parametrize(
    ("kind", "pixels", "sentence"),
    [
        ("removed", 500, "Something over the whole picture was removed (10 % of the picture)."),
        ("removed", 2500, "Something over the whole picture was removed (50 % of the picture)."),
        ("removed", 3000, "Most of the picture differs."),
        ("replaced", 5000, "Most of the picture differs."),
        ("replaced", 9000, "Most of the picture differs."),
    ],
)
def test_no_one_thing_is_said_to_be_most_of_a_picture(kind, pixels, sentence):
    box = (0, 0, 100, 50)
    assert said(Finding(kind, "thing", 0.7), box, box, pixels) == sentence


def test_a_recoloured_picture_is_still_called_that():
    colors = {"color_before": "#ffffff", "color_after": "#202020"}
    text = said(Finding("recolored", "fill", 0.7, colors), (0, 0, 100, 50), (0, 0, 100, 50), 5000)
    assert text == "An area over the whole picture turned from white to dark grey."


def test_a_size_is_told_where_it_changed():
    finding = Finding("resized", "size", 0.7)
    text = said(finding, (10, 10, 30, 20), (10, 10, 34, 20), 40)
    assert text == "Something at the upper left changed its size from 20 x 10 to 24 x 10 pixels."
    text = said(finding, (10, 10, 30, 20), (11, 10, 31, 20), 40)
    assert text == "Something at the upper left changed its size (0.8 % of the picture)."


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (Subject("button", "Save"), 'the button "Save"'),
        (Subject(words="Save"), 'the text "Save"'),
        (Subject("icon", beside='left of "Upload"'), 'the icon left of "Upload"'),
        (Subject(beside='left of "Upload"', position="at the left"), 'something left of "Upload"'),
        (Subject(position="at the left"), "something at the left"),
        (Subject(position="at the left", count=3), "something in three places at the left"),
        (Subject("button", "Mini", position="at the left", count=4), 'the four buttons "Mini"'),
        (Subject("line of text", position="at the top", count=12), "the 12 lines of text at the top"),
    ],
)
def test_subjects(subject, text):
    assert subject_text(subject) == text


def made(kind, values, boxes=((0, 0, 10, 5),), **more):
    return Statement(kind, boxes[0], boxes[0], "", 0.5, 0.2, values, boxes, **more)


@pytest.mark.parametrize(
    ("told", "subject", "sentence"),
    [
        (
            made("added", {"aspect": "thing", "rest": [0, 24]}),
            Subject("banner", position="at the top"),
            "A banner at the top was added, which moved the rest down by 24 pixels.",
        ),
        (
            made("recolored", {"aspect": "border", "color_before": "#000000", "color_after": "#0000ff"}),
            Subject("button", "Save"),
            'The outline of the button "Save" turned from black to blue.',
        ),
        (
            made("recolored", {"aspect": "ink", "color_before": "#000000", "color_after": "#0000ff"}),
            Subject("text", "Save"),
            'The text "Save" turned from black to blue.',
        ),
        (
            made("recolored", {"aspect": "ink", "color_before": "#000000", "color_after": "#0000ff"}),
            Subject(position="at the top"),
            "What is drawn at the top turned from black to blue.",
        ),
        (
            made("restyled", {"aspect": "shadow", "on_after": True}, ((0, 0, 9, 9),) * 2),
            Subject("button", "Mini", count=2),
            'The two buttons "Mini" got a shadow.',
        ),
        (
            made("moved", {"aspect": "position", "dx": 0, "dy": 8}, follows=True),
            Subject(position="at the top"),
            "What follows at the top moved down by 8 pixels.",
        ),
    ],
)
def test_a_statement_is_put_into_words_again(told, subject, sentence):
    assert reword(told, subject, SIZE).sentence == sentence


def test_what_is_said_of_the_whole_picture_stays():
    told = Statement(
        "moved", (0, 0, 9, 9), (0, 0, 9, 9), "The picture was turned.", 0.9, 1.0, {"aspect": "turn"}
    )
    assert reword(told, Subject("button", "Save"), SIZE) == told


def test_a_look_is_a_noun_for_what_has_no_other():
    finding, box = Finding("moved", "position", 0.7, {"dx": 3, "dy": 0}), (0, 0, 20, 20)
    one = statement(finding, box, box, 40, SIZE, look="red shape")
    assert one.sentence == "The red shape at the upper left moved right by 3 pixels."
    assert one.values["look"] == "red shape" and one.element is None
    named = statement(finding, box, box, 40, SIZE, look="red shape", element="icon")
    assert named.sentence == "The icon at the upper left moved right by 3 pixels."


@pytest.mark.parametrize(
    ("subject", "sentence"),
    [
        (Subject("icon", position="at the top"), "The icon at the top turned from black to blue."),
        (Subject("bar", position="at the top"), "The bar at the top turned from black to blue."),
        (Subject("red shape", position="at the top"), "The red shape at the top turned from black to blue."),
        (
            Subject("band", position="across the top"),
            "What is drawn in the band across the top turned from black to blue.",
        ),
        (
            Subject("area", None, 'with "Save"'),
            'What is drawn in the area with "Save" turned from black to blue.',
        ),
    ],
)
def test_what_of_a_thing_has_the_colour(subject, sentence):
    told = made("recolored", {"aspect": "ink", "color_before": "#000000", "color_after": "#0000ff"})
    assert reword(told, subject, SIZE).sentence == sentence


def test_more_ink_without_an_amount_is_no_text():
    told = made("restyled", {"aspect": "weight"})
    assert plain_subject(told, SIZE).noun is None
    bolder = made("restyled", {"aspect": "weight", "amount_before": 1.0, "amount_after": 1.4})
    assert plain_subject(bolder, SIZE).noun == "text"


def test_a_plot_has_no_place_beside_its_noun():
    told = made("replaced", {"aspect": "data", "same_axes": True})
    assert reword(told, Subject("plot", position="over the whole picture"), SIZE).sentence == (
        "The plot shows other data."
    )


@pytest.mark.parametrize(
    ("values", "element", "sentence"),
    [
        ({}, None, "Something at the upper left shows more than before (1.0 % of the picture)."),
        ({"look": "green shape"}, None, "The green shape at the upper left shows more than before."),
        ({}, "icon", "An icon at the upper left was added."),
    ],
)
def test_more_ink_at_a_place_is_told_as_more_where_the_thing_is_unknown(values, element, sentence):
    finding = Finding("added", "thing", 0.3, {"by_amount": True, **values})
    told = statement(finding, None, (0, 0, 10, 10), 100, (100, 100), element=element)
    assert told.sentence == sentence


def test_what_a_filled_area_replaced():
    finding = Finding("replaced", "fill", 0.5, {"color_after": "#000000"})
    told = statement(finding, (0, 0, 10, 10), (0, 0, 10, 10), 100, (100, 100), look="area")
    assert told.sentence == "What stood at the upper left was replaced by a black area."


@pytest.mark.parametrize(
    ("dx", "dy", "told"),
    [
        (0, -8, "moved up by 8 pixels, and the picture became 8 pixels shorter."),
        (1, 0, "moved up by 8 pixels, and the picture became 1 pixel wider."),
        (1, 4, "moved up by 8 pixels; the picture's size changed."),
    ],
)
def test_a_picture_that_grew_along_one_side_is_told_in_the_same_breath(dx, dy, told):
    moved = statement(
        Finding("moved", "position", 0.7, {"dx": 0, "dy": -8}), (0, 8, 9, 9), (0, 0, 9, 1), 9, SIZE
    )
    values = {"aspect": "canvas", "dx": dx, "dy": dy}
    box = (0, 0, *SIZE)
    sentence = "The picture's size changed."
    canvas = Statement("resized", box, box, sentence, 0.6, 1.0, values=values, boxes=(box,))
    assert together([moved, canvas]).endswith(told)
    assert together([canvas]) == sentence


def test_what_moved_with_the_edge_of_a_picture_is_no_further_place():
    box = (0, 0, *SIZE)
    values = {"aspect": "canvas", "dx": 0, "dy": 8}
    canvas = Statement("resized", box, box, "The picture became 8 pixels taller.", 0.6, 1.0, values, (box,))
    finding = Finding("moved", "position", 0.7, {"dx": 0, "dy": 8})
    rest = statement(finding, (0, 10, 100, 42), (0, 18, 100, 50), 9, SIZE, cause=False)
    told = "The picture became 8 pixels taller, and what follows"
    assert together([canvas, rest]).startswith(told)
    assert "more place" not in together([canvas, rest])


@pytest.mark.parametrize(
    ("on_after", "subject", "told"),
    [
        (True, Subject("band", None, 'above "Topic"'), 'A shadow above "Topic" appeared.'),
        (False, Subject(None, None, "", "at the top"), "The shadow at the top disappeared."),
        (True, Subject("button", "Save"), 'The button "Save" got a shadow.'),
    ],
)
def test_a_shadow_of_something_unknown_is_named_itself(on_after, subject, told):
    box = (0, 0, 100, 5)
    values = {"aspect": "shadow", "on_after": on_after}
    shadow = Statement("restyled", box, box, "", 0.7, 0.1, values, (box,))
    assert reword(shadow, subject, SIZE).sentence == told
