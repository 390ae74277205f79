"""Each change with what can be measured of it: the finer word, its amounts, and what sort of thing shows
it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whatchanged import words
from whatchanged.measured.amounts.box import alignment_of
from whatchanged.measured.amounts.color import fill_change, fringed_ink, opacity_change
from whatchanged.measured.amounts.content import Content, grid_change, is_dialog, read_content
from whatchanged.measured.amounts.drawing import drawing_change
from whatchanged.measured.amounts.edge import outline_change, radius_change, shadow_change
from whatchanged.measured.amounts.look import look_in_both, look_of_all
from whatchanged.measured.amounts.order import exchanged, order_change
from whatchanged.measured.amounts.palette import palette_change
from whatchanged.measured.amounts.plot import data_change
from whatchanged.measured.amounts.ring import ring_change
from whatchanged.measured.amounts.state import state_change
from whatchanged.measured.amounts.strokes import line_width_change, marker_change
from whatchanged.measured.amounts.text import text_change, underline_change
from whatchanged.measured.pixels.boxes import area, lies_in
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import BY_AMOUNT, Finding

MOST_CHANGES = 24
"""Changes that are measured, the largest."""
_SHIFTED = ("pushed in", "closed up", "moved over")
"""Finer words of what came or went between things that moved: both pictures show other things at its
place."""
_TEXT = ("text", "line of text")
"""What text is called."""

_Measure = Callable[[Pixels, Pixels, Box], Finding | None]
_EDGES: tuple[_Measure, ...] = (shadow_change, radius_change, outline_change)
_MEASURES: dict[tuple[str | None, str], tuple[_Measure, ...]] = {
    ("added", "thing"): (ring_change, shadow_change, outline_change, fill_change),
    ("removed", "thing"): (ring_change, shadow_change, outline_change, fill_change),
    ("replaced", "icon"): (ring_change, *_EDGES, opacity_change, fill_change),
    ("added", "fill"): (fill_change,),
    ("removed", "fill"): (fill_change,),
    ("recolored", "border"): (radius_change, outline_change),
    ("recolored", "fill"): (*_EDGES, opacity_change, fill_change),
    ("recolored", "ink"): (*_EDGES, opacity_change),
    ("resized", "size"): _EDGES,
    ("restyled", ""): (*_EDGES, opacity_change, fill_change),
    ("replaced", ""): (*_EDGES, opacity_change, fill_change),
    ("rewritten", ""): (shadow_change, opacity_change),
    (None, ""): (*_EDGES, opacity_change, fill_change),
}
"""What is measured of a kind and its finer word, in this order; "": of any other finer word."""


def refined(changes: Sequence[DetectedChange], before: Pixels, after: Pixels) -> list[DetectedChange]:
    """The changes, each with what was measured of it; what is not measured surely stays as the rules told it.

    before, after: two pictures that lie on each other, as the changes were found in them.
    """
    largest = sorted(range(len(changes)), key=lambda index: -changes[index].pixels)[:MOST_CHANGES]
    results = list(changes)
    for index in largest:
        results[index] = _with_look(_refined(changes[index], before, after), before, after)
    return exchanged(results)


def _with_look(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """The change with a plain noun for what has no other; its colour is told where it did not change."""
    if change.element is not None or not change.cause or change.finding.kind == "rewritten":
        return change
    colored = change.finding.kind in ("added", "removed", "moved", "resized")
    if len(change.boxes) > 1:
        look = look_of_all(before if change.box_after is None else after, change.boxes, colored)
    else:
        look = look_in_both(before, after, change.box_before, change.box_after, colored)
    if look is None or (look == "area" and change.finding.kind == "recolored"):  # that is said anyway
        return change
    return replace(change, look=look)


def _refined(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """One change, with the first attribute that explains it."""
    box = change.box_after or change.box_before
    if box is None or not (lies_in(box, before.shape) and lies_in(box, after.shape)) or not area(box):
        return change
    if change.finding.kind == "moved":
        return _with_alignment(change, before, after)
    if change.finding.kind == "resized" and change.box_before != change.box_after:
        return (
            change  # its sides were measured: at one of its places an outline came, at the other one it went
        )
    if change.finding.aspect not in _SHIFTED:
        for measure in (_grid, _data, _state, _palette, _edge_or_color, _text, _lines, _drawing):
            measured = measure(change, before, after, box)
            if measured is not None:
                return _without_fringes(measured, before, after)
    return _with_content(_without_fringes(change, before, after), before, after, box)


def _without_fringes(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """A change of an ink's colour with the colours that letters have without their coloured fringes."""
    finding, was, now = change.finding, change.box_before, change.box_after
    if (finding.kind, finding.aspect) != ("recolored", "ink") or was is None or now is None:
        return change
    inks = fringed_ink(before, was), fringed_ink(after, now)
    if inks[0] is None or inks[1] is None:
        return change
    codes = {"color_before": words.color_code(inks[0]), "color_after": words.color_code(inks[1])}
    return replace(change, finding=replace(finding, values={**finding.values, **codes}))


