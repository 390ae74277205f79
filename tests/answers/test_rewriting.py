"""Whether a text was rewritten, by readings that are made up."""

from dataclasses import replace

import numpy as np
import pytest
from support.drawn_lines import box_of, drawn, reading

from whatchanged.answers.rewriting import by_words
from whatchanged.measured import Statement

BOX = (0, 0, 120, 20)
ROWS = ((0, 0, 120, 9), (0, 10, 120, 20))
BLANK = np.full((40, 300, 3), 255, np.uint8)
TEXT = Statement("rewritten", BOX, BOX, "", 0.5, values={"aspect": "text"})


def told(before, after, statement=TEXT, pictures=(BLANK, BLANK)):
    read = tuple([reading(text, side=side) for text in texts] for side, texts in enumerate((before, after)))
    return by_words(statement, read, pictures)


def test_the_words_that_differ_are_quoted():
    found = told(["Save file"], ["Store file"])
    assert found.kind == "rewritten"
    words = {"text_before": "Save", "text_after": "Store"}
    assert found.values == {"aspect": "text", "other_words": True, **words}


def test_a_letter_that_became_small_is_quoted_where_its_capital_has_another_shape():
    found = told(["Loading Rows"], ["Loading rows"])
    assert (found.kind, found.values["text_before"], found.values["text_after"]) == (
        "rewritten",
        "Rows",
        "rows",
    )
    assert told(["Loading Cows"], ["Loading cows"]).kind == "restyled"


@pytest.mark.parametrize(("rest", "quoted"), [([0, 40], False), ([0, 8], True), ([40, 0], True)])
def test_nothing_is_quoted_where_lines_were_pushed_into_or_out_of_the_place(rest, quoted):
    found = told(["Save file"], ["Store file"], replace(TEXT, values={"aspect": "text", "rest": rest}))
    assert found.kind == "rewritten" and ("text_after" in found.values) == quoted


def test_several_lines():
    values = told(["Save file", "to disk"], ["Save file", "to tape"]).values
    assert (values["text_before"], values["text_after"]) == ("disk", "tape")


@pytest.mark.parametrize("kind", ["restyled", "replaced", "recolored", "resized"])
def test_other_words_are_a_text_that_was_rewritten_whatever_it_looks_like(kind):
    found = told(
        ["Save"], ["Store"], replace(TEXT, kind=kind, values={"aspect": "weight", "amount_before": 1})
    )
    assert found.kind == "rewritten" and "amount_before" not in found.values


def test_a_control_whose_state_seemed_to_change_is_none():
    one = replace(
        TEXT, kind="restyled", element="radio button", values={"aspect": "shape", "state": "checked"}
    )
    found = told(["Save"], ["Store"], one)
    assert (found.kind, found.element) == ("rewritten", None) and "state" not in found.values


def test_the_same_words_are_no_text_that_was_rewritten():
    assert told(["Save"], ["Save"]).kind == "restyled"
    other = replace(TEXT, kind="recolored", values={"aspect": "ink"})
    assert told(["Save"], ["Save"], other) == other


@pytest.mark.parametrize(
    ("now", "kind", "values"),
    [
        ((0, 0, 300, 120), "restyled", {"aspect": "shape"}),
        ((0, 0, 292, 120), "resized", {"aspect": "length", "dwidth": -8, "dheight": 0}),
    ],
)
def test_what_holds_a_text_of_the_same_words_was_not_rewritten(now, kind, values):
    button = replace(TEXT, box_before=(0, 0, 300, 120), box_after=now)
    found = told(["Save"], ["Save"], button)
    assert (found.kind, found.values) == (kind, values)


@pytest.mark.parametrize("kind", ["rewritten", "resized", "restyled"])
def test_other_words_in_a_thing_of_another_size_are_what_changed(kind):
    button = replace(
        TEXT, kind=kind, values={"aspect": "size"}, box_before=(0, 0, 300, 120), box_after=(0, 0, 330, 120)
    )
    found = told(["Save"], ["Store"], button)
    assert found.kind == ("restyled" if kind == "restyled" else "rewritten")
    assert ("text_after" in found.values) == (kind != "restyled")
    assert told(["Save", "as"], ["Store", "as"], button).kind == kind  # a card of several lines


