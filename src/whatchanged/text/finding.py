"""Where a part of a picture may hold lines of text: pieces of ink that stand in a row. No network is asked.

Ink is where neighbouring pixels differ, so that text is found on any ground, and a button's outline is a
piece of its own. What is found may be an icon or a row of marks as well: the recogniser tells.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import union
from whatchanged.measured.pixels.planes import UNIT, contrast, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LEAST_INK = 12
"""Levels of local contrast from which on it is ink."""
LOWEST, HIGHEST = 7, 64
"""Pixels that a line is high at least and at most, the steps beside its ink included."""
SHORTEST = 6
"""Pixels that a line is long at least."""
MOST_PIECES = 600
"""Pieces of ink that are looked at, those in reading order."""
RULE = 4
"""What is no higher, in pixels, and much longer is a rule."""
LONG = 8
"""How many times as long as high a rule is at least."""
SIDE = 4
"""Pixels from the edge of a piece in which a frame has its ink."""
FRAMED = 0.85
"""Share of a frame's ink that lies there."""
SMALLEST_FRAME = 10
"""Pixels of a frame's shorter side at least."""
WORD_SPACE = 0.8
"""Pieces of one line stand at most so far apart, as a part of the lower one's height."""
MARK = 9
"""What is smaller both ways, in pixels, may be a mark of the line that it stands in: the higher one's height
counts."""
ICON, SQUARE = 12, (0.75, 1.35)
"""Pixels that an icon is high at least, and how wide it is as a part of that, at least and at most."""
TALLER = 1.2
"""How many times as high as the text beside it an icon is at least."""
ICON_SPACE = (0.3, 1)
"""How far apart they stand at least, as a part of the text's height and in pixels: further than words of most
lines do."""
ONE_LINE = 0.5
"""How much of the lower piece's height two pieces of one line share."""
ONE_SIZE = 2.2
"""How many times as high as another piece of its line a piece may be."""


def find_lines(pixels: Pixels, window: Box) -> list[Box]:
    """The boxes of what may be lines of text in a part of a picture, from the top to the bottom.

    pixels: (H, W, 3). A line that is cut by the window's edge is found as far as it lies inside. Words that
    stand further apart than words of a sentence do are lines of their own, as in a table.
    """
    left, top, right, bottom = window
    part = pixels[top:bottom, left:right]
    if min(part.shape[:2]) < SHORTEST:
        return []
    pieces = _pieces(ink_of(part))
    boxes = [union([pieces[i] for i in row]) for row in _rows(pieces)]
    lines = [
        (left + box[0], top + box[1], left + box[2], top + box[3])
        for box in map(_inner, boxes)
        if _is_line(box)
    ]
    return sorted(lines, key=lambda box: (box[1], box[0]))


def ink_of(part: Pixels) -> NDArray[np.bool_]:
    """Where neighbouring pixels of a part (h, w, 3) differ, (h, w)."""
    return np.asarray(contrast(luminance(part)) >= LEAST_INK * UNIT)


def _pieces(ink: NDArray[np.bool_]) -> list[Box]:
    """The boxes of connected ink that may be letters or words."""
    from scipy import ndimage  # slow to import

    labels, _ = ndimage.label(ink, np.ones((3, 3), bool))
    found = []
    for label, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
        box = (columns.start, rows.start, columns.stop, rows.stop)
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if height > HIGHEST or (height <= RULE and width >= LONG * height):
            continue
        if min(height, width) >= SMALLEST_FRAME and _is_frame(labels[rows, columns], label):
            continue
        found.append(box)
        if len(found) == MOST_PIECES:
            break
    return found


def _is_frame(labels: NDArray[np.int32], label: int) -> bool:
    """Whether a piece is the outline of something in which other ink stands."""
    own = labels == label
    inner = own[SIDE:-SIDE, SIDE:-SIDE]
    total = np.count_nonzero(own)
    if not inner.size or np.count_nonzero(inner) > (1 - FRAMED) * total:
        return False
    others = labels[SIDE:-SIDE, SIDE:-SIDE]
    return bool(((others != 0) & ~inner).any())


def _rows(pieces: Sequence[Box]) -> list[list[int]]:
    """The indices of pieces that stand in one line, line by line."""
    if not pieces:
        return []
    from scipy.sparse.csgraph import connected_components

    left, top, right, bottom = (np.array(edge) for edge in zip(*pieces, strict=True))
    heights = bottom - top
    widths = right - left
    marks = (heights < MARK) & (widths < MARK)
    icons = (heights >= ICON) & (widths >= SQUARE[0] * heights) & (widths <= SQUARE[1] * heights)
    low, high = np.minimum.outer(heights, heights), np.maximum.outer(heights, heights)
    shared = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
    apart = np.maximum.outer(left, left) - np.minimum.outer(right, right)
    one_is_mark = np.logical_or.outer(marks, marks)
    joined = (shared >= ONE_LINE * low) & (apart <= WORD_SPACE * np.where(one_is_mark, high, low))
    joined &= one_is_mark | (high <= ONE_SIZE * low)
    beside_icon = np.logical_or.outer(icons, icons) & (high >= TALLER * low)
    joined &= ~beside_icon | (apart <= ICON_SPACE[0] * low + ICON_SPACE[1])
    count, line_of = connected_components(joined, directed=False)
    return [np.flatnonzero(line_of == line).tolist() for line in range(count)]


def _inner(box: Box) -> Box:
    """The box without the neighbours from which steps lead to the ink."""
    left, top, right, bottom = box
    return left + 1, top + 1, max(left + 2, right - 1), max(top + 2, bottom - 1)


def _is_line(box: Box) -> bool:
    """Whether a row of pieces may be text by its size."""
    height, width = box[3] - box[1], box[2] - box[0]
    return LOWEST <= height <= HIGHEST and width >= SHORTEST
