import math
from dataclasses import replace

import numpy as np
import pytest
from support.drawn_page import page, with_box

from whatchanged.compare.evidence import FEATURES, OF_STATEMENTS, features_of, log_odds, prior_of
from whatchanged.measured import Statement, measure
from whatchanged.measured.fitted import CAUSE
from whatchanged.measured.signature import LENGTH, look_parts

SAME = measure(page(), page())
BOX = (10, 10, 60, 40)


def said(kind="recolored", box=BOX, aspect="fill", **values):
    return Statement(kind, box, box, "It changed.", 0.9, 0.01, {"aspect": aspect, **values}, (box,))


def shifted(x, y, wider=0, at=10):
    """A statement whose box moved by (x, y) and became wider."""
    box = (at, at, at + 30, at + 20)
    after = (box[0] + x, box[1] + y, box[2] + x + wider, box[3] + y)
    return replace(said(box=box), box_after=after)


def answer(*statements, **fields):
    return replace(SAME, verdict="changed", statements=statements, **fields)


def feature(name, one, other):
    return features_of([one, other])[0, 1, FEATURES.index(name)]


@pytest.mark.parametrize(
    ("name", "one", "other", "alike"),
    [
        ("one colour after", said(color_after="#ff0000"), said(color_after="#f80008"), 1),
        ("one colour after", said(color_after="#ff0000"), said(color_after="#e80008"), 0),
        ("one colour after", said(), said(), 0),
        ("one step", said("moved", dx=0, dy=8), said("moved", dx=0, dy=8), 1),
        ("one step", said("moved", dx=0, dy=8), said("moved", dx=0, dy=9), 0),
        ("one push", said(rest=[0, 8]), said(rest=[0, 8]), 1),
        ("one push", said(rest=[0, 8]), said(), 0),
        ("one top", said(), said(box=(90, 11, 99, 99)), 1),
        ("one top", said(), said(box=(90, 13, 99, 99)), 0),
        ("one colour before", said(color_before="#ff0000"), said(color_before="#f80008"), 1),
        ("one colour before", said(color_before="#ff0000"), said(), 0),
        ("one move", shifted(3, 4), shifted(3, 4, at=50), 1),
        ("one move", shifted(3, 4), shifted(3, 5), 0),
        ("one move", said(), said(), 0),
        ("one growth", shifted(0, 0, 6), shifted(0, 0, 6, at=50), 1),
        ("one growth", shifted(0, 0, 6), shifted(0, 0, 7), 0),
        ("one growth", said(), said(), 0),
        ("similar statements", said(), said(), 1),
        ("similar statements", said(), said("added"), 0),
        ("one first change", said(), said(), 1),
        ("one first change", said(), said(aspect="ink"), 0),
        ("one distance", said("moved", dx=0, dy=4), said("added", rest=[0, 4]), 1),
        ("one distance", shifted(0, 0, 4), said("moved", dx=4, dy=0), 1),
        ("one distance", said("moved", dx=0, dy=4), said("added", rest=[0, -4]), 0),
        ("one distance", said("moved", dx=0, dy=2), said("added", rest=[0, 2]), 0),  # often by chance
        ("one long distance", said("moved", dx=0, dy=8), said("added", rest=[0, 8]), 1),
        ("one long distance", said("moved", dx=0, dy=7), said("added", rest=[0, 7]), 0),
        ("kinds of change", said(), said("rewritten"), 1),
        ("kinds of change", said(), said("moved"), 0),
    ],
)
def test_what_two_statements_share(name, one, other, alike):
    assert feature(name, answer(one), answer(other)) == alike == feature(name, answer(other), answer(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (said("added"), said("removed")),
        (said(aspect="fill"), said(aspect="border")),
        (said(color_after="#ff0000"), said(color_after="#00ff00")),
        (said("moved", dx=0, dy=8), said("moved", dx=0, dy=-8)),
        (said("restyled", on_after=True), said("restyled", on_after=False)),
        (said(state="open"), said()),
    ],
)
def test_statements_that_do_not_say_the_same_speak_for_nothing(one, other):
    assert not features_of([answer(one), answer(other)])[0, 1, : len(OF_STATEMENTS)].any()


def test_the_most_alike_statements_are_those_that_count():
    far = said(box=(100, 90, 120, 99), color_after="#ff0000")
    one, other = answer(far, said(color_after="#0000ff")), answer(said(color_after="#0000ff"))
    assert feature("one colour after", one, other) == 1 and feature("one top", one, other) == 1


