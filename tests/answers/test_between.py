"""Lines at given places: which came or went between the others, and what that moved."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.answers.between import came_between
from whatchanged.measured import Statement


def line(left, top, width=60, height=14):
    return SimpleNamespace(at=SimpleNamespace(box=(left, top, left + width, top + height)))


PLACE = (0, 0, 400, 100)
UNCLEAR = Statement("rewritten", PLACE, PLACE, "The text looks different.", 0.5, 0.1, {"aspect": "text"})


@given(width=st.integers(30, 120), gap=st.integers(8, 40))
def test_an_item_of_a_menu_came_or_went(width, gap):
    first, new = line(10, 3), line(80 + gap, 3, width)
    short, long = line(80 + gap, 3, 50), line(80 + gap + width + gap, 3, 50)
    came = came_between(UNCLEAR, [new], [(first, first), (short, long)], came=True)
    assert (came.kind, came.box_before, came.box_after) == ("added", None, new.at.box)
    assert came.values["rest"] == [width + gap, 0]
    went = came_between(UNCLEAR, [new], [(first, first), (long, short)], came=False)
    assert (went.kind, went.box_before, went.box_after) == ("removed", new.at.box, None)
    assert went.values["rest"] == [-width - gap, 0]


def test_a_line_of_a_list_came():
    pairs = [(line(10, 0), line(10, 0)), (line(10, 20), line(10, 40)), (line(10, 40), line(10, 60))]
    told = came_between(UNCLEAR, [line(10, 20)], pairs, came=True)
    assert (told.kind, told.values["rest"]) == ("added", [0, 20])


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(line(10, 3), line(10, 3))],
        [(line(90, 3), line(110, 3))],
        [(line(90, 3), line(400, 3))],
        [(line(90, 3), line(160, 3)), (line(10, 3), line(20, 3))],
        [(line(90, 3), line(160, 3)), (line(170, 3), line(190, 3))],
    ],
    ids=["alone", "nothing moved", "by too little", "by too much", "what stood before it moved", "two steps"],
)
def test_a_line_that_moved_nothing_beyond_it_is_not_between(pairs):
    assert came_between(UNCLEAR, [line(80, 3)], pairs, came=True) is None