def test_the_same_words_in_another_colour():
    black, red = BLANK.copy(), BLANK.copy()
    black[8:14, 2:20], red[8:14, 2:20] = 0, (200, 0, 0)
    found = told(["Save"], ["Save"], pictures=(black, red))
    assert found.kind == "recolored"
    assert found.values == {"aspect": "ink", "color_before": "#000000", "color_after": "#c80000"}


def test_the_same_words_elsewhere():
    one, other = reading("Save", side=0), reading("Save", at=(6, 4))
    found = by_words(TEXT, ([one], [other]), (BLANK, BLANK))
    assert (found.kind, found.values) == ("moved", {"aspect": "position", "dx": 6, "dy": 4})


def test_the_same_words_in_larger_letters():
    lines = []
    for side, size in enumerate((16, 20)):
        box = box_of("Total amount", size=size)
        picture = drawn("Total amount", size=size)
        one = reading("Total amount", side=side)
        lines.append((picture, one._replace(at=one.at._replace(box=box))))
    (before, one), (after, other) = lines
    whole = replace(TEXT, box_before=one.at.box, box_after=other.at.box)
    found = by_words(whole, ([one], [other]), (before, after))
    assert (found.kind, found.values["aspect"]) == ("resized", "text size")
    assert found.values["amount_before"] < found.values["amount_after"]


def test_unsure_readings():
    """They do not decide, unless they are of two texts for sure."""
    one, other = reading("Total 175", 0.92, side=0), reading("Total 176", 0.92)
    assert by_words(TEXT, ([one], [other]), (BLANK, BLANK)) == TEXT
    restyled = replace(TEXT, kind="restyled")
    found = by_words(restyled, ([one], [reading("Accounts", 0.92)]), (BLANK, BLANK))
    assert found.kind == "rewritten" and "text_before" not in found.values


def test_icons_are_no_words():
    icon = reading("O", 0.3)
    assert by_words(TEXT, ([icon], [icon]), (BLANK, BLANK)).kind == "restyled"


def test_what_is_not_read_well_is_no_icon_where_it_is_long():
    unread = reading("Привет", 0.3)
    assert by_words(TEXT, ([unread], [unread]), (BLANK, BLANK)) == TEXT


def test_what_has_no_line_at_all_is_no_text():
    assert told([], []).kind == "restyled"


@pytest.mark.parametrize("kind", ["added", "removed"])
def test_what_is_in_one_picture_alone_stays(kind):
    one = (
        replace(TEXT, kind=kind, box_before=None)
        if kind == "added"
        else replace(TEXT, kind=kind, box_after=None)
    )
    assert told(["Save"], ["Store"], one) == one


def test_the_same_words_that_only_look_otherwise():
    assert told(["Save"], ["Save"]).values == {"aspect": "shape", "same_words": True}


def test_the_same_words_with_a_little_more_ink():
    thin, box = drawn("Total amount", size=18), box_of("Total amount", size=18)
    spread = 255 - 0.3 * (255.0 - np.roll(thin, 1, axis=1))
    thick = np.minimum(thin, spread).astype(np.uint8)
    lines = [reading("Total amount", side=side) for side in (0, 1)]
    one, other = (line._replace(at=line.at._replace(box=box)) for line in lines)
    whole = replace(TEXT, box_before=box, box_after=box)
    values = by_words(whole, ([one], [other]), (thin, thick)).values
    assert values["same_words"] and values["amount_after"] > values["amount_before"]


def test_lines_without_a_common_end_are_quoted_whole():
    found = told(["Contact us"], ["Give us feedback"])
    assert (found.values["text_before"], found.values["text_after"]) == ("Contact us", "Give us feedback")


def test_a_line_that_was_cut_is_not_quoted_so():
    short = (0, 0, 100, 20)
    one = replace(TEXT, box_before=short, box_after=short)
    cut = told(["us contact and so on and so forth"], ["give us all of that and so on"], one)
    assert "text_before" not in cut.values