def test_two_changes_in_common_count_in_any_order():
    first, second, third = said("resized"), said("moved", aspect="position"), said("added")
    assert feature("two changes", answer(first, second), answer(third, second, first)) == 1
    assert feature("two changes", answer(first, second), answer(first, third)) == 0
    assert feature("two changes", answer(first, first), answer(first, first)) == 0


def with_fills(before, after, x=60):
    """A page whose square at x turned from one colour to another."""
    box = (x, 90, x + 30, 110)
    return measure(with_box(page(), box, before), with_box(page(), box, after))


def test_a_colour_that_came_is_common_wherever_it_is():
    red, green, blue = (200, 30, 30), (20, 140, 60), (30, 60, 200)
    one, elsewhere = with_fills(red, green), with_fills(blue, green, x=120)
    assert feature("colours that came", one, elsewhere) == 1
    assert feature("colours that came", one, with_fills(red, blue)) == 0
    moved = measure(with_box(page(), (60, 90, 90, 110), red), with_box(page(), (70, 90, 100, 110), red))
    assert feature("colours that came", moved, moved) == 0
    assert feature("colours in one", one, moved) == 1
    assert feature("colours in one", one, elsewhere) == 0 == feature("colours in one", moved, moved)


def test_pictures_that_grew_alike():
    grown = {"size_before": (200, 100), "size_after": (200, 120)}
    assert feature("grown alike", answer(**grown), answer(**grown)) == 1
    assert feature("grown alike", answer(), answer()) == 0


def changed_to(color, kinds=("added",)):
    """A page that got a square, with some statements about it."""
    measured = measure(page(), with_box(page(), (120, 90, 150, 110), color))
    return replace(measured, statements=tuple(replace(measured.statements[0], kind=kind) for kind in kinds))


def test_the_common_fraction_of_new_colours_and_families_counts():
    red, also_red, green = changed_to((255, 0, 0)), changed_to((250, 5, 0)), changed_to((0, 200, 0))
    assert feature("new colours", red, also_red) > 0.95
    assert feature("new colours", red, green) < 0.05
    both = changed_to((255, 0, 0), ("added", "moved"))
    assert feature("kinds of change", red, both) == 0.5
    assert feature("one first change", answer(), answer()) == 0


def test_what_looks_alike_counts_only_where_it_is_in_the_same_pictures():
    def with_look(before, after):
        rows = np.zeros((1, LENGTH))
        look_parts(rows)[0, 1] = before, after
        return replace(SAME, verdict="changed", signature=tuple(rows[0]))

    rng = np.random.default_rng(0)
    one, other, none = *np.linalg.qr(rng.normal(size=(64, 2)))[0].T, np.zeros(64)
    assert feature("looks", with_look(none, one), with_look(none, one)) == pytest.approx(1)
    assert feature("looks", with_look(none, one), with_look(one, none)) == 0
    assert feature("looks", with_look(one, one), with_look(one, other)) == pytest.approx(0, abs=1e-9)
    assert feature("looks", with_look(one, other), with_look(one, other)) == pytest.approx(1)


def test_the_odds_are_the_weighted_sum_of_the_features():
    answers = [
        answer(said(color_after="#ff0000")),
        answer(said(color_after="#ff0000"), said("moved", dx=1, dy=0)),
        answer(said("moved", dx=1, dy=0), size_after=(1, 2)),
    ]
    weights = np.array([CAUSE[name] for name in FEATURES])
    odds = log_odds(answers)
    np.testing.assert_allclose(odds, features_of(answers) @ weights + CAUSE["constant"])
    np.testing.assert_allclose(odds, odds.T)


def test_variants_of_one_name_are_likelier_to_have_one_cause():
    answers = [answer(said()), answer(said())]
    plain, variants = log_odds(answers), log_odds(answers, ("menu-dark.png", "menu-light.png"))
    assert variants[0, 1] > plain[0, 1] == log_odds(answers, ("menu.png", "table.png"))[0, 1]


def test_the_share_of_one_cause_is_found_and_unknown_without_couples():
    rng = np.random.default_rng(0)
    count, share = 60, 0.3
    same = rng.random((count, count)) < share
    odds = np.where(same, rng.normal(4.5, 3, same.shape), rng.normal(-4.5, 3, same.shape))  # their own odds
    found = 1 / (1 + math.exp(-prior_of(odds, 0.002, 3)))
    assert abs(found - share) < 0.03
    assert math.isclose(prior_of(np.zeros((1, 1)), 0.25, 3), math.log(0.25 / 0.75))
    assert prior_of(np.full((9, 9), -9.0), 0.002, 3) < math.log(0.002 / 0.998)
