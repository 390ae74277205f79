"""What came or went: lines of text, rows of a table, a dialog, alike things in a number, a grid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.amounts.coverage import (
    INKED,
    Coverage,
    Floats,
    columns_of_ink,
    read_coverage,
    rows_of_ink,
    stroke,
    unexplained,
)
from whatchanged.measured.amounts.edge import read_outline
from whatchanged.measured.amounts.type import read_line
from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.pixels.layers import INK, far, ground_color, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LETTERS = 3
"""Pieces that a line of text has at least."""
MOST_INK = 0.6
"""Share of a line of text that is ink at most."""
UNEXPLAINED = 0.35
"""What may be neither ink nor ground, as a part of the ink: of more of it, it is no text of one colour."""
HIGHEST = 40
"""Pixels that a line of text is high at most: what is higher may be a row of pictures."""
THICK = 0.3
"""How thick its strokes are at most, as a part of its height."""
ALIKE_LINES = 1.7
"""How many times as high as the lowest the highest line of one paragraph is at most."""
CELLS, CELL_SPACE = 2, 1.5
"""Cells that a row of a table has at least, and the space between them in heights of its text."""
SAME_START = 3
"""Pixels by which the cells of two rows may begin apart."""
LIKE_THE_NEXT = 0.6
"""Share of the cells that begin where those of the row above or below do."""
DIALOG, LOWEST_DIALOG = (0.03, 0.75), 48
"""Share of the picture that a dialog covers, and how many pixels it is high at least."""
RIM = 2
"""Pixels within the edge of a dialog where it is one colour."""
EVEN = 0.92
"""Share of that rim that has this colour at least."""
BEHIND = 0.02
"""Share of what a dialog hides that stands out from its ground at least."""
CENTRED = 0.06
"""Part of the picture's width by which the middle of a dialog may lie beside that of the picture."""
LINES, LINE = 3, 3
"""Lines of a grid at least, and pixels that they are thick at most."""
ACROSS = 0.4
"""Part of the box that a line of a grid goes across at least."""
REGULAR = 0.15
"""Part of their distance by which the lines of a grid may lie otherwise."""
SMALLEST_GRID = 40
"""Pixels of its sides at least."""
FAINT = 6
"""Levels by which its lines stand out from the ground at least."""
OF_THE_GRID = 0.7
"""Share of what differs that its lines account for at least: where something stands in front they are
hidden."""
THINGS, ONE_SIZE = 3, 0.12
"""Alike things at least, and the part of their sides by which they may differ."""
NEAR = 3
"""Pixels between parts of one thing at most."""
PIECES = 1.5
"""Pieces that each of them is in at most."""
MOST_THINGS = 60
"""Alike things at most: more of them are letters, or a pattern."""


@dataclass(frozen=True)
class Content:
    """What stands in a box.

    element  what it is
    number   how many of them
    boxes    their places, where they are told apart
    """

    element: str | None
    number: int = 1
    boxes: tuple[Box, ...] = ()


def read_content(pixels: Pixels, box: Box) -> Content | None:
    """What stands in a box of a picture, beside what stands around it there; None where it is not sure."""
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right]
    covered = read_coverage(part)
    if covered is None:
        return None
    things = _alike_things(covered.ink)
    if things:
        boxes = tuple((left + one[0], top + one[1], left + one[2], top + one[3]) for one in things)
        return Content(None, len(boxes), boxes)
    lines = _text_lines(part, covered)
    if lines:
        rows = [line for line in lines if _is_row(pixels, box, covered.ink, line)]
        if len(rows) == len(lines):
            return Content("row", len(rows))
        return Content("line of text" if len(lines) > 1 else "text", len(lines))
    return None


def _text_lines(part: Pixels, covered: Coverage) -> list[tuple[int, int]]:
    """The rows of the lines of text that a part consists of; none where it is anything else."""
    if unexplained(part, covered) > UNEXPLAINED:
        return []
    lines = rows_of_ink(covered.ink)
    heights = [stop - start for start, stop in lines]
    if not lines or max(heights) > min(HIGHEST, ALIKE_LINES * min(heights)):
        return []
    for start, stop in lines:
        line = read_line(covered.ink[start:stop])
        if line is None or float(line.ink.mean()) > MOST_INK or len(columns_of_ink(line.ink, 0)) < LETTERS:
            return []
        if stroke(line.ink) > THICK * (stop - start):
            return []
    return lines


def _is_row(pixels: Pixels, box: Box, ink: Floats, line: tuple[int, int]) -> bool:
    """Whether a line consists of cells that begin where those of the row above or below it do."""
    height = line[1] - line[0]
    starts = [start for start, _ in columns_of_ink(ink[line[0] : line[1]], CELL_SPACE * height)]
    if len(starts) < CELLS:
        return False
    left, top, right, bottom = box
    tall = bottom - top
    for other in (slice(max(0, top - tall), top), slice(bottom, bottom + tall)):
        beside = pixels[other, left:right]
        covered = read_coverage(beside)
        if covered is None:
            continue
        for first, last in rows_of_ink(covered.ink):
            near = [start for start, _ in columns_of_ink(covered.ink[first:last], CELL_SPACE * height)]
            alike = sum(any(abs(a - b) <= SAME_START for b in near) for a in starts)
            if alike >= max(CELLS, LIKE_THE_NEXT * len(starts)):
                return True
    return False


