"""Refinement of detected changes: a finer aspect, measured amounts, and the sort of object."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whatchanged.measured.amounts.areas import areas_of_more, grown_areas
from whatchanged.measured.amounts.box import alignment_of
from whatchanged.measured.amounts.color import fill_change, ink_step, opacity_change, without_fringes
from whatchanged.measured.amounts.content import Content, grid_change, is_dialog, read_content
from whatchanged.measured.amounts.cover import cover_change
from whatchanged.measured.amounts.drawing import drawing_change, separate_parts
from whatchanged.measured.amounts.edge import outline_change, radius_change, shadow_change
from whatchanged.measured.amounts.icon import (
    arrow_at_gap,
    icon_change,
    moved_icon,
    pushed_by_drawings,
)
from whatchanged.measured.amounts.legend import as_legend
from whatchanged.measured.amounts.look import look_in_both, look_of_all
from whatchanged.measured.amounts.order import exchanged, order_change
from whatchanged.measured.amounts.palette import palette_change
from whatchanged.measured.amounts.plot import data_change
from whatchanged.measured.amounts.redrawn import (
    came_or_went,
    moved_drawing,
    only_outlines,
    recolored_drawing,
    redrawn_part,
)
from whatchanged.measured.amounts.refilled import only_refilled
from whatchanged.measured.amounts.ring import ring_change
from whatchanged.measured.amounts.row import styled_row
from whatchanged.measured.amounts.scaled import scaled_drawing
from whatchanged.measured.amounts.series import line_among_others, lines_restyled
from whatchanged.measured.amounts.state import state_change
from whatchanged.measured.amounts.strokes import line_width_change, marker_change
from whatchanged.measured.amounts.surface import surface_change
from whatchanged.measured.amounts.surrounded import with_each_box
from whatchanged.measured.amounts.text import text_change, underline_change
from whatchanged.measured.amounts.veil import veil_change
from whatchanged.measured.pixels.boxes import area, box_of, lies_in, union
from whatchanged.measured.pixels.planes import steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import BY_AMOUNT, SAME_COLOR, Finding
from whatchanged.measured.rules.predicates import UNLIKE

MOST_CHANGES = 24
"""The number of changes that are measured, starting with the largest."""
SMALLEST_PART = 5
"""The least shorter side, in pixels, of the largest of several parts that appeared or disappeared."""
SMALL_CONTROL = 34
"""The largest side, in pixels, of a control whose mark has the control's own box. In a larger one the mark is
a thing of its own to the eye."""
_SHIFTED = ("pushed in", "closed up", "moved over")
"""Aspects of objects that appeared or disappeared between moved objects. The pictures show different objects
there."""
_TEXT = ("text", "line of text")
"""The names of text elements."""

_Measure = Callable[[Pixels, Pixels, Box], Finding | None]
_FinerMeasure = Callable[[DetectedChange, Pixels, Pixels, Box], DetectedChange | None]
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
"""A mapping from a kind and an aspect to their measurements, in order. The aspect "" stands for all other
aspects."""


def refined(changes: Sequence[DetectedChange], before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the changes with their measurements. A change without a certain measurement stays as the rules
    found it.

    before, after: the aligned pictures in which the changes were found.
    """
    veiled = veil_change(changes, before, after)
    if veiled is not None:
        return [veiled]
    lines = lines_restyled(changes, before, after)
    if lines is not None:
        return [lines]
    row = styled_row(changes, before, after)
    if row is not None:
        return row
    changes = areas_of_more(changes, before, after)
    largest = sorted(range(len(changes)), key=lambda index: -changes[index].pixels)[:MOST_CHANGES]
    results = list(changes)
    for index in largest:
        one = only_refilled(_refined(changes[index], before, after), before, after)
        results[index] = _with_look(one, before, after)
        results[index] = with_each_box(results[index], before, after)
    results = grown_areas(pushed_by_drawings(_once(results), changes), before, after)
    return exchanged([as_legend(one, before, after) for one in results])


