"""Statements are ranked, and causes include what follows from them."""

import pytest

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