def grid_change(before: Pixels, after: Pixels, box: Box) -> bool | None:
    """Whether a grid came (True) or went (False) in a box: thin lines at regular distances differ and next
    to nothing else; None where none did."""
    left, top, right, bottom = box
    one, other = (picture[top:bottom, left:right] for picture in (before, after))
    if min(one.shape[:2]) < SMALLEST_GRID:
        return None
    differs = steps_between(one, other) >= FAINT
    lines = np.zeros(differs.shape, bool)
    count = 0
    for axis in (0, 1):
        rows = _regular_lines(differs.mean(axis=1 - axis))
        count += len(np.flatnonzero(np.diff(rows.astype(np.int8)) == 1))
        lines |= rows[:, None] if axis == 0 else rows[None]
    inside = int(np.count_nonzero(differs & lines))
    if count < LINES or inside < OF_THE_GRID * np.count_nonzero(differs):
        return None
    ground = usual_color(one.reshape(-1, 3))
    there = differs & lines
    drawn = [float(steps_from(ground, part)[there].mean()) for part in (one, other)]
    return drawn[1] > drawn[0]


def _regular_lines(share: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which rows belong to thin lines at regular distances, by the share of each row that differs."""
    filled = share >= ACROSS
    ends = np.flatnonzero(np.diff(np.r_[False, filled, False].astype(np.int8)))
    starts, stops = ends[::2], ends[1::2]
    rows = np.zeros(len(share), bool)
    if len(starts) < 2 or (stops - starts).max() > LINE:
        return rows
    steps = np.diff(starts)
    usual = np.median(steps)
    if np.abs(steps - usual).max() > max(2, REGULAR * usual) or usual <= 2 * LINE:
        return rows
    for start, stop in zip(starts, stops, strict=True):
        rows[max(0, start - 1) : stop + 1] = True  # with its soft edges
    return rows


def _alike_things(ink: Floats) -> list[Box]:
    """The boxes of things of one size that a part consists of; none where it is anything else.

    Words of one size are text: each consists of several letters.
    """
    from scipy import ndimage  # slow to import

    pieces = ndimage.label(ink >= INKED, np.ones((3, 3), bool))[1]
    labels, _ = ndimage.label(enlarged(ink >= INKED, NEAR, NEAR), np.ones((3, 3), bool))
    boxes = [
        (columns.start, rows.start, columns.stop, rows.stop) for rows, columns in ndimage.find_objects(labels)
    ]
    if not THINGS <= len(boxes) <= MOST_THINGS or pieces > PIECES * len(boxes):
        return []
    sides = np.array([[box[2] - box[0], box[3] - box[1]] for box in boxes], float)
    alike = np.abs(sides / np.median(sides, axis=0) - 1).max() <= ONE_SIZE
    return boxes if alike and np.median(sides) > 4 * NEAR else []


def is_dialog(shown: Pixels, hidden: Pixels, box: Box) -> bool:
    """Whether a box holds a dialog in one picture that hides something in the other one.

    shown, hidden: the picture with it and the one without.
    """
    left, top, right, bottom = box
    height, width = shown.shape[:2]
    if not DIALOG[0] <= area(box) / (width * height) <= DIALOG[1] or bottom - top < LOWEST_DIALOG:
        return False
    if abs((left + right) / 2 - width / 2) > CENTRED * width or right - left > 0.95 * width:
        return False
    if not _is_panel(shown, box) or _is_panel(hidden, box):
        return False
    before = hidden[top:bottom, left:right].reshape(-1, 3)
    return bool((steps_from(usual_color(before), before[:, None]) > INK).mean() > BEHIND)


def _is_panel(pixels: Pixels, box: Box) -> bool:
    """Whether a box has one colour within its edge, and something parts it from what is around it."""
    rim = _rim(pixels[box[1] : box[3], box[0] : box[2]])
    if not len(rim):
        return False
    color = usual_color(rim)
    if (steps_from(color, rim[:, None]) <= 8).mean() < EVEN:
        return False
    lines = sum(side is not None and side.thick > 0 for side in read_outline(pixels, box))
    return far(color, ground_color(pixels, box)) > 8 or lines >= 2


def _rim(part: Pixels) -> NDArray[np.uint8]:
    """The pixels (N, 3) that lie just within the edge of a part and its outline."""
    inner = part[RIM:-RIM, RIM:-RIM]
    sides = (inner[:RIM], inner[-RIM:], inner[:, :RIM], inner[:, -RIM:])
    return np.concatenate([side.reshape(-1, 3) for side in sides])
