"""Find regions of a picture that may hold lines of text: connected pieces of ink in a row. No network is run.

Ink is where neighbouring pixels differ, so text is found on any background, and a button's outline is a piece
of its own. A region may also be an icon or a row of marks: the recogniser decides.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import union
from whatchanged.measured.pixels.planes import UNIT, contrast, luminance
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LEAST_INK = 12
"""The least local contrast, in levels, that counts as ink."""
LOWEST, HIGHEST = 7, 64
"""The height of a line in pixels, at least and at most, with the blurred edges of its ink."""
SHORTEST = 6
"""The least length of a line, in pixels."""
MOST_PIECES = 600
"""How many pieces of ink are examined, in reading order."""
RULE = 4
"""A piece that is no higher than this, in pixels, and much longer, is a rule."""
LONG = 8
"""The least ratio of a rule's length to its height."""
SIDE = 4
"""A frame has its ink within this many pixels of the piece's edge."""
FRAMED = 0.85
"""The least fraction of a frame's ink that lies within ``SIDE`` pixels of the edge."""
SMALLEST_FRAME = 10
"""The least shorter side of a frame, in pixels."""
WORD_SPACE = 0.8
"""The largest gap between pieces of one line, as a fraction of the lower one's height."""
MARK = 9
"""A piece smaller than this in both directions, in pixels, may be a mark within its line: the height of the
higher piece counts.
"""
ICON, SQUARE = 12, (0.75, 1.35)
"""The least height of an icon in pixels, and its width, at least and at most, as a multiple of its height."""
TALLER = 1.2
"""The least ratio of an icon's height to that of the text beside it."""
ICON_SPACE = (0.3, 1)
"""The least gap between an icon and text, as a fraction of the text's height and in pixels: wider than gaps
between words of most lines.
"""
ONE_LINE = 0.5
"""The fraction of the lower piece's height that two pieces of one line must share."""
ONE_SIZE = 2.2
"""The largest ratio of the heights of two pieces of one line."""


def find_lines(pixels: Pixels, window: Box) -> list[Box]:
    """Return the boxes of possible text lines in a region of a picture, from top to bottom.

    pixels: (H, W, 3). A line that the window's edge cuts is found as far as it lies inside. Words with wider
    gaps than those within a sentence are lines of their own, as in a table.
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
    """Return where neighbouring pixels of a region (h, w, 3) differ, (h, w)."""
    return np.asarray(contrast(luminance(part)) >= LEAST_INK * UNIT)


def _pieces(ink: NDArray[np.bool_]) -> list[Box]:
    """Return the boxes of connected ink that may be letters or words."""
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
    """Return whether a piece is the outline of something that contains other ink."""
    own = labels == label
    inner = own[SIDE:-SIDE, SIDE:-SIDE]
    total = np.count_nonzero(own)
    if not inner.size or np.count_nonzero(inner) > (1 - FRAMED) * total:
        return False
    others = labels[SIDE:-SIDE, SIDE:-SIDE]
    return bool(((others != 0) & ~inner).any())


def _rows(pieces: Sequence[Box]) -> list[list[int]]:
    """Return the indices of pieces of the same line, line by line."""
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
    """Return the box without the neighbouring pixels at the ink's edges."""
    left, top, right, bottom = box
    return left + 1, top + 1, max(left + 2, right - 1), max(top + 2, bottom - 1)


def _is_line(box: Box) -> bool:
    """Return whether a row of pieces may be text by its size."""
    height, width = box[3] - box[1], box[2] - box[0]
    return LOWEST <= height <= HIGHEST and width >= SHORTEST
