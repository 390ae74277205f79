"""What counts as told and as true of an attribute, on statements made by hand."""

from collections import Counter
from typing import Any

from whatchanged.measured import Statement

SCRIPT = "screens.amounts"

BOX = (10, 10, 40, 20)


def told(kind: Any, values: dict[str, Any], box: Any = BOX) -> Statement:
    return Statement(kind, box, box, "", 0.7, values=values)


def true(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "box_before": list(BOX), "box_after": list(BOX), "values": values}


BOLDER = told("restyled", {"aspect": "weight", "amount_before": 1, "amount_after": 1.4})


def test_an_attribute_counts_where_it_is(bench: Any) -> None:
    truth = [true("restyled", {"aspect": "weight"})]
    right = bench.count([BOLDER], truth, real=False)
    assert right == Counter(
        {(name, what): 1 for name in ["weight"] for what in ("told", "told rightly", "true", "found")}
    )
    far = told("restyled", BOLDER.values, (200, 200, 220, 210))
    assert bench.count([far], truth, real=False)["weight", "told rightly"] == 0


def test_a_rule_without_an_amount_tells_none(bench: Any) -> None:
    assert bench.attribute_of(told("restyled", {"aspect": "weight"})) is None
    assert bench.attribute_of(told("recolored", {"aspect": "fill"})) is None


def test_the_words_of_real_labels(bench: Any) -> None:
    label = {"kind": "resized", "aspect": "font size", "box_before": None, "box_after": list(BOX)}
    assert bench.attribute_of_truth(label, real=True) == "text size"
    assert bench.attribute_of_truth({**label, "aspect": "wrapping"}, real=True) is None


def test_steps_are_right_within_a_pixel(bench: Any) -> None:
    moved = told("moved", {"dx": 8, "dy": 0})
    assert bench.steps_right(moved, [true("moved", {"dx": 9, "dy": 0})])
    assert bench.steps_right(moved, [true("moved", {"dx": 12, "dy": 0})]) is False
    assert bench.steps_right(moved, [true("added", {})]) is None
