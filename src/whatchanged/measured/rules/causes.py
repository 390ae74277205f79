"""Causes and consequences: an object that appeared, disappeared or grew moves other objects or the picture's
edge."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged.measured.pixels.boxes import area, common, union
from whatchanged.measured.result import Box, Statement
from whatchanged.measured.rules.alike import merged
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import TEXT_HEIGHT, Finding
from whatchanged.measured.rules.lines import one_line, rewritten_with

MOST_GAP = 40
"""The largest distance in pixels between an object and the object that it pushes."""
PUSH = (0.4, 2.5)
"""The least and largest size of an added or removed object, as a multiple of the movement that it causes."""
OVERLAP = 4
"""The largest overlap in pixels of an object and the object that it pushes."""
LEAST_REST = 2
"""The least movement of the remaining content, in pixels, that is described. A redrawn line may move by one
pixel."""
NEVER_PUSH = ("moved", "restyled")
"""Kinds of changes that do not push other objects."""
ONLY_COLOR = ("border", "ink", "palette")
"""Aspects of changes of colour that are never the cause of movements. A line or a text in another colour
takes no more room; a fill may be that of another object."""
BETWEEN = ("pushed in", "closed up")
"""Aspects of objects that appeared or disappeared between other objects."""
IN_TURNS = 5
"""The least number of alternating additions and removals at which matching lines count as a coincidence."""
VAGUE = (("replaced", "part"), ("replaced", "content"))
"""Kinds and aspects that only say that something looks different."""
OF_VAGUE = 0.5
"""The factor by which the size of a vague change counts in the order of the changes."""
LEAST_ADDED = 0.25
"""The least size of an added object that is described before a moved one, as a part of the moved one's size.
Smaller ones are often remains of the movement."""
PUSHING = ("pushed in", "closed up", "moved over", "length", "gap")
"""Aspects of changes between other objects that push those, or enlarge the picture."""


def ranked(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Return the changes with the most important first: causes before consequences, then by size.

    A change of which the rules only know that it looks different counts for a part of its size: what came,
    went or took another colour beside it says more. A highlight that moved is the cause of what the page
    shows then.
    """
    return sorted(
        changes,
        key=lambda one: (
            not one.cause,
            not _leads(one, changes),
            _may_be_redrawn(one),
            _comes_after_added(one, changes),
            -_weight(one) * one.pixels,
            one.box_after or one.box_before or (),
        ),
    )


def _leads(one: DetectedChange, changes: Sequence[DetectedChange]) -> bool:
    """Return whether a change is a highlight that moved alone. A line that moved with other content is a part
    of it."""
    others = (other for other in changes if other.finding.aspect == "position")
    return one.finding.aspect == "highlight" and not any(_one_step(one, other) for other in others)


def _may_be_redrawn(one: DetectedChange) -> bool:
    """Return whether a change is a movement by one pixel, which is often only another drawing of a text."""
    return one.finding.kind == "moved" and one.finding.aspect == "position" and _step(one) < LEAST_REST


def _comes_after_added(one: DetectedChange, changes: Sequence[DetectedChange]) -> bool:
    """Return whether an object moved while another one, not much smaller, appeared. Nobody who sees both
    describes the movement first."""
    if one.finding.kind != "moved" or one.finding.aspect != "position":
        return False
    return any(
        other.cause and other.finding.kind == "added" and other.pixels >= LEAST_ADDED * one.pixels
        for other in changes
    )


def _one_step(one: DetectedChange, other: DetectedChange) -> bool:
    """Return whether two objects moved by the same step."""
    return all(one.finding.values.get(name, 0) == other.finding.values.get(name, 0) for name in ("dx", "dy"))


def _weight(one: DetectedChange) -> float:
    """Return the factor by which the size of a change counts in the order of the changes."""
    return OF_VAGUE if (one.finding.kind, one.finding.aspect) in VAGUE else 1.0


def pushed(changes: list[DetectedChange]) -> list[DetectedChange]:
    """Mark movements as consequences of an adjacent object that appeared, disappeared or grew by about the
    same amount.

    In a line of text, words that a rewritten word pushes are merged with it.
    """
    moved = [
        one
        for one in changes
        if one.finding.kind == "moved" and one.cause and one.finding.aspect != "highlight"
    ]
    if not moved:
        return changes
    written = next((one for one in changes if one.finding.kind == "rewritten" and one.cause), None)
    line = [one for one in moved if written is not None and one_line(written, one)]
    if written is not None and line:
        changes = [one for one in changes if one not in line and one is not written]
        return pushed([*changes, rewritten_with(written, [written, *line])])
    first = max(moved, key=lambda one: one.pixels)
    if not (
        any(one.cause and _pushes(one, first) for one in merged(changes)) or _follows_all(changes, moved)
    ):
        return changes
    return [replace(one, cause=False) if one in moved else one for one in changes]