def _once(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Return the changes, those that turned out to be parts of one and the same control or icon only once."""
    results: list[DetectedChange] = []
    for one in sorted(changes, key=lambda change: not change.cause):
        of_whole = "state" in one.finding.values or one.finding.aspect in ("turned", "filled", "size")
        is_known = any(
            (other.box_after, other.element) == (one.box_after, one.element)
            and other.finding.values == one.finding.values
            for other in results
        )
        if not (of_whole and is_known):
            results.append(one)
    return results


def _with_look(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return the change with a plain noun if it has no element. The noun includes a colour only if the colour
    stayed the same."""
    known = change.element is not None or change.look is not None
    if known or not change.cause or change.finding.kind == "rewritten":
        return change
    colored = change.finding.kind in ("added", "removed", "moved", "resized")
    if len(change.boxes) > 1:
        look = look_of_all(before if change.box_after is None else after, change.boxes, colored)
    else:
        look = look_in_both(before, after, change.box_before, change.box_after, colored)
    # The sentence mentions the area anyway.
    if look is None or (look == "area" and change.finding.kind == "recolored"):
        return change
    return replace(change, look=look)


def _refined(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return the change with the first measurement that explains it."""
    box = change.box_after or change.box_before
    if box is None or not (lies_in(box, before.shape) and lies_in(box, after.shape)) or not area(box):
        return change
    if change.finding.aspect == "highlight":
        return change
    if change.finding.kind == "moved":
        return (
            _moved_knob(change, before, after)
            or moved_icon(change, before, after)
            or redrawn_part(change)
            or _with_alignment(change, before, after)
        )
    arrow = arrow_at_gap(change, before, after, box)
    if arrow is not None:
        return arrow
    surface = _surface(change, before, after, box)
    if surface is not None and (_is_fill(surface) or _is_around(surface) or change.finding.kind == "resized"):
        # An outline that changed all around may look like an object that grew from one side to the other one.
        return surface
    if change.finding.kind == "resized" and change.box_before != change.box_after:
        # The size was measured already: an outline would appear at one of its positions and disappear at the
        # other. A part of an icon may have been taken for a thing of its own.
        part = _differing(before, after, union([change.box_before or box, box]))
        return (None if part is None else icon_change(change, before, after, part)) or change
    if change.finding.aspect not in _SHIFTED:
        measured = (
            _first(_SHAPES, change, before, after, box)
            or surface
            or _first(_STYLES, change, before, after, box)
        )
        if measured is not None:
            return without_fringes(measured, before, after)
    return _with_ink(_with_content(without_fringes(change, before, after), before, after, box), before, after)


def _with_ink(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Return a change that only says that a place looks different, with the colours of its ink if they
    differ."""
    finding, box = change.finding, change.box_after
    if (finding.kind, finding.aspect) not in UNLIKE or box is None or change.box_before != box:
        return change
    codes = {} if finding.values else ink_step(before, after, box)
    return replace(change, finding=replace(finding, values={**finding.values, **codes})) if codes else change


def _grid(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as a grid that appeared or disappeared, or None."""
    came = grid_change(before, after, box)
    if came is None:
        return None
    finding = Finding("added" if came else "removed", "grid", 0.7)
    was, now = (None, box) if came else (box, None)
    return replace(change, finding=finding, box_before=was, box_after=now, element="grid")


def _data(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as other data in a plot, if the rules only found that something else is drawn, or
    None."""
    kind, aspect = change.finding.kind, change.finding.aspect
    by_amount = kind in ("added", "removed") and change.finding.confidence <= BY_AMOUNT
    unlike = kind in (None, "replaced") or (kind == "restyled" and aspect in ("weight", "shape"))
    finding = data_change(before, after, box) if by_amount or unlike else None
    return None if finding is None else replace(change, finding=finding, box_before=box, box_after=box)


def _palette(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as several exchanged colours, if the rules found one change of colour, or None."""
    found = (change.finding.kind, change.finding.aspect)
    if found not in (("recolored", "ink"), ("recolored", "fill"), ("replaced", "content")):
        return None
    finding = palette_change(before, after, box)
    if finding is not None and opacity_change(before, after, box) is not None:
        return None  # A change of opacity explains all of them.
    return None if finding is None else replace(change, finding=finding)


def _state(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as another state of a control, or None. The kind that the rules found is kept."""
    if change.finding.kind == "resized":
        return None
    state = state_change(before, after, box)
    if state is None or (change.finding.kind == "rewritten" and state[1] != "switch"):
        return None
    finding, element, control = state
    if change.finding.kind not in (None, "rewritten"):
        finding = replace(finding, kind=change.finding.kind, aspect=change.finding.aspect)
    if change.finding.kind in ("added", "removed") and control[2] - control[0] > SMALL_CONTROL:
        return replace(change, finding=finding, element=element)  # Its boxes are those of the mark.
    return replace(change, finding=finding, box_before=control, box_after=control, element=element)


def _differing(before: Pixels, after: Pixels, box: Box) -> Box | None:
    """Return the box of all differences in a box."""
    left, top, right, bottom = box
    one, other = (picture[top:bottom, left:right] for picture in (before, after))
    if one.shape != other.shape:
        return None
    return box_of(steps_between(one, other) > SAME_COLOR, left, top)


def _moved_knob(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange | None:
    """Return the movement of a switch's knob as another state of the switch, or None for other movements."""
    was, now = change.box_before, change.box_after
    if not change.cause or was is None or now is None:
        return None
    state = state_change(before, after, union([was, now]))
    if state is None or state[1] != "switch":
        return None
    finding, element, control = state
    return replace(change, finding=finding, box_before=control, box_after=control, element=element)


def _first(
    measures: Sequence[_FinerMeasure], change: DetectedChange, before: Pixels, after: Pixels, box: Box
) -> DetectedChange | None:
    """Return the change with the first of these measurements that explains it, or None."""
    results = (measure(change, before, after, box) for measure in measures)
    return next((one for one in results if one is not None), None)


def _is_fill(change: DetectedChange) -> bool:
    """Return whether a change is another fill of the same thing, perhaps with another outline."""
    return change.finding.aspect in ("surface", "fill")


def _is_around(change: DetectedChange) -> bool:
    """Return whether a change is an outline that came or went around the same thing, as a focus ring does. It
    may look like a larger or smaller thing."""
    return change.finding.aspect == "outline"


def _surface(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as another fill, another outline or both of the same thing, or None."""
    if not change.cause or len(change.boxes) > 1 or change.finding.aspect in _SHIFTED:
        return None
    if "content" in change.finding.values:
        return None  # The rules also measured how far its content moved.
    if change.box_before is not None and change.box_after is not None:
        box = union([change.box_before, change.box_after])
    found = surface_change(before, after, box) if lies_in(box, after.shape) else None
    if found is None:
        return None
    finding, thing = found
    if finding.aspect in ("border", "outline"):
        finding = outline_change(before, after, thing) or finding
    return replace(change, finding=finding, box_before=thing, box_after=thing)


def _edge_or_color(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as a change of an edge, a fill or an opacity, or None."""
    kind, aspect = change.finding.kind, change.finding.aspect
    for measure in _MEASURES.get((kind, aspect), _MEASURES.get((kind, ""), ())):
        finding = measure(before, after, box)
        if finding is not None:
            return replace(change, finding=finding, box_before=box, box_after=box)
    return None


def _text(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as a style change of the same text, or as a change of its underline, or None."""
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
    """Return the change as drawn lines that became thicker or thinner, or whose markers changed, or None."""
    if change.finding.kind not in ("restyled", "added", "removed"):
        return None
    finding = line_width_change(before, after, box) or marker_change(before, after, box)
    return None if finding is None else replace(change, finding=finding, box_before=box, box_after=box)


def _drawing(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as a part that a drawing gained or lost, or as another contrast of the drawing, or
    None."""
    unclear = change.finding.kind == "restyled" and change.finding.aspect in ("shape", "border")
    if not unclear or change.box_before != change.box_after:
        return None
    finding = drawing_change(before, after, box)
    if finding is None:
        return None
    was, now = (None if finding.kind == kind else box for kind in ("added", "removed"))
    return replace(change, finding=finding, box_before=was, box_after=now)


def _separate(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return a change that only shows more or less than before as separate objects that appeared or
    disappeared on bare ground, or None."""
    kind = change.finding.kind
    if change.finding.confidence > BY_AMOUNT or kind not in ("added", "removed"):
        return None
    boxes = separate_parts(before, after, box, kind == "added")
    if not boxes or max(min(one[2] - one[0], one[3] - one[1]) for one in boxes) < SMALLEST_PART:
        return None
    around = union(boxes)
    was, now = (None, around) if kind == "added" else (around, None)
    finding = Finding(kind, "thing", 0.6)
    return replace(change, finding=finding, box_before=was, box_after=now, boxes=boxes)


def _with_alignment(change: DetectedChange, before: Pixels, after: Pixels) -> DetectedChange:
    """Add the alignments before and after to a change that moved horizontally, if they differ."""
    was, now, values = change.box_before, change.box_after, change.finding.values
    if change.finding.kind != "moved" or not values.get("dx") or values.get("dy") or not change.cause:
        return change
    if was is None or now is None or not lies_in(was, before.shape) or not lies_in(now, after.shape):
        return change
    align = alignment_of(before, after, was, now)
    return replace(change, finding=replace(change.finding, values={**values, **align})) if align else change


def _with_content(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange:
    """Return the change with the sort of content that appeared, disappeared or was replaced, if the pixels
    show it."""
    kind, aspect = change.finding.kind, change.finding.aspect
    if kind in ("added", "removed"):
        shown, hidden = (after, before) if kind == "added" else (before, after)
        if aspect not in _SHIFTED and is_dialog(shown, hidden, box):
            return replace(change, element="dialog")
        content = read_content(shown, box)
        if content is None:
            outlines = "by_amount" in change.finding.values and only_outlines(before, after, box)
            border = Finding("restyled", "border", 0.4)
            return replace(change, finding=border, box_before=box, box_after=box) if outlines else change
        if kind == "added" and change.finding.confidence <= BY_AMOUNT and _is_text_in(hidden, box, content):
            return replace(change, finding=Finding("rewritten", "text", 0.45), box_before=box, box_after=box)
        finding = change.finding
        if content.number > 1:
            finding = replace(finding, values={**finding.values, "number": content.number})
        return replace(change, finding=finding, element=content.element, boxes=content.boxes)
    if kind in (None, "replaced", "rewritten") and change.box_before == change.box_after:
        dialog = None if aspect == "content" else _dialog(change, before, after, box)
        return dialog or _order(change, before, after, box) or change
    return change


def _is_text_in(hidden: Pixels, box: Box, content: Content) -> bool:
    """Return whether the other picture contains text in a box, too. The text then has more and different
    words.

    content: the content in the picture with more ink.
    """
    there = read_content(hidden, box)
    return there is not None and there.element in _TEXT and content.element in _TEXT


def _dialog(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as a dialog that appeared over other content, or disappeared, or None."""
    if is_dialog(after, before, box):
        finding = Finding("added", "dialog", 0.6)
        return replace(change, finding=finding, box_before=None, element="dialog")
    if is_dialog(before, after, box):
        finding = Finding("removed", "dialog", 0.6)
        return replace(change, finding=finding, box_after=None, element="dialog")
    return None


def _order(change: DetectedChange, before: Pixels, after: Pixels, box: Box) -> DetectedChange | None:
    """Return the change as two objects that exchanged their positions, or None."""
    order = order_change(before, after, box)
    return None if order is None else replace(change, finding=order[0], boxes=order[1])


_SHAPES = (
    cover_change,
    _grid,
    _data,
    _state,
    icon_change,
    _separate,
)
"""The measurements of a change, in order, that come before that of its surface."""
_STYLES = (
    scaled_drawing,
    _palette,
    _edge_or_color,
    recolored_drawing,
    _text,
    _lines,
    line_among_others,
    _drawing,
    moved_drawing,
    came_or_went,
)
"""The measurements of a change, in order, that come after that of its surface."""
