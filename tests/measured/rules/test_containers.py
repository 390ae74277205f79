import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.rules.containers import container_changes

GROUND, FILL, FRAME, INK = 250, 230, 120, 20
WORDS = [(30, 8), (52, 6), (41, 9), (36, 7)]
"""Width and height of things that stand for words; no two are alike."""


def canvas(width=240, height=200):
    return np.full((height, width, 3), GROUND, np.uint8)


def word(pixels, number, left, top):
    """A word as upright bars of its own rhythm; returns the row below it."""
    width, height = WORDS[number]
    for x in range(left, left + width, 5 + number):
        pixels[top : top + height, x : x + 3] = INK
        pixels[top + 1 + x % 4, x : x + 2] = pixels[top, left - 1]
    return top + height


def card(pixels, top, above, below, left=20, right=120, number=1, round_corners=False):
    """A framed card around a word; returns the row below it."""
    bottom = top + above + WORDS[number][1] + below
    pixels[top:bottom, left:right] = FRAME
    pixels[top + 1 : bottom - 1, left + 1 : right - 1] = FILL
    if round_corners:
        for y in (top, bottom - 1):
            for x in (left, right - 1):
                pixels[y - 1 : y + 2, x - 1 : x + 2] = np.where(
                    pixels[y - 1 : y + 2, x - 1 : x + 2] == FILL, FRAME, GROUND
                )
    word(pixels, number, left + 12, top + above)
    return bottom


def page(above=8, below=8, gap=14, right=120, round_corners=False):
    """A word, a card, and two words below."""
    pixels = canvas()
    top = word(pixels, 0, 20, 15) + 12
    top = card(pixels, top, above, below, right=right, round_corners=round_corners) + gap
    top = word(pixels, 2, 20, top) + 10
    word(pixels, 3, 20, top)
    return pixels


@pytest.mark.parametrize("round_corners", [False, True])
@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"above": 14, "below": 14}, "became 12 pixels taller, with 6 pixels more space above and below"),
        ({"above": 14}, "became 6 pixels taller, with 6 pixels more space above its content"),
        ({"below": 13}, "became 5 pixels taller, with 5 pixels more space below its content"),
        (
            {"above": 6, "below": 5},
            "became 5 pixels shorter, with 2 pixels less space above and 3 pixels less",
        ),
    ],
)
def test_padding_of_a_card_is_told_and_not_what_it_moved(other, told, round_corners):
    answer = measure(page(round_corners=round_corners), page(**other, round_corners=round_corners))
    first = answer.statements[0]
    step = sum(other.get(name, 8) - 8 for name in ("above", "below"))
    assert (first.kind, first.box_before) == ("resized", (20, 35, 120, 57))
    assert first.box_after == (20, 35, 120, 57 + step)
    assert told in answer.sentence
    assert f"which moved the rest {'down' if step > 0 else 'up'} by {abs(step)} pixels" in answer.sentence


def test_a_card_that_became_wider_is_told_as_such():
    (change,) = container_changes(page(), page(right=140))
    assert (change.finding.kind, change.finding.values["dx"]) == ("resized", 20)
    assert change.box_after == (20, 35, 140, 57)


@pytest.mark.parametrize(("gap", "told"), [(22, "grew by 8 pixels"), (8, "shrank by 6 pixels")])
def test_a_gap_is_told_with_the_thing_that_it_moved(gap, told):
    answer = measure(page(), page(gap=gap))
    first = answer.statements[0]
    assert (first.kind, first.values["aspect"], first.values["side"]) == ("moved", "gap", "above")
    assert answer.sentence.startswith("The gap above") and told in answer.sentence
    assert first.box_after is not None and first.box_after[1] == 57 + gap


def cards(gap=8, padding=8, count=3, alone=False):
    """Cards below each other, on a page or as the whole picture."""
    pixels = canvas(140, 240)
    top = 0 if alone else word(pixels, 0, 20, 10) + 12
    for number in range(count):
        top = card(pixels, top, padding, padding, number=number + 1, left=0, right=140) + gap
    if alone:
        return pixels[: top - gap]
    word(pixels, 0, 20, top + 6)
    return pixels


def test_alike_containers_are_one_statement():
    answer = measure(cards(), cards(padding=11))
    first = answer.statements[0]
    assert (first.kind, first.count) == ("resized", 3)
    assert "became 6 pixels taller, with 3 pixels more space above and below their content" in answer.sentence
    assert "which moved the rest down by 18 pixels" in answer.sentence


@pytest.mark.parametrize("alone", [False, True])
def test_gaps_between_alike_things_are_one_statement(alone):
    answer = measure(cards(alone=alone), cards(gap=13, alone=alone))
    first = answer.statements[0]
    assert (first.kind, first.values["aspect"]) == ("moved", "gap")
    assert "gaps" in answer.sentence and "grew by 5 pixels" in answer.sentence


def rows(padding, lines=4):
    """The rows of a table between lines."""
    pixels = canvas()
    top = word(pixels, 0, 20, 10) + 10
    for number in range(lines):
        pixels[top : top + 1, 10:200] = FRAME
        top = word(pixels, number, 20, top + 1 + padding) + padding
    pixels[top : top + 1, 10:200] = FRAME
    word(pixels, 2, 20, top + 15)
    return pixels


def test_rows_between_lines_are_told_as_rows():
    answer = measure(rows(6), rows(9))
    assert "The four rows" in answer.sentence
    assert "became 6 pixels taller, with 3 pixels more space above and below their content" in answer.sentence
    assert "which moved the rest down by 24 pixels" in answer.sentence


def element(padding):
    """A framed card that is the whole picture."""
    pixels = canvas(WORDS[1][0] + 2 * padding, WORDS[1][1] + 2 * padding)
    pixels[:] = FRAME
    pixels[1:-1, 1:-1] = FILL
    word(pixels, 1, padding, padding)
    return pixels


def test_the_padding_of_an_element_that_is_the_picture():
    answer = measure(element(10), element(14))
    assert answer.sentence == (
        "The picture became 8 pixels wider and 8 pixels taller, with 4 pixels more space around its content."
    )


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda p: word(p, 3, 160, 40), id="a word came"),
        pytest.param(lambda p: p[60:80].fill(90), id="a band took another colour"),
    ],
)
def test_nothing_is_told_where_anything_else_differs(change):
    after = page(above=14)
    change(after)
    assert container_changes(page(), after) == []


def test_a_thing_that_only_moved_is_no_container():
    after = canvas()
    after[:] = page()
    after[40:60, 30:100] = FILL
    word(after, 1, 40, 43)
    assert container_changes(page(), after) == []


def listed(gap):
    """A card with three words below each other, each with a margin after it."""
    pixels = canvas()
    bottom = 30 + sum(WORDS[number][1] + gap for number in (0, 1, 2)) + 10
    pixels[20:bottom, 20:160] = FRAME
    pixels[21 : bottom - 1, 21:159] = FILL
    top = 30
    for number in (0, 1, 2):
        top = word(pixels, number, 32, top) + gap
    word(pixels, 3, 20, bottom + 14)
    return pixels


@pytest.mark.parametrize("pair", [(8, 13), (13, 8)])
def test_margins_in_a_card_are_the_cause_of_its_height(pair):
    first = measure(*map(listed, pair)).statements[0]
    assert (first.values["aspect"], first.values["step"]) == ("gap", pair[1] - pair[0])
