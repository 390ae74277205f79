"""What happened to the lines of a place that only looks different, by readings that are made up."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from support.drawn_lines import reading

from whatchanged.answers.line_by_line import by_lines, by_lines_of_all, is_unclear
from whatchanged.measured import Statement

BOX = (0, 0, 600, 200)
UNCLEAR = Statement("replaced", BOX, BOX, "", 0.3, values={"aspect": "part"})
BLANK = np.full((300, 640, 3), 255, np.uint8)


def lines(*texts, side, at=(0, 0), step=30, certainty=1.0):
    """Lines one below the other, the first one at a point."""
    return [
        reading(text, certainty, at=(at[0], at[1] + step * number), side=side)
        for number, text in enumerate(texts)
    ]


def told(before, after, statement=UNCLEAR, at=(0, 0), **values):
    read = lines(*before, side=0), lines(*after, side=1, at=at)
    return by_lines(replace(statement, values={**statement.values, **values}), read, (BLANK, BLANK))


def quoted(statement):
    return statement.values.get("text_before"), statement.values.get("text_after")


def test_the_first_line_with_other_words_is_quoted():
    found = told(["Title", "Old heading", "End"], ["Title", "Something new", "End"])
    assert found.kind == "rewritten" and quoted(found) == ("Old heading", "Something new")


def test_pieces_of_one_line_are_quoted_together():
    before = [reading("School, nursery", side=0), reading("or work", at=(300, 2), side=0)]
    found = by_lines(UNCLEAR, (before, lines("Important", side=1)), (BLANK, BLANK))
    assert quoted(found) == ("School, nursery or work", "Important")


def test_a_line_that_goes_on_in_the_next_one_ends_in_an_ellipsis():
    found = told(["Card heading"], ["If you need help,", "ask us"])
    assert quoted(found) == ("Card heading", "If you need help …")


@pytest.mark.parametrize("at", [(300, 0), (0, 120)])
def test_a_line_at_another_place_is_no_other_text(at):
    assert told(["Old heading"], ["Something new"], at=at) == UNCLEAR


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["Border 6px"], ["Border"]),
        (["with signal only"], ["I have a phone with signal only"]),
        (["Save file"], ["Save fi1e"]),
    ],
)
def test_a_text_that_may_go_on_elsewhere_is_no_other_text(before, after):
    assert told(before, after) == UNCLEAR


def test_only_the_certain_reading_is_quoted_where_both_are_quite_unlike():
    read = lines("Old heading", side=0, certainty=0.7), lines("Quick brown fox", side=1)
    assert quoted(by_lines(UNCLEAR, read, (BLANK, BLANK))) == (None, "Quick brown fox")
    alike = lines("Old heading", side=0, certainty=0.7), lines("Odd headings", side=1)
    assert by_lines(UNCLEAR, alike, (BLANK, BLANK)) == UNCLEAR


def test_of_lines_that_differ_in_a_word_only_certain_words_are_quoted():
    read = (
        [reading("Thu May 30 2024", side=0)],
        [reading("Sun Jun 30 2024", [0.8, 1.0, 1.0, 1.0], side=1)],
    )
    assert quoted(by_lines(UNCLEAR, read, (BLANK, BLANK))) == ("May", "Jun")


def test_lines_of_different_widths_that_are_now_centred():
    texts = ["Choose a plan that fits", "the size", "of your whole team"]
    read = lines(*texts, side=0), lines(*texts, side=1)
    widths = [one.at.box[2] - one.at.box[0] for one in read[1]]
    centred = [
        reading(text, at=(100 - width // 2, 30 * number), side=1)
        for number, (text, width) in enumerate(zip(texts, widths, strict=True))
    ]
    found = by_lines(UNCLEAR, (read[0], centred), (BLANK, BLANK))
    assert found.kind == "moved"
    assert (found.values["align_before"], found.values["align_after"]) == ("left", "center")
    assert "dx" not in found.values


def test_lines_that_moved_by_one_step_moved():
    found = told(["First line", "Second line"], ["First line", "Second line"], at=(4, 19))
    assert (found.kind, found.values["dx"], found.values["dy"]) == ("moved", 4, 19)
    assert found.box_before[1] + 19 == found.box_after[1]


@pytest.mark.parametrize("at", [(0, 0), (1, 1)])
def test_lines_that_stay_did_not_move(at):
    assert told(["First line", "Second line"], ["First line", "Second line"], at=at) == UNCLEAR


def test_a_text_that_is_larger_and_wraps_became_larger():
    before = lines("Have you changed your name?", "A hint", side=0)
    after = [reading("Have you changed your", side=1), reading("name?", at=(0, 40), side=1)]
    after = [one._replace(at=one.at._replace(box=(*one.at.box[:3], one.at.box[3] + 6))) for one in after]
    found = by_lines(
        replace(UNCLEAR, values={"aspect": "part", "rest": [0, 40]}), (before, after), (BLANK, BLANK)
    )
    assert (found.kind, found.values["aspect"], found.values["rest"]) == ("resized", "text size", [0, 40])
    assert found.values["amount_before"] + 6 == found.values["amount_after"]


@pytest.mark.parametrize(
    ("statement", "unclear"),
    [
        (UNCLEAR, True),
        (replace(UNCLEAR, kind="rewritten", values={"aspect": "text", "text_after": "new"}), False),
        (replace(UNCLEAR, kind="recolored", values={"aspect": "ink"}), False),
        (replace(UNCLEAR, kind="added"), False),
    ],
)
def test_what_is_unclear(statement, unclear):
    assert is_unclear(statement) is unclear
    if not unclear:
        read = lines("Old", side=0), lines("New text", side=1)
        assert by_lines(statement, read, (BLANK, BLANK)) == statement


def alike(before, after):
    """Two alike places below each other, each with one line."""
    boxes = ((0, 0, 140, 24), (0, 100, 140, 124))
    statement = replace(UNCLEAR, boxes=boxes, box_before=(0, 0, 140, 124), box_after=(0, 0, 140, 124))
    read = lines(*before, side=0, step=100), lines(*after, side=1, step=100)
    return by_lines_of_all(statement, read, (BLANK, BLANK))


def test_alike_things_with_other_words():
    found = alike(["Small", "Small"], ["Large", "Large"])
    assert found.kind == "rewritten" and quoted(found) == ("Small", "Large")
    assert "one_of_them" not in found.values


def test_of_alike_things_with_words_of_their_own_one_is_quoted():
    found = alike(["12:00 AM", "hour: 0"], ["HH:mm", "null"])
    assert quoted(found) == ("12:00 AM", "HH:mm") and found.values["one_of_them"]


def test_alike_things_that_did_not_change_alike_stay_unclear():
    assert is_unclear(alike(["Small", "Right"], ["Large", "Right"]))


def written(*texts, side=0, color="black", bold=0):
    """A picture of lines below each other, and their made-up readings."""
    picture = Image.new("RGB", (640, 300), "white")
    pen = ImageDraw.Draw(picture)
    for number, text in enumerate(texts):
        for column in range(20, 21 + bold):
            pen.text((column, 20 + 50 * number), text, color, ImageFont.load_default(20))
    pixels = np.asarray(picture)
    read = []
    for number, text in enumerate(texts):
        first = 15 + 50 * number
        drawn = np.argwhere((pixels[first : first + 40, 10:500] < 200).any(axis=2))
        top, left = (int(side) for side in drawn.min(axis=0))
        bottom, right = (int(side) + 1 for side in drawn.max(axis=0))
        box = (10 + left, first + top, 10 + right, first + bottom)
        one = reading(text, side=side)
        cut = one.cut.copy()
        cut[0, 0] = (bold, color != "black", 0)  # The pixels differ as those of the picture do.
        read.append(one._replace(at=one.at._replace(box=box), cut=cut, left=box[0]))
    return pixels, read


def restyled(before, after):
    (first, one), (second, other) = before, after
    return by_lines(UNCLEAR, (one, other), (first, second))


TEXTS = ("Alpha beta", "Gamma delta")


def test_lines_that_all_became_bolder():
    found = restyled(written(*TEXTS), written(*TEXTS, side=1, bold=1))
    assert (found.kind, found.values["aspect"], found.count) == ("restyled", "weight", 2)
    assert found.values["amount_after"] > found.values["amount_before"]


def test_lines_of_another_colour():
    found = restyled(written(*TEXTS), written(*TEXTS, side=1, color="red"))
    assert (found.kind, found.values["aspect"], found.count) == ("recolored", "ink", 2)
    assert is_unclear(restyled(written(*TEXTS), written(*TEXTS, side=1, color=(40, 10, 10))))


def test_lines_that_stayed_say_nothing():
    assert restyled(written(*TEXTS), written(*TEXTS, side=1)) == UNCLEAR
