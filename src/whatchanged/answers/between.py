"""A line of text that came between others or went from between them, which moved those beyond it."""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import union
from whatchanged.text.reader import ReadLine

SAME_STEP = 2
"""By how many pixels the movements of lines beyond the one that came or went may differ."""
MOST_GAP = 3.0
"""The largest space between two lines of a row, or between two rows, in heights of a line."""


def came_between(
    statement: Statement,
    more: Sequence[ReadLine],
    pairs: Sequence[tuple[ReadLine, ReadLine]],
    came: bool,
) -> Statement | None:
    """Return the statement that lines were added or removed and moved the lines beyond them, or None.

    more: the lines that only one picture shows. pairs: the other lines, each before and after.
    came: whether the additional lines are in the picture after.
    """
    if not more or not pairs:
        return None
    box = union([line.at.box for line in more])
    height = max(line.at.box[3] - line.at.box[1] for line in more)
    boxes = [(one.at.box, other.at.box) for one, other in pairs]
    if not came:
        boxes = [(now, was) for was, now in boxes]  # As if the removed lines came.
    for axis in (0, 1):
        step = _step_beyond(box, boxes, axis, MOST_GAP * height)
        if step is None:
            continue
        rest = [0, 0]
        rest[axis] = step if came else -step
        return replace(
            statement,
            kind="added" if came else "removed",
            box_before=None if came else box,
            box_after=box if came else None,
            boxes=(box,),
            element="text",
            values={"aspect": "thing", "rest": rest},
        )
    return None


def _step_beyond(box: Box, boxes: Sequence[tuple[Box, Box]], axis: int, most_gap: float) -> int | None:
    """Return by how many pixels the lines beyond a box that came were moved along an axis, or None if they
    moved otherwise.

    boxes: the other lines without it and with it.
    """
    steps = [now[axis] - was[axis] for was, now in boxes if now[axis] >= box[axis + 2]]
    others = [one for one in boxes if one[1][axis] < box[axis + 2]]
    if not steps or max(steps) - min(steps) > SAME_STEP:
        return None
    if any(abs(now[k] - was[k]) > SAME_STEP for was, now in others for k in (0, 1)):
        return None
    if any(abs(now[1 - axis] - was[1 - axis]) > SAME_STEP for was, now in boxes):
        return None
    length = box[axis + 2] - box[axis]
    return steps[0] if length <= steps[0] <= length + most_gap else None
