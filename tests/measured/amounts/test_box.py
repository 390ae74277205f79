"""How a thing stands in what holds it, drawn with a known truth."""

import pytest
from tests.drawn_text import draw, page

from whatchanged.measured.amounts.box import Room, alignment_of, room_of

HOLDER = ((10, 10, 149, 59), {"fill": (230, 230, 230)})


def standing(left):
    return draw(
        page(), rectangle=HOLDER, line=([(left, 34), (left + 39, 34)], {"fill": "black", "width": 10})
    )


def box(left):
    return (left, 30, left + 40, 40)


def test_the_room_ends_at_the_edges_of_the_holder():
    assert room_of(standing(60), box(60)) == Room(50, 50)


@pytest.mark.parametrize(
    ("before", "after", "align"), [(20, 60, "center"), (60, 20, "left"), (60, 100, "right")]
)
def test_alignment(before, after, align):
    found = alignment_of(standing(before), standing(after), box(before), box(after))
    assert found["align_after"] == align


def test_what_moved_a_little_is_aligned_as_before():
    assert alignment_of(standing(20), standing(26), box(20), box(26)) == {}


def test_beside_other_things_nothing_is_told():
    crowded = draw(standing(60), line=([(30, 33), (40, 33)], {"fill": "black", "width": 3}))
    assert room_of(crowded, box(60)) is None
