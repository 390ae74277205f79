from dataclasses import replace

import pytest
from support.drawn_page import page

from whatchanged.compare.shared import parted, shared_sentence
from whatchanged.measured import Statement, measure

BOX = (10, 10, 60, 40)
SAME = measure(page(), page())


def said(kind, sentence, box=BOX, aspect="thing", **values):
    return Statement(kind, box, box, sentence, 0.9, 0.01, {"aspect": aspect, **values}, (box,))


def answer(*statements):
    sentence = "; ".join(one.sentence for one in statements)
    return replace(SAME, verdict="changed", statements=statements, sentence=sentence)


REMOVED = said("removed", "The row at the left was removed.", aspect="row")
ADDED = said("added", "A row at the left was added.", aspect="row")
SWAPPED = said("moved", "Something changed places.", aspect="order")
RED = said("recolored", "An area turned from blue to red.", aspect="fill", color_after="#ff0000")
GREEN = replace(RED, values={"aspect": "fill", "color_after": "#00ff00"}, sentence="It became green.")


def test_what_was_added_removed_or_exchanged_is_parted():
    answers = [answer(one) for one in (REMOVED, ADDED, REMOVED, SWAPPED, REMOVED, ADDED)]
    assert parted(range(6), answers) == [(0, 2, 4), (1, 5), (3,)]


def test_what_was_only_pushed_in_or_out_contradicts_nothing():
    in_view, out_of_view = said("added", "a", aspect="pushed in"), said("removed", "b", aspect="closed up")
    answers = [answer(one) for one in (in_view, out_of_view, REMOVED, in_view)]
    assert parted(range(4), answers) == [(0, 1, 2, 3)]


def test_fills_of_one_colour_contradict_each_other_where_they_became_two():
    def turned(before, after):
        colors = {"color_before": before, "color_after": after}
        return said("recolored", "It turned.", aspect="fill", **colors)

    blue_to_red, blue_to_green = turned("#0000ff", "#ff0000"), turned("#0000ff", "#00ff00")
    grey_to_green = turned("#808080", "#00ff00")
    assert len(parted(range(2), [answer(blue_to_red), answer(blue_to_green)])) == 2
    assert len(parted(range(2), [answer(blue_to_red), answer(grey_to_green)])) == 1


def test_who_contradicts_nobody_stays_in_the_largest_part():
    moved = said("moved", "It moved.", dx=0, dy=8)
    answers = [answer(moved), answer(REMOVED), answer(ADDED), answer(ADDED)]
    assert parted(range(4), answers) == [(0, 2, 3), (1,)]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (RED, GREEN, False),
        (RED, replace(RED, values={"aspect": "fill", "color_after": "#f40a05"}), True),
        (said("moved", "a", dx=0, dy=8), said("moved", "b", dx=0, dy=30), True),
        (said("moved", "a", dx=0, dy=8), said("moved", "b", dx=0, dy=-8), True),
        (
            said("restyled", "a", aspect="weight", amount_after=3.0),
            said("restyled", "b", aspect="radius", amount_after=8.0),
            True,
        ),
        (said("restyled", "a", aspect="shape"), said("recolored", "b", aspect="palette"), True),
        (said("restyled", "a", aspect="outline", on_after=False), RED, True),
        (
            said("restyled", "a", aspect="outline", on_after=False),
            said("restyled", "b", aspect="outline", on_after=True),
            False,
        ),
        (said("rewritten", "a"), said("rewritten", "b", box=(40, 200, 91, 230)), True),  # of one size
        (said("rewritten", "a"), said("rewritten", "b", box=(11, 10, 90, 36)), True),  # at one place
        (said("rewritten", "a"), said("rewritten", "b", box=(40, 10, 60, 40)), True),
        (
            said("rewritten", "a", text_before="Save", text_after="Keep"),
            said("rewritten", "b", box=(40, 10, 60, 40), text_before="Save", text_after="Keep"),
            True,
        ),
        (said("moved", "a", dx=0, dy=8), said("resized", "b", aspect="length"), True),
        (said("restyled", "a", aspect="shape"), said("resized", "b", aspect="length"), True),
        (said("added", "a"), said("added", "b", aspect="pushed in"), True),
        (said("added", "a", rest=[0, 26]), said("added", "b", rest=[0, 12]), True),
        (said("rewritten", "a", rest=[0, 26]), said("rewritten", "b"), True),
        (said("rewritten", "a", rest=[0, 26]), said("rewritten", "b", rest=[0, -26]), False),
        (said("rewritten", "a", rest=[0, 26]), said("replaced", "b", aspect="part", rest=[0, -26]), False),
        (said("resized", "a", grew=True), said("resized", "b", grew=True), True),
        (said("resized", "a", grew=True), said("resized", "b", grew=False), False),
        (said("resized", "a", state="open"), said("resized", "b"), True),
    ],
)
def test_only_contradictions_part(one, other, alike):
    assert len(parted(range(2), [answer(one), answer(other)])) == (1 if alike else 2)


