"""Which boxes of truth and answer are compared, and when one points into another."""

import itertools
from types import SimpleNamespace

import pytest

from benchmarks.screens.judged import Judged

SCRIPT = "screens.boxes"

BOX = (10, 10, 20, 20)


@pytest.mark.parametrize(
    ("truth", "told", "wanted"),
    [
        (("b", "a"), ("B", "A"), ("a", "A")),
        (("b", None), ("B", "A"), ("b", "B")),
        ((None, "a"), ("B", None), ("a", "B")),
        (("b", None), (None, "A"), ("b", "A")),
        (("b", "a"), (None, None), ("a", None)),
    ],
)
def test_boxes_of_the_picture_that_shows_the_change(bench, truth, told, wanted):
    assert bench.compared(truth, told) == wanted


@pytest.mark.parametrize(
    ("told", "inside"),
    [((0, 0, 20, 20), True), ((0, 0, 18, 20), False), ((20, 10, 20, 20), False), ((12, 12, 13, 13), True)],
)
def test_the_centre_counts_and_the_far_edges_do_not_belong_to_a_box(bench, told, inside):
    assert bench.points_into(told, BOX) == inside


def test_a_statement_of_what_is_gone_may_point_into_either_label():
    """Every case of: labels there or not, a statement's boxes there or not, in one label or the other."""
    other = (50, 50, 60, 60)
    for after, before, label in itertools.product((None, BOX, other), (None, BOX, other), (None, BOX)):
        statement = SimpleNamespace(box_after=after, box_before=before)
        pair = {"box": label, "box_before": other}
        here = after or before
        wanted = here is not None and (here == label or (after is None and here == other))
        assert Judged(pair, None, 0.0).holds(statement) == wanted, (after, before, label)
