"""Alike changes of alike things become one statement with a box each."""

from dataclasses import replace
from typing import Any

import pytest

from whatchanged.measured.result import Box, Kind
from whatchanged.measured.rules.alike import merged
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding


def change(kind: Kind, box: Box, aspect: str = "thing", cause: bool = True, **values: Any) -> DetectedChange:
    """Something that is there before and after."""
    pixels = (box[2] - box[0]) * (box[3] - box[1])
    return DetectedChange(Finding(kind, aspect, 0.6, values), box, box, pixels, cause)


def test_alike_things_far_apart_are_one_with_a_box_each() -> None:
    boxes = [(x, 10, x + 40, 30) for x in (0, 200, 400)]
    (one,) = merged([change("added", box) for box in boxes])
    assert sorted(one.boxes) == boxes
    assert (one.box_after, one.pixels) == ((0, 10, 440, 30), 2400)


def test_unlike_things_far_apart_are_told_apart_and_parts_together() -> None:
    field, label, other = (300, 10, 500, 50), (0, 200, 30, 208), (36, 200, 70, 208)
    found = merged([change("added", box) for box in (field, label, other)])
    assert [sorted(one.boxes) for one in found] in (
        [[field], [label, other]],
        [[label, other], [field]],
    )


@pytest.mark.parametrize(("step", "count"), [((0, 12), 1), ((1, 12), 1), ((0, 40), 2), ((-20, 12), 2)])
def test_what_moved_by_one_step_is_one(step: tuple[int, int], count: int) -> None:
    one = change("moved", (0, 0, 50, 20), "position", dx=0, dy=12)
    other = change("moved", (100, 0, 130, 60), "position", dx=step[0], dy=step[1])
    found = merged([one, other])
    assert len(found) == count
    assert all(each.finding.values["dy"] in (12, step[1]) for each in found)


@pytest.mark.parametrize(("color", "count"), [("#1a73e8", 1), ("#2078e0", 1), ("#1a1a1a", 2)])
def test_what_turned_from_the_same_colour_to_the_same_is_one(color: str, count: int) -> None:
    one = change("recolored", (0, 0, 50, 20), "fill", color_before="#ffffff", color_after="#1a73e8")
    other = change("recolored", (300, 0, 310, 90), "fill", color_before="#ffffff", color_after=color)
    found = merged([one, other])
    assert len(found) == count
    assert all("color_after" in each.finding.values for each in found)


def test_causes_and_what_they_pushed_stay_apart() -> None:
    one = change("moved", (0, 0, 50, 20), "position", dx=0, dy=12)
    other = change("moved", (0, 40, 50, 60), "position", cause=False, dx=0, dy=12)
    assert len(merged([one, other])) == 2


def test_a_paragraph_whose_lines_stand_closer_is_one_thing_that_shrank() -> None:
    card = (20, 100, 400, 200)
    parts = [
        DetectedChange(
            Finding("resized", "length", 0.6, {"dy": dy, "grew": False}), card, (20, 100, 400, 200 + dy), 100
        )
        for dy in (-5, -8, -4)
    ]
    rest = change("moved", (20, 220, 400, 300), "position", cause=False, dx=0, dy=-17)
    (one,) = (found for found in merged([*parts, rest]) if found.cause)
    assert one.finding.values["dy"] == -17 and one.box_after == (20, 100, 400, 183)
    assert len(one.boxes) < 2
    other = DetectedChange(
        Finding("resized", "length", 0.6, {"dy": -5, "grew": False}),
        (20, 300, 400, 380),
        (20, 300, 400, 375),
        90,
    )
    assert len(merged([parts[0], other])[0].boxes) == 2
    assert len(merged(parts)[0].boxes) == 3  # Nothing shows by how much it shrank as a whole.


def test_alike_surfaces_are_one_at_any_distance() -> None:
    values = {
        "fill_before": "#1450dc",
        "fill_after": None,
        "outline_before": None,
        "outline_after": "#1450dc",
    }
    boxes = [(x, 10, x + 40, 30) for x in (0, 200, 400)]
    (one,) = merged([change("recolored", box, "surface", **values) for box in boxes])
    assert len(one.boxes) == 3 and one.finding.values == values
    other = change("recolored", (50, 10, 90, 30), "surface", **{**values, "fill_before": "#dc1450"})
    assert len(merged([change("recolored", boxes[0], "surface", **values), other])) == 2


def test_things_of_one_size_are_of_one_sort_though_only_one_is_known() -> None:
    box, other, wider = (10, 10, 67, 26), (10, 90, 67, 106), (10, 170, 107, 186)
    known = replace(change("removed", box), element="text")
    assert [one.element for one in merged([known, change("removed", other)])] == ["text"]
    assert len(merged([known, change("removed", wider)])) == 2


@pytest.mark.parametrize(
    ("steps", "values"),
    [((6, 12), {"wider": True}), ((-6, -12), {"wider": False}), ((6, -12), {}), ((6, 6), {"dx": 6})],
)
def test_alike_things_that_grew_by_different_amounts(steps: tuple[int, int], values: dict[str, Any]) -> None:
    first = change("resized", (0, 10, 40, 30), "length", dx=steps[0])
    (found,) = merged([first, change("resized", (200, 10, 240, 30), "length", dx=steps[1])])
    assert found.finding.values == values