def without_chance_likeness(changes: list[DetectedChange]) -> list[DetectedChange]:
    """Replace the changes from a wrong alignment by one change: the region looks different.

    Many alternating additions and removals show that rows were matched by coincidence. This happens if a list
    is drawn at another size, or with other gaps between its rows.
    """
    between = [one for one in changes if one.finding.aspect in BETWEEN]
    if len(between) < IN_TURNS or len({one.finding.kind for one in between}) == 1:
        return changes
    parts = [*between, *(one for one in changes if one.finding.kind == "moved" and not one.cause)]
    was, now = (
        union([box for one in parts if (box := getattr(one, end)) is not None])
        for end in ("box_before", "box_after")
    )
    pixels = sum(area(_box(one)) for one in between)
    whole = DetectedChange(Finding("replaced", "part", 0.3), was, now, pixels)
    others = [one for one in changes if one not in parts and 2 * common(_box(one), now) < area(_box(one))]
    return [whole, *others]


def _box(one: DetectedChange) -> Box:
    """Return the box of an object in the picture after, or in the picture before if it was removed."""
    return one.box_after or one.box_before or (0, 0, 0, 0)


def _follows_all(changes: Sequence[DetectedChange], moved: Sequence[DetectedChange]) -> bool:
    """Return whether an added or removed object pushed its neighbours at least as far as any other object
    moved."""
    if not any(
        one.finding.aspect in ("pushed in", "closed up", "moved over") and one.cause for one in changes
    ):
        return False
    pushed_by = [_step(one) for one in changes if one.finding.kind == "moved" and not one.cause]
    return bool(pushed_by) and max(map(_step, moved)) <= max(pushed_by)


def _step(moved: DetectedChange) -> int:
    """Return the distance by which an object moved."""
    return max(abs(int(moved.finding.values.get(name, 0))) for name in ("dx", "dy"))


def _pushes(one: DetectedChange, moved: DetectedChange) -> bool:
    """Return whether a change explains the movement of another object."""
    step = {name: abs(moved.finding.values.get(name, 0)) for name in ("dx", "dy")}
    # A movement that is mainly along one axis was caused along that axis.
    step = {name: far if 2 * far >= _step(moved) else 0 for name, far in step.items()}
    box = one.box_after or one.box_before
    if box is None or moved.box_after is None or one.finding.kind in NEVER_PUSH:
        return False
    if one.finding.kind == "rewritten":
        return any(far and _on_one_side(box, moved.box_after, axis) for axis, far in enumerate(step.values()))
    if one.finding.aspect == "size":
        return True
    overlap = TEXT_HEIGHT if one.finding.kind in ("added", "removed") else OVERLAP
    if any(
        far and _lies_before(box, moved.box_after, axis, overlap) for axis, far in enumerate(step.values())
    ):
        return True
    if one.finding.kind == "resized":
        return any(abs(abs(one.finding.values.get(name, 0)) - far) <= 2 for name, far in step.items() if far)
    sides = {"dx": box[2] - box[0], "dy": box[3] - box[1]}
    fits = any(PUSH[0] * far <= sides[name] <= PUSH[1] * far for name, far in step.items() if far)
    return fits and one.finding.kind in ("added", "removed")


def _on_one_side(box: Box, other: Box, axis: int) -> bool:
    """Return whether another box lies on one side of a box along an axis, as what a text pushes does. Around
    the text lies what moved with it.
    """
    return other[axis] >= box[axis + 2] - OVERLAP or other[axis + 2] <= box[axis] + OVERLAP


def _lies_before(box: Box, other: Box, axis: int, overlap: int) -> bool:
    """Return whether a box ends where another one begins, from left to right (axis 0) or top to bottom (axis
    1).

    The two boxes must overlap along the other axis.
    """
    across = 1 - axis
    beside = box[across] < other[across + 2] and other[across] < box[across + 2]
    return beside and -MOST_GAP <= box[axis + 2] - other[axis] <= overlap


