"""Measurement of a row in which a text changed its style and thereby moved what stands right of it."""

from collections.abc import Sequence

import numpy as np

from whatchanged.measured.amounts.coverage import columns_of_ink, ink_box, read_coverage, unexplained
from whatchanged.measured.amounts.type import read_line, type_change
from whatchanged.measured.pixels.boxes import area, grown, lies_in, union
from whatchanged.measured.pixels.layers import INK, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

HIGHEST = 80
"""The largest height of a row in pixels. A control beside a label is higher than the text."""
GAP, APART = 4, 0.6
"""The least gap between the text and what stands right of it, in pixels and in heights of the text. A space
between two words is narrower."""
UNEXPLAINED = 0.4
"""The largest residual that background and ink leave unexplained, as a fraction of the ink. Text on a control
has more."""
SAME_START = 2
"""The largest movement in pixels of the beginning of the text."""
FARTHEST = 80
"""The largest movement in pixels."""
SAME, SAME_PART = 12, 0.95
"""The largest difference, in levels, of an unchanged pixel, and the least fraction of such pixels in what
moved."""
LEAST_INK = 12
"""The least number of drawn pixels in what moved. A few are found again anywhere."""
MOST_GAPS = 12
"""The number of gaps that are examined, from the left to the right."""
ROOM = 3
"""The margin in pixels around the differences that belongs to the row."""


def styled_row(
    changes: Sequence[DetectedChange], before: Pixels, after: Pixels
) -> list[DetectedChange] | None:
    """Return all changes as the style of one text and the movement of what stands right of it, or None.

    All differences lie in one row. The text begins at the same place in both pictures, and everything right
    of it only moved.
    """
    boxes = [box for one in changes for box in (one.box_before, one.box_after) if box is not None]
    if not boxes or before.shape != after.shape or not all(lies_in(box, after.shape) for box in boxes):
        return None  # What was cut off lies outside of the smaller picture.
    rewritten = any(one.finding.kind == "rewritten" and one.cause for one in changes)
    moved_alone = any(one.finding.kind == "moved" and one.cause for one in changes)
    row = grown(union(boxes), ROOM, (after.shape[1], after.shape[0]))
    if row[3] - row[1] > HIGHEST:
        return None
    split = _split(before, after, row)
    if split is None:
        return None
    (end, start), dx = split
    ends = (row[0], row[1], end, row[3]), (row[0], row[1], min(row[2], end + dx), row[3])
    found = _changed_text(before, after, *ends)
    if found is None or start - end < APART * (found[1][3] - found[1][1]):
        return None
    finding, was, now = found
    if finding.kind == "rewritten" and (rewritten or not moved_alone):
        return None
    rest = (start, row[1], row[2] - max(0, dx), row[3])
    there = (rest[0] + dx, rest[1], rest[2] + dx, rest[3])
    moved = Finding("moved", "position", 0.7, {"dx": dx, "dy": 0})
    pixels = sum(one.pixels for one in changes)
    return [
        DetectedChange(finding, was, now, max(1, min(pixels, area(now)))),
        DetectedChange(moved, rest, there, area(there), cause=False),
    ]


def _split(before: Pixels, after: Pixels, row: Box) -> tuple[tuple[int, int], int] | None:
    """Return the gap (end, start) before what only moved, in the picture before, and its step; else None."""
    left, top, right, bottom = row
    one, other = before[top:bottom, left:right], after[top:bottom, left:right]
    pieces = [
        columns_of_ink((steps_from(ground_color(pixels, row), part) > INK).astype(np.float32), GAP - 1)
        for pixels, part in ((before, one), (after, other))
    ]
    starts = [piece[0] for piece in pieces[1][1:]]
    for (_, end), (start, _) in list(zip(pieces[0], pieces[0][1:], strict=False))[:MOST_GAPS]:
        for step in sorted({there - start for there in starts}, key=abs):
            if 0 < abs(step) <= FARTHEST and _moved(one[:, start:], other, start, step):
                return (left + end, left + start), step
    return None


def _moved(rest: Pixels, other: Pixels, start: int, step: int) -> bool:
    """Return whether the rest of a row is found again at a step in the other picture."""
    width = min(rest.shape[1], other.shape[1] - start - step)
    if start + step < 0 or width < GAP:
        return False
    here, there = rest[:, :width], other[:, start + step : start + step + width]
    if np.count_nonzero(steps_from(usual_color(here.reshape(-1, 3)), here) > INK) < LEAST_INK:
        return False
    return bool((steps_between(here, there) <= SAME).mean() >= SAME_PART)


def _changed_text(before: Pixels, after: Pixels, was: Box, now: Box) -> tuple[Finding, Box, Box] | None:
    """Return the change of one line of text, and the boxes of its ink, or None if there is no such line."""
    lines = []
    boxes = []
    for pixels, box in ((before, was), (after, now)):
        covered = read_coverage(pixels[box[1] : box[3], box[0] : box[2]])
        inside = None if covered is None else ink_box(covered.ink)
        line = None if covered is None else read_line(covered.ink)
        if covered is None or inside is None or line is None:
            return None
        pieces = columns_of_ink(line.ink, line.ink.shape[0])
        if len(pieces) > 1 or unexplained(pixels[box[1] : box[3], box[0] : box[2]], covered) > UNEXPLAINED:
            return None
        lines.append(line)
        boxes.append((box[0] + inside[0], box[1] + inside[1], box[0] + inside[2], box[1] + inside[3]))
    if abs(boxes[0][0] - boxes[1][0]) > SAME_START:
        return None
    finding = type_change(lines[0], lines[1]) or Finding("rewritten", "text", 0.45)
    return finding, boxes[0], boxes[1]
