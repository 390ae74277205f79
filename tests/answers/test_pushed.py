"""A text that reads differently comes before what it pushed in its row."""

from dataclasses import replace

import pytest

from whatchanged.answers.pushed import texts_before_pushed
from whatchanged.measured import Statement

MOVED = Statement(
    "moved",
    (10, 40, 103, 54),
    (10, 40, 100, 54),
    "The text moved.",
    0.7,
    0.1,
    {"aspect": "position", "dx": -3},
)
WRITTEN = Statement(
    "rewritten",
    (120, 40, 180, 54),
    (117, 40, 186, 54),
    "It reads.",
    0.7,
    0.1,
    {"text_before": "a", "text_after": "b"},
)
OTHER = Statement(
    "recolored", (0, 0, 9, 9), (0, 0, 9, 9), "A line turned red.", 0.7, 0.1, {"aspect": "border"}
)


def test_a_text_that_reads_differently_is_told_before_its_neighbour_that_moved():
    assert texts_before_pushed([MOVED, OTHER, WRITTEN]) == (WRITTEN, MOVED, OTHER)


@pytest.mark.parametrize(
    "written",
    [
        replace(WRITTEN, box_after=(117, 60, 186, 74)),
        replace(WRITTEN, box_after=(170, 40, 240, 54)),
        replace(WRITTEN, values={"aspect": "text"}),
    ],
    ids=["another row", "far away", "was not read"],
)
def test_other_texts_push_nothing(written):
    assert texts_before_pushed([MOVED, OTHER, written]) == (MOVED, OTHER, written)


@pytest.mark.parametrize("values", [{"dy": -3}, {"dx": -3, "dy": 8}], ids=["up", "left and down"])
def test_a_text_pushes_only_sideways(values):
    moved = replace(MOVED, values={"aspect": "position", **values})
    assert texts_before_pushed([moved, WRITTEN]) == (moved, WRITTEN)