def with_rest(changes: Sequence[DetectedChange], parts: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Return ranked changes in which the cause includes the movement of its consequences.

    The consequences have no statements of their own. The cause is the first change that explains the largest
    pushed part, or else the first of all causes. Its ``values["rest"]`` is the movement [dx, dy] of that
    part.

    parts: the changes before similar ones were merged.
    """
    pushed_ones = [one for one in changes if one.finding.kind == "moved" and not one.cause]
    moved = [
        one for one in parts if one.finding.kind == "moved" and not one.cause and _step(one) >= LEAST_REST
    ]
    causes = [one for one in changes if one.cause and _may_push(one)]
    if not moved or not causes:
        others = any(one.cause for one in changes)
        return ranked([replace(one, cause=True) for one in changes]) if moved and others else list(changes)
    largest = max(moved, key=lambda one: one.pixels)
    cause = _cause_by_direction(causes, largest)
    if cause is not None:
        changes = [cause, *(one for one in changes if one is not cause)]
    cause = cause or next((one for one in causes if _pushes(one, largest)), None)
    # What came or went, or takes other room, mostly moves the rest, even if others lie between.
    known = cause is not None or _takes_other_room(causes[0])
    cause = cause or causes[0]
    step = [int(largest.finding.values.get(name, 0)) for name in ("dx", "dy")]
    rest = {"rest": step} if known and _is_as_far(cause, step) else {}
    told = replace(cause, finding=replace(cause.finding, values={**cause.finding.values, **rest}))
    return [told if one is cause else one for one in changes if one not in pushed_ones]


def _cause_by_direction(causes: Sequence[DetectedChange], moved: DetectedChange) -> DetectedChange | None:
    """Return the change that explains the direction of a movement, if the first cause contradicts it.

    What moved down or right has something new before it, and what moved up or left has lost something before
    it. The first cause contradicts this where it is the opposite: an object that disappeared is then often
    only covered by what moved.
    """
    name = max(("dx", "dy"), key=lambda name: abs(int(moved.finding.values.get(name, 0))))
    axis = ("dx", "dy").index(name)
    kind = "added" if int(moved.finding.values.get(name, 0)) > 0 else "removed"
    there = moved.box_after if kind == "added" else moved.box_before
    if causes[0].finding.aspect not in BETWEEN or causes[0].finding.kind == kind or there is None:
        return None
    return next(
        (
            one
            for one in causes
            if one.finding.kind == kind
            and one.finding.aspect in BETWEEN
            and _box(one)[axis] < there[axis + 2] - OVERLAP
        ),
        None,
    )


def _takes_other_room(one: DetectedChange) -> bool:
    """Return whether an object came or went, or is measured to have another width or height."""
    was, now = one.box_before, one.box_after
    if one.finding.kind in ("added", "removed") or was is None or now is None:
        return True
    return len(one.boxes) <= 1 and any(now[k + 2] - now[k] != was[k + 2] - was[k] for k in (0, 1))


def _may_push(one: DetectedChange) -> bool:
    """Return whether a change can be the cause of movements."""
    only_color = one.finding.kind == "recolored" and one.finding.aspect in ONLY_COLOR
    return one.finding.kind != "moved" and not only_color


def _is_as_far(cause: DetectedChange, step: Sequence[int]) -> bool:
    """Return whether the rest moved as far as the cause became longer or shorter, if it did.

    step: the movement of the rest, [dx, dy].
    """
    if cause.finding.aspect != "length":
        return True
    lengths = [int(cause.finding.values.get(name, 0)) for name in ("dx", "dy")]
    return all(
        abs(abs(far) - abs(length)) <= 1 for far, length in zip(step, lengths, strict=True) if far and length
    )


def brings_about(changes: Sequence[DetectedChange], canvas: Statement) -> bool:
    """Return whether the new size of the picture is a consequence of the changes that were found.

    Such a change appeared, disappeared or grew between other objects, or pushed them.
    """
    if canvas.values.get("aspect") != "canvas":
        return False
    return any(
        one.finding.aspect in PUSHING or (one.finding.kind == "moved" and not one.cause) for one in changes
    ) and any(one.cause and (one.finding.kind != "moved" or one.finding.aspect == "gap") for one in changes)


def following(changes: Sequence[DetectedChange], canvas: Statement) -> list[DetectedChange]:
    """Return ranked changes in which movements that follow from the new size of the picture are consequences.

    These are movements of most of the picture along the axis of its growth. If nothing else changed, they are
    also movements of objects at the edge by the same distance.
    """
    grew = [canvas.values.get(name, 0) for name in ("dx", "dy")]
    edges = [] if canvas.box_after is None else list(canvas.box_after[2:])
    if all(one.finding.kind == "moved" and _at_the_edge(one, grew, edges) for one in changes):
        return [replace(one, cause=False) for one in changes]
    return ranked([replace(one, cause=False) if _is_most(one, grew, edges) else one for one in changes])


def _is_most(moved: DetectedChange, grew: Sequence[int], edges: Sequence[int]) -> bool:
    """Return whether most of a picture moved along an axis on which the picture grew or shrank."""
    box = moved.box_after
    if (
        moved.finding.kind != "moved"
        or moved.finding.aspect == "gap"
        or box is None
        or not edges
        or 2 * area(box) < edges[0] * edges[1]
    ):
        return False
    steps = [moved.finding.values.get(name, 0) for name in ("dx", "dy")]
    return all(by for step, by in zip(steps, grew, strict=True) if step)


def _at_the_edge(moved: DetectedChange, grew: Sequence[int], edges: Sequence[int]) -> bool:
    """Return whether an object moved together with the right or the lower edge of the picture."""
    box = moved.box_after
    if box is None or moved.finding.aspect == "gap":
        return False
    steps = [moved.finding.values.get(name, 0) for name in ("dx", "dy")]
    return any(
        step and step == by and edge - end <= OVERLAP
        for step, by, edge, end in zip(steps, grew, edges, box[2:], strict=True)
    )