def _grid(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """A grid that came or went."""
    came = grid_change(before, after, box)
    if came is None:
        return None
    finding = Finding("added" if came else "removed", "grid", 0.7)
    was, now = (None, box) if came else (box, None)
    return replace(change, finding=finding, box_before=was, box_after=now, element="grid")


def _data(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Other data in a plot, of which the rules tell no more than that another thing is drawn there."""
    kind, aspect = change.finding.kind, change.finding.aspect
    by_amount = kind in ("added", "removed") and change.finding.confidence <= BY_AMOUNT
    unlike = kind in (None, "replaced") or (kind == "restyled" and aspect in ("weight", "shape"))
    finding = data_change(before, after, box) if by_amount or unlike else None
    return None if finding is None else replace(change, finding=finding, box_before=box, box_after=box)


def _palette(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Several colours that turned to others, of what the rules took for one step."""
    if change.finding.kind != "recolored" or change.finding.aspect not in ("ink", "fill"):
        return None
    finding = palette_change(before, after, box)
    if finding is not None and opacity_change(before, after, box) is not None:
        return None  # one cause for all of them
    return None if finding is None else replace(change, finding=finding)


def _state(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """The state of a control, which keeps the kind that the rules told."""
    if change.finding.kind in ("resized", "rewritten"):
        return None
    state = state_change(before, after, box)
    if state is None:
        return None
    finding, element, control = state
    if change.finding.kind is not None:
        finding = replace(finding, kind=change.finding.kind, aspect=change.finding.aspect)
    return replace(change, finding=finding, box_before=control, box_after=control, element=element)


def _edge_or_color(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """An edge, a fill or an opacity."""
    kind, aspect = change.finding.kind, change.finding.aspect
    for measure in _MEASURES.get((kind, aspect), _MEASURES.get((kind, ""), ())):
        finding = measure(before, after, box)
        if finding is not None:
            return replace(change, finding=finding, box_before=box, box_after=box)
    return None


def _text(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Text that says the same, or a line under it."""
    kind, aspect = change.finding.kind, change.finding.aspect
    if kind in ("added", "removed", "restyled", "recolored", "resized"):
        underline = underline_change(before, after, box)
        if underline is not None:
            finding, around = underline
            return replace(change, finding=finding, box_before=around, box_after=around)
    if kind in ("added", "removed") or aspect in ("border", "fill", "radius", "length"):
        return None
    measured = text_change(before, after, change)
    return None if measured is None else _with_alignment(measured, before, after)


def _lines(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Drawn lines that became thicker, or got markers."""
    if change.finding.kind not in ("restyled", "added", "removed"):
        return None
    finding = line_width_change(before, after, box) or marker_change(before, after, box)
    return None if finding is None else replace(change, finding=finding, box_before=box, box_after=box)


def _drawing(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """A part that a drawing gained or lost, or how strongly all of it is drawn."""
    unclear = change.finding.kind == "restyled" and change.finding.aspect in ("shape", "border")
    if not unclear or change.box_before != change.box_after:
        return None
    finding = drawing_change(before, after, box)
    if finding is None:
        return None
    was, now = (None if finding.kind == kind else box for kind in ("added", "removed"))
    return replace(change, finding=finding, box_before=was, box_after=now)


def _with_alignment(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """What moved across, with how it is aligned now, where that changed."""
    was, now, values = change.box_before, change.box_after, change.finding.values
    if change.finding.kind != "moved" or not values.get("dx") or values.get("dy") or not change.cause:
        return change
    if was is None or now is None or not lies_in(was, before.shape) or not lies_in(now, after.shape):
        return change
    align = alignment_of(before, after, was, now)
    return replace(change, finding=replace(change.finding, values={**values, **align})) if align else change


def _with_content(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange:
    """The change with what it is that came, went or was exchanged, where its look tells."""
    kind, aspect = change.finding.kind, change.finding.aspect
    if kind in ("added", "removed"):
        shown, hidden = (after, before) if kind == "added" else (before, after)
        if aspect not in _SHIFTED and is_dialog(shown, hidden, box):
            return replace(change, element="dialog")
        content = read_content(shown, box)
        if content is None:
            return change
        if kind == "added" and change.finding.confidence <= BY_AMOUNT and _is_text_in(hidden, box, content):
            return replace(change, finding=Finding("rewritten", "text", 0.45), box_before=box, box_after=box)
        finding = change.finding
        if content.number > 1:
            finding = replace(finding, values={**finding.values, "number": content.number})
        return replace(change, finding=finding, element=content.element, boxes=content.boxes)
    if kind in (None, "replaced", "rewritten") and change.box_before == change.box_after:
        return _dialog(change, before, after, box) or _order(change, before, after, box) or change
    return change


def _is_text_in(hidden: Pixels, box: Box, content: Content) -> bool:
    """Whether text stands in a box in the other picture, too: there is more of it, and other words.

    content: what the picture shows in which there is more.
    """
    there = read_content(hidden, box)
    return there is not None and there.element in _TEXT and content.element in _TEXT


def _dialog(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """A dialog that came over something else, or went."""
    if is_dialog(after, before, box):
        finding = Finding("added", "dialog", 0.6)
        return replace(change, finding=finding, box_before=None, element="dialog")
    if is_dialog(before, after, box):
        finding = Finding("removed", "dialog", 0.6)
        return replace(change, finding=finding, box_after=None, element="dialog")
    return None


def _order(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Two things within what differs that changed places."""
    order = order_change(before, after, box)
    return None if order is None else replace(change, finding=order[0], boxes=order[1])
