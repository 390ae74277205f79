"""Detection of single lines of text in another type, where the other text of the picture stayed the same.

Small letters of another size, weight or typeface differ from the old ones hardly more than letters that were
drawn anew by another program. That would have changed the other lines too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.amounts.slanted import ink_line
from whatchanged.measured.amounts.type import LineStep, TextLine, change_by_step, compare_lines, read_line
from whatchanged.measured.pixels.boxes import grown
from whatchanged.measured.pixels.planes import enlarged, steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

EDGE = 40
"""The least difference, in levels, of neighbouring pixels at the edge of a letter."""
JOINED = (1, 7)
"""The numbers of rows and columns over which the edges of letters are joined to a line."""
FAINT, DIFFERS = 3, 24
"""The least differences, in levels, at which a pixel of a line counts as different at all, and as clearly
different."""
MOST_LINES, MOST_EXAMINED = 6, 40
"""The largest number of lines that are set in another type, and of those that are examined. More lines were
probably drawn anew."""
HEIGHTS, LONG = (6, 64), 2.0
"""The least and largest height of a line in pixels, and its least ratio of width to height."""
LEAST_SAME = 0.5
"""The least length of the lines that stayed or only moved, as a multiple of the length of changed ones."""
MOST_OF_THEM = 0.6
"""The least fraction of the changed lines whose type changed. Of lines that were drawn anew, most only look
different."""
CLEARLY = 0.06
"""The least fraction of the pixels of a line in another type that are clearly different."""
ONLY_MOVED = 0.03
"""The largest residual of a line that only moved by whole pixels."""
SAME_LETTERS = 0.42
"""The largest residual of a line in another type. Other letters leave more."""
WIDER, LEAST_WIDER = 0.02, 2
"""The least change of a line's length in another type, as a fraction of its length and in pixels."""
HIGHER = 0.8
"""The least change of a line's height in another type, in pixels."""
ROOM = 3
"""The margin in pixels around a line that is examined too."""


class _TextLine(NamedTuple):
    """A line of both pictures, and the number of its clearly differing pixels; 0 for an unchanged line."""

    box: Box
    differing: int


class _PairOfLines(NamedTuple):
    """A line with clear differences: its ink's boxes before and after, and the differences of its letters."""

    line: _TextLine
    boxes: tuple[Box, Box]
    inks: tuple[TextLine, TextLine]
    step: LineStep


def lines_in_other_type(before: Pixels, after: Pixels) -> list[DetectedChange]:
    """Return the lines of text between two pictures of one size that are set in another type.

    The result is empty if most of the other text changed too.
    """
    lines = _lines(before, after)
    different = [one for one in lines if one.differing]
    if not different or len(different) > MOST_EXAMINED:
        return []
    compared = [_compared(before, after, one) for one in different]
    moved = [one.line for one in compared if one is not None and one.step.left_over <= ONLY_MOVED]
    changed = [one for one in different if one not in moved]
    same = [one for one in lines if one not in changed]
    length, rest = (sum(one.box[2] - one.box[0] for one in side) for side in (changed, same))
    if len(changed) > MOST_LINES or rest < LEAST_SAME * length:
        return []
    found = [(one, _type_change(one)) for one in compared if one is not None and one.line in changed]
    if sum(finding is not None for _, finding in found) < MOST_OF_THEM * len(changed):
        return []
    return [
        DetectedChange(finding, *one.boxes, one.line.differing)
        for one, finding in found
        if finding is not None
    ]


def _lines(before: Pixels, after: Pixels) -> list[_TextLine]:
    """Return the lines of text that are clearly different, and those that are exactly the same."""
    from scipy import ndimage  # SciPy is imported here because its import is slow.

    steps = steps_between(before, after)
    edges = _edges(before) | _edges(after)
    labels, count = ndimage.label(enlarged(edges, *JOINED), np.ones((3, 3), bool))
    clear = np.bincount(labels[steps >= DIFFERS], minlength=count + 1)[1:]
    faint = np.bincount(labels[steps >= FAINT], minlength=count + 1)[1:]
    results = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels)):
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if not HEIGHTS[0] <= height <= HEIGHTS[1] or width < LONG * height:
            continue
        if faint[number] and not clear[number]:
            continue
        box = (columns.start, rows.start, columns.stop, rows.stop)
        if ink_line(after, grown(box, ROOM, (after.shape[1], after.shape[0]))) is not None:
            results.append(_TextLine(box, int(clear[number])))
    return results


def _edges(pixels: Pixels) -> NDArray[np.bool_]:
    """Return a mask (H, W) of the pixels that clearly differ from their left neighbours."""
    edges = np.zeros(pixels.shape[:2], bool)
    edges[:, 1:] = steps_between(pixels[:, 1:], pixels[:, :-1]) >= EDGE
    return edges


def _compared(before: Pixels, after: Pixels, line: _TextLine) -> _PairOfLines | None:
    """Return the differences of a line, or None if one picture has no legible line there."""
    around = grown(line.box, ROOM, (after.shape[1], after.shape[0]))
    first, second = ink_line(before, around), ink_line(after, around)
    if first is None or second is None:
        return None
    one, other = read_line(first[0]), read_line(second[0])
    if one is None or other is None:
        return None
    return _PairOfLines(line, (first[1], second[1]), (one, other), compare_lines(one, other))


def _type_change(compared: _PairOfLines) -> Finding | None:
    """Return how the type of a line changed, or None if it may only be drawn otherwise."""
    one, other = compared.inks
    step, (left, top, right, bottom) = compared.step, compared.line.box
    few = compared.line.differing < CLEARLY * (right - left) * (bottom - top)
    if few or step.left_over >= SAME_LETTERS:
        return None
    finding = change_by_step(one, other, step, same_words=True)
    if finding is not None and finding.aspect != "face":
        return finding
    wider = step.wider >= max(LEAST_WIDER, WIDER * one.ink.shape[1])
    higher = abs(step.heights[1] - step.heights[0]) >= HIGHER
    return Finding("restyled", "shape", 0.4) if wider or higher else None
