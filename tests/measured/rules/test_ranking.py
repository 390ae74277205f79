"""Statements are ranked, and causes include what follows from them."""

import pytest
from support.drawn_lines import page

from whatchanged.measured import measure
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.ranking import in_words

LINE, BELOW = (20, 20, 23, 44), (20, 50, 120, 90)
COLORS = {"color_before": "#ffffff", "color_after": "#303030"}


@pytest.mark.parametrize(
    ("kind", "aspect", "pushes"), [("recolored", "border", False), ("added", "thing", True)]
)
def test_another_colour_moves_nothing(kind, aspect, pushes):
    was = None if kind == "added" else LINE
    first = DetectedChange(Finding(kind, aspect, 0.5, COLORS), was, LINE, 72)
    step = {"dx": 0, "dy": 8}
    moved = DetectedChange(
        Finding("moved", "position", 0.7, step), (20, 42, 120, 82), BELOW, 900, cause=False
    )
    statements = in_words([first, moved], (300, 200))
    assert any("which moved the rest" in one.sentence for one in statements) == pushes
    assert (statements[0].kind == "moved") != pushes


def test_a_movement_by_one_pixel_is_told_after_a_smaller_farther_one():
    steps = ((1, (20, 20, 220, 90)), (-3, (20, 120, 32, 132)))
    moved = [
        DetectedChange(
            Finding("moved", "position", 0.7, {"dx": dx, "dy": 0}),
            (box[0] - dx, box[1], box[2] - dx, box[3]),
            box,
            (box[2] - box[0]) * (box[3] - box[1]),
        )
        for dx, box in steps
    ]
    assert [one.values["dx"] for one in in_words(moved, (300, 200))] == [-3, 1]


def test_what_was_removed_at_the_end_of_a_list_counts():
    """Of four labels, each with a link below it, all four links were removed."""

    labels = ("Name", "Birth date", "Address", "Telephone")
    before = [(text, (24, 40 + 60 * row)) for row, text in enumerate(labels)]
    before += [("Edit", (24, 62 + 60 * row)) for row in range(4)]
    after = [(text, (24, 40 + 36 * row)) for row, text in enumerate(labels)]
    first = measure(page(*before), page(*after)).statements[0]
    assert (first.kind, len(first.boxes)) == ("removed", 4)
