"""What came or went: lines of text, rows of a table, a dialog, alike things in a number, a grid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.amounts.coverage import INKED, Floats, columns_of_ink, read_coverage, rows_of_ink, stroke
from whatchanged.measured.amounts.edge import read_outline
from whatchanged.measured.amounts.type import read_line
from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.pixels.layers import far, ground_color, usual_color
from whatchanged.measured.pixels.planes import enlarged, steps_from
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
DIALOG = (0.03, 0.75)
"""Share of the picture that a dialog covers."""
RIM = 2
"""Pixels within the edge of a dialog where it is one colour."""
EVEN = 0.92
"""Share of that rim that has this colour at least."""
CENTRED = 0.06
"""Part of the picture's width by which the middle of a dialog may lie beside that of the picture."""
LINES, LINE = 3, 3
"""Lines of a grid at least, and pixels that they are thick at most."""
ACROSS = 0.6
"""Part of the box that a line of a grid goes across at least."""
REGULAR = 0.15
"""Part of their distance by which the lines of a grid may lie otherwise."""
BESIDE_GRID = 0.005
"""Share of the box of a grid that anything else covers at most."""
THINGS, ONE_SIZE = 3, 0.12
"""Alike things at least, and the part of their sides by which they may differ."""
NEAR = 3
"""Pixels between parts of one thing at most."""
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
    if _is_grid(part):
        return Content("grid")
    covered = read_coverage(part)
    if covered is None:
        return None
    lines = _text_lines(part, covered.ink)
    if lines:
        rows = [line for line in lines if _is_row(pixels, box, covered.ink, line)]
        if len(rows) == len(lines):
            return Content("row", len(rows))
        return Content("line of text" if len(lines) > 1 else "text", len(lines))
    things = _alike_things(covered.ink)
    if things:
        boxes = tuple((left + one[0], top + one[1], left + one[2], top + one[3]) for one in things)
        return Content(None, len(boxes), boxes)
    return None


def _text_lines(part: Pixels, ink: Floats) -> list[tuple[int, int]]:
    """The rows of the lines of text that a part consists of; none where it is anything else."""
    ground = np.array(usual_color(part.reshape(-1, 3)), np.float32)
    strongest = part.reshape(-1, 3)[int(ink.argmax())].astype(np.float32)
    shown = ground + ink[..., None] * (strongest - ground)
    rest = np.abs(part - shown).max(axis=2).sum()
    if rest > UNEXPLAINED * np.abs(strongest - ground).max() * max(1.0, float(ink.sum())):
        return []
    lines = rows_of_ink(ink)
    heights = [stop - start for start, stop in lines]
    if not lines or max(heights) > min(HIGHEST, ALIKE_LINES * min(heights)):
        return []
    for start, stop in lines:
        line = read_line(ink[start:stop])
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


def _is_grid(part: Pixels) -> bool:
    """Whether a part is thin lines at regular distances and next to nothing else."""
    ground = usual_color(part.reshape(-1, 3))
    drawn = steps_from(ground, part) > 8
    found = False
    for axis in (0, 1):
        share = drawn.mean(axis=1 - axis)
        filled = share >= ACROSS
        ends = np.flatnonzero(np.diff(np.r_[False, filled, False].astype(np.int8)))
        starts, stops = ends[::2], ends[1::2]
        if len(starts) < LINES or (stops - starts).max() > LINE:
            continue
        steps = np.diff(starts)
        if np.abs(steps - np.median(steps)).max() <= max(2, REGULAR * np.median(steps)) and np.median(steps) > 2 * LINE:
            found = True
            drawn = drawn & ~(filled[:, None] if axis == 0 else filled[None])
    return found and bool(drawn.mean() < BESIDE_GRID)


def _alike_things(ink: Floats) -> list[Box]:
    """The boxes of things of one size that a part consists of; none where it is anything else."""
    from scipy import ndimage  # slow to import

    labels, _ = ndimage.label(enlarged(ink >= INKED, NEAR, NEAR), np.ones((3, 3), bool))
    boxes = [
        (columns.start, rows.start, columns.stop, rows.stop) for rows, columns in ndimage.find_objects(labels)
    ]
    if not THINGS <= len(boxes) <= MOST_THINGS:
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
    if not DIALOG[0] <= area(box) / (width * height) <= DIALOG[1]:
        return False
    if abs((left + right) / 2 - width / 2) > CENTRED * width or right - left > 0.95 * width:
        return False
    rim = _rim(shown[top:bottom, left:right])
    color = usual_color(rim)
    if (steps_from(color, rim[:, None]) <= 8).mean() < EVEN:
        return False
    outline = read_outline(shown, box)
    if far(color, ground_color(shown, box)) <= 8 and (outline is None or not outline.thick):
        return False  # nothing parts it from what is around it
    before = hidden[top:bottom, left:right].reshape(-1, 3)
    behind = usual_color(before)
    return bool((steps_from(behind, before[:, None]) > 28).mean() > 0.02)


def _rim(part: Pixels) -> NDArray[np.uint8]:
    """The pixels (N, 3) that lie just within the edge of a part and its outline."""
    inner = part[RIM:-RIM, RIM:-RIM]
    sides = (inner[:RIM], inner[-RIM:], inner[:, :RIM], inner[:, -RIM:])
    return np.concatenate([side.reshape(-1, 3) for side in sides])
