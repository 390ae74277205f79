"""Each change with what can be measured of it: the finer word, its amounts, and what sort of thing shows it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whatchanged.measured.amounts.color import fill_change, opacity_change
from whatchanged.measured.amounts.content import is_dialog, read_content
from whatchanged.measured.amounts.edge import outline_change, radius_change, shadow_change
from whatchanged.measured.amounts.order import exchanged, order_change
from whatchanged.measured.amounts.state import state_change
from whatchanged.measured.amounts.text import text_change
from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

MOST_CHANGES = 24
"""Changes that are measured, the largest."""

_Measure = Callable[[Pixels, Pixels, Box], Finding | None]


def refined(changes: Sequence[DetectedChange], before: Pixels, after: Pixels) -> list[DetectedChange]:
    """The changes, each with what was measured of it; what is not measured surely stays as the rules told it.

    before, after: two pictures that lie on each other, as the changes were found in them.
    """
    largest = sorted(range(len(changes)), key=lambda index: -changes[index].pixels)[:MOST_CHANGES]
    results = list(changes)
    for index in largest:
        results[index] = _refined(changes[index], before, after)
    return exchanged(results)


def _refined(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """One change, measured by what its kind allows."""
    box = change.box_after or change.box_before
    if box is None or not (_inside(box, before) and _inside(box, after)) or not area(box):
        return change
    kind = change.finding.kind
    if kind in (None, "added", "removed", "recolored", "replaced", "restyled") and change.finding.aspect not in _SHIFTED:
        state = state_change(before, after, box)
        if state is not None:
            finding, element, place = state
            if kind is not None:
                finding = replace(finding, kind=kind, aspect=change.finding.aspect)
            return replace(change, finding=finding, box_before=place, box_after=place, element=element)
    for measure in _MEASURES.get((kind, change.finding.aspect), _MEASURES.get((kind, ""), ())):
        finding = measure(before, after, box)
        if finding is not None:
            return replace(change, finding=finding, box_before=box, box_after=box)
    if kind in (None, "recolored", "replaced", "restyled", "rewritten") or change.finding.aspect == "size":
        if change.finding.aspect not in ("border", "fill", "radius"):
            measured = text_change(before, after, change)
            if measured is not None:
                return measured
    return _of_content(change, before, after, box)


def _of_content(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange:
    """The change with what it is that came, went or was exchanged, where its look tells."""
    kind = change.finding.kind
    if kind in ("added", "removed"):
        shown, hidden = (after, before) if kind == "added" else (before, after)
        if change.finding.aspect not in _SHIFTED and is_dialog(shown, hidden, box):
            return replace(change, element="dialog")
        content = read_content(shown, box)
        if content is None:
            return change
        finding = change.finding
        if content.number > 1:
            finding = replace(finding, values={**finding.values, "number": content.number})
        return replace(change, finding=finding, element=content.element, boxes=content.boxes)
    if kind in (None, "replaced", "rewritten") and change.box_before == change.box_after:
        for shown, hidden, came in ((after, before, True), (before, after, False)):
            if is_dialog(shown, hidden, box):
                finding = Finding("added" if came else "removed", "dialog", 0.6)
                places = (None, box) if came else (box, None)
                return replace(change, finding=finding, box_before=places[0], box_after=places[1], element="dialog")
        order = order_change(before, after, box)
        if order is not None:
            return replace(change, finding=order[0], boxes=order[1])
    return change


_SHIFTED = ("pushed in", "closed up", "moved over")
"""Finer words of what came or went between things that moved: both pictures show other things at its place."""

_MEASURES: dict[tuple[str | None, str], tuple[_Measure, ...]] = {
    ("added", "thing"): (shadow_change, outline_change, fill_change),
    ("removed", "thing"): (shadow_change, outline_change, fill_change),
    ("added", "fill"): (fill_change,),
    ("removed", "fill"): (fill_change,),
    ("recolored", "border"): (outline_change,),
    ("recolored", "fill"): (opacity_change,),
    ("recolored", "ink"): (opacity_change,),
    ("restyled", "border"): (outline_change, shadow_change),
    ("restyled", "radius"): (radius_change,),
    ("restyled", ""): (shadow_change, radius_change, outline_change, opacity_change, fill_change),
    ("replaced", ""): (shadow_change, opacity_change, fill_change),
    (None, ""): (shadow_change, radius_change, outline_change, opacity_change, fill_change),
}
"""What is measured of a kind and its finer word, in this order; "": of any other finer word."""


def _inside(box: Box, picture: Pixels) -> bool:
    """Whether a box lies in a picture."""
    return box[2] <= picture.shape[1] and box[3] <= picture.shape[0]