def test_those_without_statements_are_a_part():
    assert parted(range(3), [answer(), answer(RED), answer()]) == [(0, 2), (1,)]


def test_what_all_say_is_said():
    answers = [answer(RED), answer(RED)]
    assert shared_sentence(answers) == "An area turned from blue to red."
    more = [answer(RED, ADDED), answer(RED)]
    assert shared_sentence(more) == "An area turned from blue to red."


@pytest.mark.parametrize(
    ("was", "told"),
    [("#0000ff", "Something turned from blue to red."), ("#00ff00", "Something changed its look.")],
)
def test_areas_and_letters_that_took_one_color_say_it_together(was, told):
    colors = {"color_before": "#0000ff", "color_after": "#ff0000"}
    area = said("recolored", "The area turned from blue to red.", aspect="fill", **colors)
    letters = said(
        "recolored", "The text turned red.", (80, 50, 99, 60), "ink", **{**colors, "color_before": was}
    )
    assert shared_sentence([answer(area), answer(letters)]).startswith(told[:-1])


def test_amounts_and_places_that_differ_are_left_out():
    low = (150, 90, 190, 115)
    taller = [
        said("resized", "The bar became 118 pixels taller.", aspect="length", dwidth=0, dheight=118),
        said("resized", "The bar became 40 pixels taller.", low, aspect="length", dwidth=0, dheight=40),
    ]
    sentence = shared_sentence([answer(one) for one in taller])
    assert sentence == "Something changed its size."
    one_place = [replace(taller[0], sentence="x."), taller[0]]
    assert "118 pixels taller" in shared_sentence([answer(one) for one in one_place])


def test_one_change_told_in_two_ways_is_told_by_its_family():
    shape = said("restyled", "Something changed its shape.", aspect="shape")
    moved, longer = said("moved", "It moved.", dx=0, dy=8), said("resized", "It grew.", aspect="length")
    assert shared_sentence([answer(shape), answer(RED, ADDED)]) == "Something changed its look."
    assert shared_sentence([answer(moved), answer(longer)]) == "Something changed its place or its size."
    assert (
        shared_sentence([answer(moved), answer(shape), answer(shape, moved), answer(shape)])
        == "Something changed its look or changed its place or its size."
    )


def test_two_new_colours_stay_apart_beside_what_is_like_both():
    shape = said("restyled", "Something changed its shape.", aspect="shape")
    answers = [answer(RED), answer(GREEN), answer(shape), answer(RED)]
    assert parted(range(4), answers) == [(0, 2, 3), (1,)]


def test_what_pushes_the_rest_to_opposite_sides_is_parted_even_if_it_says_the_same():
    down, up = said("added", "a", rest=[0, 26]), said("added", "a", rest=[0, -26])
    text = said("rewritten", "It reads differently.", aspect="text")
    answers = [answer(text, down), answer(text, up), answer(text, down), answer(text)]
    assert parted(range(4), answers) == [(0, 2, 3), (1,)]
    left, right = said("added", "a", rest=[-9, 0]), said("added", "a", rest=[9, 0])
    assert parted(range(3), [answer(left), answer(right), answer(left)]) == [(0, 1, 2)]


def test_nothing_shared_says_nothing():
    assert shared_sentence([answer(), answer(RED)]) is None
    every = [answer(RED), answer(ADDED), answer(REMOVED), answer(SWAPPED)]
    assert shared_sentence(every) is None
    assert shared_sentence([*every[:2], every[0]]) == "Something changed its look or was added."
