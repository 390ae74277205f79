"""A picture that became larger or smaller around its contents, which stay in its middle."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged import words
from whatchanged.measured.result import Statement
from whatchanged.measured.rules.causes import LEAST_REST, PUSHING
from whatchanged.measured.rules.detected import DetectedChange

ONE_PIXEL = 1
"""By how many pixels contents in the middle may miss half of the picture's growth, which may be odd."""
BEGINNING = 0.25
"""The largest part of the picture before, along an axis, in front of contents that all moved."""
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
    ends = [_begins(moved, axis) for axis in (0, 1) if step[axis]]
    sides = [canvas.box_before[2 + axis] for axis in (0, 1) if step[axis] and canvas.box_before]
    if any(end > BEGINNING * side for end, side in zip(ends, sides, strict=True)):
        return None
    way = words.way(step[0] or 0, step[1] or 0)
    told = replace(
        canvas,
        sentence=f"{canvas.sentence[:-1]}, which moved its contents {way}.",
        values={**canvas.values, "rest": step},
    )
    others = [one for one in changes if one.cause and one.finding.aspect not in PUSHING]
    return [one for one in others if one.finding.kind != "moved"], told


def _begins(moved: Sequence[DetectedChange], axis: int) -> int:
    """Return where the moved contents began along an axis."""
    return min(one.box_before[axis] for one in moved if one.box_before is not None)


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
