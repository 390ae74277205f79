"""Which statements of a pair its sentence contains, by hand."""

from dataclasses import replace

import pytest

from whatchanged.measured.result import Statement
from whatchanged.measured.rules.described import worth_telling

HERE, APART, NEAR = (0, 0, 10, 5), (40, 0, 60, 5), (20, 0, 30, 5)


def made(kind, aspect, box=HERE, **values):
    return Statement(kind, box, box, "", 0.5, 0.2, {"aspect": aspect, **values}, (box,))


@pytest.mark.parametrize(
    ("count", "rest", "described"), [(1, {}, 1), (2, {}, 2), (3, {}, 2), (4, {}, 1), (2, {"rest": [0, 8]}, 1)]
)
def test_a_second_statement_is_told_where_few_differ(count, rest, described):
    others = [made("removed", "thing", APART)] * (count - 1)
    assert len(worth_telling([made("added", "thing", **rest), *others])) == described


@pytest.mark.parametrize(
    ("kind", "aspect", "follows", "described"),
    [
        ("removed", "thing", False, 2),
        ("removed", "closed up", False, 1),
        ("resized", "text size", False, 2),
        ("resized", "length", False, 1),
        ("moved", "position", False, 2),
        ("moved", "position", True, 1),
    ],
)
def test_no_second_statement_is_told_that_repeats_the_first(kind, aspect, follows, described):
    second = replace(made(kind, aspect, APART), follows=follows)
    assert len(worth_telling([made("added", "thing"), second])) == described


@pytest.mark.parametrize(("box", "described"), [(NEAR, 1), (HERE, 1), (APART, 2), ((26, 0, 40, 5), 2)])
def test_what_differs_beside_the_first_change_belongs_to_it(box, described):
    assert len(worth_telling([made("rewritten", "text"), made("added", "thing", box)])) == described


def test_where_a_thing_stood_before_counts_too():
    moved = Statement("moved", APART, HERE, "", 0.5, 0.2, {"dx": -40, "dy": 0}, (HERE,))
    assert worth_telling([moved, made("removed", "thing", (62, 0, 70, 5))]) == [moved]


@pytest.mark.parametrize(("dx", "dy", "described"), [(0, 8, 1), (0, 4, 1), (0, -4, 2), (3, 8, 1), (-3, 8, 1)])
def test_of_things_that_moved_one_way_one_is_told(dx, dy, described):
    first, second = made("moved", "position", dx=0, dy=4), made("moved", "position", APART, dx=dx, dy=dy)
    assert len(worth_telling([first, second])) == described


def test_beside_all_of_a_region_nothing_in_it_is_told():
    assert len(worth_telling([made("replaced", "content"), made("added", "thing", APART)])) == 1


@pytest.mark.parametrize("first", [made("replaced", "picture"), made("moved", "position", dx=0, dy=4)])
def test_the_size_of_the_picture_is_always_told(first):
    canvas = made("resized", "canvas", (0, 0, 100, 50), dx=0, dy=4)
    assert worth_telling([first, canvas]) == [first, canvas]
