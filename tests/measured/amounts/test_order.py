"""Two things in each other's place, drawn with a known truth."""

import numpy as np
import pytest
from tests.drawn_text import text

from whatchanged.measured.amounts.order import exchanged, order_change
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

ONE = text("Name", canvas=(90, 40), at=(10, 10))
OTHER = text("Country", canvas=(110, 40), at=(10, 10), color=(160, 20, 20))


@pytest.mark.parametrize("axis", [0, 1])
def test_two_cells_changed_places(axis):
    one, other = ONE, OTHER[:, :90] if axis == 0 else OTHER
    before, after = (np.concatenate(parts, axis) for parts in ((one, other), (other, one)))
    finding, boxes = order_change(before, after, (0, 0, before.shape[1], before.shape[0]))
    assert (finding.kind, finding.aspect) == ("moved", "order")
    assert boxes[0][2 - axis] <= boxes[1][2 - axis] and len(boxes) == 2


def test_what_turned_into_something_else_is_no_order():
    third = text("Prices", canvas=(90, 40), at=(10, 10))
    before, after = np.concatenate([ONE, OTHER], 1), np.concatenate([OTHER, third], 1)
    assert order_change(before, after, (0, 0, 200, 40)) is None
    assert order_change(before, before, (0, 0, 200, 40)) is None


def moved(before, after):
    return DetectedChange(Finding("moved", "position", 0.7), before, after, 100)


def test_two_that_moved_to_each_others_place_are_one_change():
    left, right, third = (0, 0, 20, 10), (40, 0, 60, 10), (0, 50, 20, 60)
    changes = [moved(left, right), moved(right, left), moved(third, (0, 70, 20, 80))]
    rest, order = exchanged(changes)
    assert rest is changes[2]
    assert (order.finding.aspect, order.boxes) == ("order", (right, left))
    assert order.box_after == (0, 0, 60, 10)
