"""A picture that became larger or smaller around its contents, which stay in its middle."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged import words
from whatchanged.measured.pixels.boxes import union
from whatchanged.measured.result import Statement
from whatchanged.measured.rules.causes import LEAST_REST, PUSHING
from whatchanged.measured.rules.detected import DetectedChange

ONE_PIXEL = 1
"""By how many pixels contents in the middle may miss half of the picture's growth, which may be odd."""
OFF_MIDDLE = 0.15
"""How far the middle of the contents may lie from that of the picture, as a fraction of its side."""
MOST_OF_IT = 0.6
"""The least fraction of the moved area that moved by half of the growth. The rest moved with the far edge."""


def around_contents(
    changes: Sequence[DetectedChange], canvas: Statement
) -> tuple[list[DetectedChange], Statement] | None:
    """Return the changes that have another cause, and the statement about the picture's size with the
    movement of its contents; None if the contents are not in the middle.

    What seems to have come or gone between objects is then the room around the contents.
    """
    moved = [one for one in changes if one.finding.kind == "moved" and not one.cause]
    step = [_half(moved, name, int(canvas.values.get(name, 0))) for name in ("dx", "dy")]
    if canvas.values.get("aspect") != "canvas" or None in step or not any(step):
        return None
    if any(by and not _is_in_the_middle(moved, canvas, axis) for axis, by in enumerate(step)):
        return None
    way = words.way(step[0] or 0, step[1] or 0)
    told = replace(
        canvas,
        sentence=f"{canvas.sentence[:-1]}, which moved its contents {way}.",
        values={**canvas.values, "rest": step},
    )
    others = [one for one in changes if one.cause and one.finding.aspect not in PUSHING]
    return [one for one in others if one.finding.kind != "moved"], told


def _is_in_the_middle(moved: Sequence[DetectedChange], canvas: Statement, axis: int) -> bool:
    """Return whether the contents that moved by half of the growth were about in the middle of the picture
    before, along an axis."""
    name = ("dx", "dy")[axis]
    growth = int(canvas.values.get(name, 0))
    inside = [one for one in moved if int(one.finding.values.get(name, 0)) != growth]
    boxes = [one.box_before for one in inside if one.box_before is not None]
    if canvas.box_before is None or not boxes:
        return False
    around, side = union(boxes), canvas.box_before[2 + axis]
    return abs(around[axis] + around[2 + axis] - side) <= 2 * OFF_MIDDLE * side


def _half(moved: Sequence[DetectedChange], name: str, growth: int) -> int | None:
    """Return by how much contents moved along an axis, half of the picture's growth; 0 if they did not move
    along it, and None if they moved otherwise."""
    steps = {int(one.finding.values.get(name, 0)): 0 for one in moved}
    for one in moved:
        steps[int(one.finding.values.get(name, 0))] += one.pixels
    halves = [step for step in steps if step not in (0, growth) and abs(2 * step - growth) <= 2 * ONE_PIXEL]
    if any(step not in (0, growth, *halves) for step in steps):
        return None
    largest = max(halves, key=lambda step: steps[step], default=0)
    in_half = sum(steps[step] for step in halves)
    if abs(largest) < LEAST_REST or in_half < MOST_OF_IT * sum(steps.values()):
        return 0 if not any(steps) else None
    return round(growth / 2) if round(growth / 2) in halves else largest
