"""Classification of added or removed content: text lines, table rows, dialogs, grids, or several equal
objects."""

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
"""The least number of connected pieces in a line of text."""
MOST_INK = 0.6
"""The largest fraction of a line of text that is ink."""
UNEXPLAINED = 0.35
"""The largest residual that background and ink leave unexplained, as a fraction of the ink. Text of one
colour has less."""
HIGHEST = 40
"""The largest height of a line of text in pixels. Higher content may be a row of pictures."""
THICK = 0.3
"""The largest stroke thickness of a line of text, as a fraction of its height."""
ALIKE_LINES = 1.7
"""The largest ratio between the highest and the lowest line of a paragraph."""
CELLS, CELL_SPACE = 2, 1.5
"""The least number of cells in a table row, and the space between cells as a multiple of the text height."""
SAME_START = 3
"""The largest distance, in pixels, between the starts of corresponding cells in two rows."""
LIKE_THE_NEXT = 0.6
"""The least fraction of the cells that start at the same positions as those of the row above or below."""
DIALOG, LOWEST_DIALOG = (0.03, 0.75), 48
"""The least and largest fraction of the picture that a dialog covers, and its least height in pixels."""
RIM = 2
"""The width in pixels of the rim inside the edge of a dialog, which has one colour."""
EVEN = 0.92
"""The least fraction of that rim with this colour."""
BEHIND = 0.02
"""The least fraction of the content behind a dialog that differs from its background."""
CENTRED = 0.06
"""The largest distance between the centres of a dialog and of the picture, as a fraction of the picture's
width."""
LINES, LINE = 3, 3
"""The least number of lines in a grid, and the largest thickness of a line in pixels."""
ACROSS = 0.4
"""The least length of a grid line, as a fraction of the box."""
REGULAR = 0.1
"""The largest deviation of the spacing of the grid lines, as a fraction of the spacing."""
SMALLEST_GRID = 40
"""The least side of a grid in pixels."""
FAINT = 6
"""The least difference, in levels, of a grid line from the background."""
OF_THE_GRID = 0.7
"""The least fraction of the differences that lies on the grid lines. The rest belongs to objects in front of
them."""
THINGS, ONE_SIZE = 3, 0.12
"""The least number of equal objects, and the largest relative difference of their sides."""
NEAR = 3
"""The largest distance in pixels between parts of the same object."""
PIECES = 1.5
"""The largest average number of connected pieces in an object."""
MOST_THINGS = 60
"""The largest number of equal objects. A larger number indicates letters or a pattern."""


@dataclass(frozen=True)
class Content:
    """The content of a box.

    element  the sort of content; None if it is unknown
    number   the number of objects
    boxes    the bounding boxes of the objects, if they are separate
    """

    element: str | None
    number: int = 1
    boxes: tuple[Box, ...] = ()


def read_content(pixels: Pixels, box: Box) -> Content | None:
    """Return the content of a box of a picture, or None if it is uncertain. The surroundings of the box are
    used too."""
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
    """Return the row ranges of the text lines that make up a part, or an empty list if it is not text."""
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
    """Return whether a line consists of cells that start at the same positions as the cells of an adjacent
    row."""
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
    """Return whether a grid was added (True) or removed (False) in a box, or None if neither happened.

    The differences must lie almost entirely on thin, regularly spaced lines.
    """
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
    """Return a mask of the rows that belong to thin, regularly spaced lines.

    share: the fraction of each row that differs.
    """
    filled = share >= ACROSS
    ends = np.flatnonzero(np.diff(np.r_[False, filled, False].astype(np.int8)))
    starts, stops = ends[::2], ends[1::2]
    rows = np.zeros(len(share), bool)
    if len(starts) < LINES or (stops - starts).max() > LINE:
        return rows
    steps = np.diff(starts)
    usual = np.median(steps)
    if np.abs(steps - usual).max() > max(2, REGULAR * usual) or usual <= 2 * LINE:
        return rows
    for start, stop in zip(starts, stops, strict=True):
        rows[max(0, start - 1) : stop + 1] = True  # The soft edges of the line are included.
    return rows


def _alike_things(ink: Floats) -> list[Box]:
    """Return the boxes of the objects of equal size that make up a part, or an empty list.

    Words of equal size are not objects, because each consists of several letters.
    """
    from scipy import ndimage  # SciPy is imported here because its import is slow.

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
    """Return whether a box contains a dialog in one picture that hides content of the other picture.

    shown: the picture with the dialog.
    hidden: the picture without it.
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
    """Return whether a box has one colour inside its edge and is separated from its surroundings."""
    rim = _rim(pixels[box[1] : box[3], box[0] : box[2]])
    if not len(rim):
        return False
    color = usual_color(rim)
    if (steps_from(color, rim[:, None]) <= 8).mean() < EVEN:
        return False
    lines = sum(side is not None and side.thick > 0 for side in read_outline(pixels, box))
    return far(color, ground_color(pixels, box)) > 8 or lines >= 2


def _rim(part: Pixels) -> NDArray[np.uint8]:
    """Return the pixels (N, 3) just inside the edge and the outline of a part."""
    inner = part[RIM:-RIM, RIM:-RIM]
    sides = (inner[:RIM], inner[-RIM:], inner[:, :RIM], inner[:, -RIM:])
    return np.concatenate([side.reshape(-1, 3) for side in sides])
