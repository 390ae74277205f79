"""Causes and what followed from them: what came, went or grew pushed the rest, and the picture with it."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged.measured.pixels.boxes import area, common, union
from whatchanged.measured.result import Box, Statement
from whatchanged.measured.rules.alike import merged
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import TEXT_HEIGHT, Finding
from whatchanged.measured.rules.lines import one_line, rewritten_with

MOST_GAP = 40
"""Pixels between what pushes and what it pushes at most."""
PUSH = (0.4, 2.5)
"""What comes or goes is at least and at most so large, in steps of what it pushes."""
OVERLAP = 4
"""Pixels by which what pushes may reach into what it pushes."""
LEAST_REST = 2
"""Pixels by which the rest moved at least, where it is told: a line that is drawn anew may move by one."""
NEVER_PUSH = ("moved", "restyled")
"""Kinds that push nothing."""
BETWEEN = ("pushed in", "closed up")
"""Finer words of what came or went between other things."""
IN_TURNS = 5
"""Places in which something came or went in turns, from which on lines that seem to have moved are alike by
chance."""
PUSHING = ("pushed in", "closed up", "moved over", "length")
"""Finer words of what came, went or grew between other things, which moved or made the picture larger."""


def ranked(changes: Sequence[DetectedChange]) -> list[DetectedChange]:
    """The most telling first: causes before consequences, then by size."""
    return sorted(
        changes,
        key=lambda one: (not one.cause, -one.pixels, one.box_after or one.box_before or ()),
    )


def pushed(changes: list[DetectedChange]) -> list[DetectedChange]:
    """What moved is a consequence where something beside it came, went or grew by about as much.

    In a line of text, what a rewritten word pushes is rewritten with it.
    """
    moved = [one for one in changes if one.finding.kind == "moved" and one.cause]
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
    """The changes, with those that come from a wrong alignment as one: that place looks different.

    Where things seem to have come and gone in many places in turns, rows were aligned that are alike by
    chance. That happens where a list is drawn in another size, or with other gaps between its rows.
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
    """Where something is, or was where it is gone."""
    return one.box_after or one.box_before or (0, 0, 0, 0)


def _follows_all(changes: Sequence[DetectedChange], moved: Sequence[DetectedChange]) -> bool:
    """Whether something came or went and pushed its neighbours by more than anything else moved."""
    if not any(
        one.finding.aspect in ("pushed in", "closed up", "moved over") and one.cause for one in changes
    ):
        return False
    pushed_by = [_step(one) for one in changes if one.finding.kind == "moved" and not one.cause]
    return bool(pushed_by) and max(map(_step, moved)) <= max(pushed_by)


def _step(moved: DetectedChange) -> int:
    """How far something moved."""
    return max(abs(int(moved.finding.values.get(name, 0))) for name in ("dx", "dy"))


def _pushes(one: DetectedChange, moved: DetectedChange) -> bool:
    """Whether a change explains that something moved."""
    step = {name: abs(moved.finding.values.get(name, 0)) for name in ("dx", "dy")}
    # what went far across and a little down was pushed across
    step = {name: far if 2 * far >= _step(moved) else 0 for name, far in step.items()}
    box = one.box_after or one.box_before
    if box is None or moved.box_after is None or one.finding.kind in NEVER_PUSH:
        return False
    if one.finding.kind == "rewritten" or one.finding.aspect == "size":
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


def _lies_before(box: Box, other: Box, axis: int, overlap: int) -> bool:
    """Whether a box ends where another begins, from left to right (axis 0) or downwards, and beside it."""
    across = 1 - axis
    beside = box[across] < other[across + 2] and other[across] < box[across + 2]
    return beside and -MOST_GAP <= box[axis + 2] - other[axis] <= overlap


def with_rest(changes: Sequence[DetectedChange], parts: Sequence[DetectedChange]) -> list[DetectedChange]:
    """Ranked changes, the cause with how far the rest went, and what went so without a statement of its own.

    parts: the changes before alike ones became one. The cause is the first that explains the largest part
    that was pushed, or else the first of all; its ``values["rest"]`` is the step [dx, dy] of that part.
    """
    pushed_ones = [one for one in changes if one.finding.kind == "moved" and not one.cause]
    moved = [
        one for one in parts if one.finding.kind == "moved" and not one.cause and _step(one) >= LEAST_REST
    ]
    causes = [one for one in changes if one.cause and one.finding.kind != "moved"]
    if not moved or not causes:
        return list(changes)
    largest = max(moved, key=lambda one: one.pixels)
    cause = next((one for one in causes if _pushes(one, largest)), causes[0])
    step = [int(largest.finding.values.get(name, 0)) for name in ("dx", "dy")]
    finding = replace(cause.finding, values={**cause.finding.values, "rest": step})
    told = replace(cause, finding=finding)
    return [told if one is cause else one for one in changes if one not in pushed_ones]


def brings_about(changes: Sequence[DetectedChange], canvas: Statement) -> bool:
    """Whether another size of the picture follows from what was found: something in between came, went or
    grew, or pushed the rest."""
    if canvas.values.get("aspect") != "canvas":
        return False
    return any(
        one.finding.aspect in PUSHING or (one.finding.kind == "moved" and not one.cause) for one in changes
    ) and any(one.cause and one.finding.kind != "moved" for one in changes)


def following(changes: Sequence[DetectedChange], canvas: Statement) -> list[DetectedChange]:
    """Ranked changes, of which what moved follows where the picture grew or shrank along its step: most of
    the picture, or, where nothing else changed, what lies at the edge and went with it."""
    grew = [canvas.values.get(name, 0) for name in ("dx", "dy")]
    edges = [] if canvas.box_after is None else list(canvas.box_after[2:])
    if all(one.finding.kind == "moved" and _at_the_edge(one, grew, edges) for one in changes):
        return [replace(one, cause=False) for one in changes]
    return ranked([replace(one, cause=False) if _is_most(one, grew, edges) else one for one in changes])


def _is_most(moved: DetectedChange, grew: Sequence[int], edges: Sequence[int]) -> bool:
    """Whether most of a picture moved along a direction in which it grew or shrank."""
    box = moved.box_after
    if moved.finding.kind != "moved" or box is None or not edges or 2 * area(box) < edges[0] * edges[1]:
        return False
    steps = [moved.finding.values.get(name, 0) for name in ("dx", "dy")]
    return all(by for step, by in zip(steps, grew, strict=True) if step)


def _at_the_edge(moved: DetectedChange, grew: Sequence[int], edges: Sequence[int]) -> bool:
    """Whether something moved with the right or the lower edge of the picture."""
    box = moved.box_after
    if box is None:
        return False
    steps = [moved.finding.values.get(name, 0) for name in ("dx", "dy")]
    return any(
        step and step == by and edge - end <= OVERLAP
        for step, by, edge, end in zip(steps, grew, edges, box[2:], strict=True)
    )
