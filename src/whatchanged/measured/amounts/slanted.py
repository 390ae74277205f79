"""Detection of text that became italic or upright while its strokes moved by only a pixel or two."""

import numpy as np

from whatchanged.measured.amounts.coverage import (
    Coverage,
    Floats,
    columns_of_ink,
    ink_box,
    read_coverage,
    unexplained,
)
from whatchanged.measured.amounts.type import SLANTED, compare_lines, read_line
from whatchanged.measured.pixels.boxes import grown
from whatchanged.measured.pixels.planes import enlarged, steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

DIFFERS = 24
"""The least difference, in levels, at which a pixel counts as different."""
JOINED = (2, 7)
"""The numbers of rows and columns over which differences are joined to one line of text."""
MOST_LINES = 8
"""The number of lines that are examined, starting with the largest."""
ROOM = 3
"""The margin in pixels around the differences that is examined too."""
LETTERS, HEIGHTS = 3, (6, 64)
"""The least number of separate letters, and the heights of a line in pixels."""
LONG = 2.0
"""The least ratio of a line's width to its height. The slant of a single letter is not certain."""
UNEXPLAINED = 0.4
"""The largest residual that background and ink leave unexplained, as a fraction of the ink."""
SAME_SIZE, SAME_INK = 0.12, 0.25
"""The largest relative difference between the widths or heights, and between the amounts of ink."""
PARTS = (0.7, 0.85, 1.0)
"""The fractions of the measured slant that are tried. It is measured in coarse steps."""
MUCH_BETTER = 0.75
"""The largest ratio of the difference after the slant is removed to the difference before. Letters that are
only drawn slightly otherwise do not become more alike."""


def slanted_lines(before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the lines of text between two pictures of one size that became italic or upright."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    differs = steps_between(before, after) >= DIFFERS
    labels, count = ndimage.label(enlarged(differs, *JOINED), np.ones((3, 3), bool))
    pixels = np.bincount(labels[differs], minlength=count + 1)[1:]
    boxes: list[Box] = [
        (columns.start, rows.start, columns.stop, rows.stop) for rows, columns in ndimage.find_objects(labels)
    ]
    results = []
    for number in sorted(range(count), key=lambda index: -int(pixels[index]))[:MOST_LINES]:
        found = _slanted(before, after, boxes[number])
        if found is not None:
            finding, was, now = found
            results.append(DetectedChange(finding, was, now, int(pixels[number])))
    return results


def _slanted(before: Pixels, after: Pixels, box: Box) -> tuple[Finding, Box, Box] | None:
    """Return the change of slant of the text in a box, and its boxes, or None if that is not certain."""
    around = grown(box, ROOM, (after.shape[1], after.shape[0]))
    sides = [ink_line(picture, around) for picture in (before, after)]
    if sides[0] is None or sides[1] is None:
        return None
    (first, was), (second, now) = sides[0], sides[1]
    one, other = read_line(first), read_line(second)
    if one is None or other is None or one.underlined != other.underlined:
        return None
    height, width = other.ink.shape
    if not HEIGHTS[0] <= height <= HEIGHTS[1] or width < LONG * height:
        return None
    step = compare_lines(one, other)
    if max(abs(step.height - 1), abs(step.width - 1)) > SAME_SIZE or abs(step.area - 1) > SAME_INK:
        return None
    if abs(step.slant) < SLANTED:
        return None
    least = min(_apart(_sheared(first, part * step.slant), second) for part in PARTS)
    if least > MUCH_BETTER * _apart(first, second):
        return None
    return Finding("restyled", "slant", 0.6, {"on_after": step.slant > 0}), was, now


def ink_line(pixels: Pixels, box: Box) -> tuple[Floats, Box] | None:
    """Return the coverage of a box with one line of text, and the box of its ink in the picture, or None."""
    part = pixels[box[1] : box[3], box[0] : box[2]]
    covered: Coverage | None = read_coverage(part)
    if covered is None or unexplained(part, covered) > UNEXPLAINED:
        return None
    inside = ink_box(covered.ink)
    if inside is None or len(columns_of_ink(covered.ink, 0)) < LETTERS:
        return None
    return covered.ink, (box[0] + inside[0], box[1] + inside[1], box[0] + inside[2], box[1] + inside[3])


def _sheared(ink: Floats, slant: float) -> Floats:
    """Return the ink with each row moved by the slant, which is given in columns to the right for each row
    upwards."""
    height, width = ink.shape
    columns = np.arange(width)
    rows = [
        np.interp(columns - slant * (height / 2 - row), columns, ink[row], left=0.0, right=0.0)
        for row in range(height)
    ]
    return np.array(rows, np.float32)


def _apart(one: Floats, other: Floats) -> float:
    """Return the least difference of two blurred inks of one size over small sideward movements."""
    first, second = _blurred(one), _blurred(other)
    return min(float(np.abs(np.roll(first, step, axis=1) - second).sum()) for step in range(-ROOM, ROOM + 1))


def _blurred(ink: Floats) -> Floats:
    """Return the ink slightly blurred along its rows."""
    total = np.roll(ink, 1, axis=1) + 2 * ink + np.roll(ink, -1, axis=1)
    return np.asarray(total / 4, np.float32)
