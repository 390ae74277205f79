"""Figures of labelled real pairs, on a few made by hand."""

from typing import Any

SCRIPT = "screens.real_pairs"


def statement(kind: str, before: list[int] | None, after: list[int] | None, *boxes: list[int]) -> Any:
    """A statement as the cache keeps it."""
    box = {"box_before": before, "box_after": after, "boxes": boxes or [after or before]}
    return {"kind": kind, **box, "in sentence": True}


def said(*statements: Any, verdict: str = "changed", sentence: str = "Something changed.") -> Any:
    """What is said of a pair."""
    return {
        "statements": list(statements),
        "verdict": verdict,
        "sentence": sentence,
        "no_change": 0.0 if verdict == "changed" else 1.0,
        "seconds": 1.0,
    }


def change(kind: str, before: list[int] | None, after: list[int] | None, **more: Any) -> Any:
    """A change as labels have it."""
    return {"kind": kind, "box_before": before, "box_after": after, **more}


BUTTON = change("added", None, [0, 0, 20, 10])
TEXT = change("moved", [0, 20, 20, 30], [0, 40, 20, 50])
PAIR = {"visible_change": "yes", "changes": [BUTTON, TEXT]}


def test_places_are_compared_in_the_same_picture(bench: Any) -> None:
    there = bench.grades(PAIR, said(statement("added", None, [0, 0, 20, 8])))
    elsewhere = bench.grades(PAIR, said(statement("removed", [0, 40, 20, 50], None)))
    assert there["pointing"] and there["IoU"] and there["kind, pointing"]
    assert not elsewhere["pointing"] and not elsewhere["main kind"]


def test_a_label_that_counts_takes_all_boxes_of_a_statement(bench: Any) -> None:
    alike = {"visible_change": "yes", "changes": [change("added", None, [0, 0, 100, 10], count=5)]}
    places = [[k, 0, k + 10, 10] for k in range(0, 100, 20)]
    row = bench.grades(alike, said(statement("added", None, places[0], *places)))
    assert row["pointing"] and row["IoU"]


def test_a_second_statement_needs_a_change_of_its_own(bench: Any) -> None:
    first, again = statement("added", None, [0, 0, 20, 10]), statement("restyled", None, [1, 1, 19, 9])
    other = statement("moved", [0, 20, 20, 30], [0, 40, 20, 50])
    assert bench.own_changes([first, again, other], PAIR["changes"]) == [True, False, True]


def test_figures_tell_shares_in_percent(bench: Any) -> None:
    pairs = [PAIR, {"visible_change": "no", "changes": []}]
    right = said(statement("added", None, [0, 0, 20, 10]), sentence="The button was added.")
    figures = bench.figures_of(pairs, [right, said(verdict="noise")])
    assert figures["change"] == figures["no change"] == figures["kind, pointing"] == 100
    assert figures["something"] == 0


def test_second_statements_are_counted_where_the_sentence_has_them(bench: Any) -> None:
    first, other = statement("added", None, [0, 0, 20, 10]), statement("moved", None, [0, 40, 20, 50])
    untold = {**other, "in sentence": False}
    figures = bench.figures_of(
        [PAIR] * 4, [said(first, other), said(first, first), said(first, untold), said(first)]
    )
    assert figures["told"] == 50
    assert figures["own"] == "50.0 of 2"