@pytest.mark.parametrize(("after", "read"), [("Store file", True), ("Save", False)])
def test_a_text_that_begins_alike_may_have_been_wrapped_where_lines_were_pushed(after, read):
    pushed = replace(TEXT, values={"aspect": "text", "rest": [0, 40]})
    assert ("other_words" in told(["Save file"], [after], pushed).values) is read


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (["If you develop symptoms", "of anaphylaxis"], "rewritten"),
        (["Stay away from", "school or nursery"], "replaced"),
    ],
)
def test_a_place_with_mostly_other_words_reads_differently_and_with_the_same_ones_does_not(after, kind):
    """The same words may wrap elsewhere."""
    one = replace(TEXT, kind="replaced", box_before=(0, 0, 400, 200), box_after=(0, 0, 400, 200))
    one = replace(one, values={"aspect": "part"})
    assert told(["Stay away", "from school or nursery"], after, one).kind == kind


def test_words_that_can_be_quoted_are_quoted_of_a_vague_change_too():
    one = replace(TEXT, kind="replaced", values={"aspect": "part"})
    found = told(["Porting"], ["Deeper"], one)
    assert (found.values["text_before"], found.values["text_after"]) == ("Porting", "Deeper")


def test_text_that_became_smaller_and_paler_is_told_so():
    lines = []
    for side, (size, color) in enumerate(((20, "black"), (16, "grey"))):
        box = box_of("Total amount", size=size)
        picture = drawn("Total amount", color, size=size)
        one = reading("Total amount", side=side)
        lines.append((picture, one._replace(at=one.at._replace(box=box))))
    (before, one), (after, other) = lines
    whole = replace(TEXT, box_before=one.at.box, box_after=other.at.box)
    found = by_words(whole, ([one], [other]), (before, after))
    assert (found.kind, found.values["aspect"]) == ("resized", "text size")
    assert (found.values["color_before"], found.values["color_after"]) == ("#000000", "#818181")


def test_several_lines_of_the_same_words_have_no_other_typeface():
    """Only the first of them would be measured, and it may stand elsewhere."""
    read = tuple(
        [_at(reading(text, side=side), box) for text, box in zip(("Save file", "to disk"), ROWS, strict=True)]
        for side in (0, 1)
    )
    assert by_words(TEXT, read, (BLANK, BLANK)) == TEXT


def _at(one, box):
    """A reading at another place."""
    return one._replace(at=one.at._replace(box=box))


def test_a_sign_in_front_of_words_that_moved_along_their_line_is_the_change():
    pictures = [np.full((40, 300, 3), 255, np.uint8) for _ in range(2)]
    pictures[0][10:12, 4:20] = pictures[1][10:12, 4:14] = 0
    read = ([reading("for suspected", at=(26, 0), side=0)], [reading("for suspected", at=(20, 0), side=1)])
    was, now = (0, 0, 26 + 168, 20), (0, 0, 20 + 168, 20)
    found = by_words(replace(TEXT, box_before=was, box_after=now), read, tuple(pictures))
    assert (found.kind, found.values["rest"]) == ("rewritten", [-6, 0])
    assert (found.box_before, found.box_after) == ((0, 0, 26, 20), (0, 0, 20, 20))
    blank = by_words(replace(TEXT, box_before=was, box_after=now), read, (BLANK, BLANK))
    assert blank.kind == "moved"


def test_two_lines_that_touch_are_not_left_out():
    """Of one picture a long piece is not legible: it may hold the rest of the text."""
    broken = reading("tontie st", 0.4, side=0)
    read = ([reading("a long", side=0), broken], [reading("a long time ago", side=1)])
    assert by_words(TEXT, read, (BLANK, BLANK)) == TEXT


def test_a_text_in_capitals_is_quoted_though_no_letter_alone_is_certain():
    read = [reading("Street", side=0)], [reading("STREET", certainty=0.92, side=1)]
    found = by_words(TEXT, read, (BLANK, BLANK))
    assert (found.values["text_before"], found.values["text_after"]) == ("Street", "STREET")
