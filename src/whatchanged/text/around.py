"""Find the lines of text in a box and beside it, by their positions; no text is recognised here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import common
from whatchanged.measured.pixels.layers import RGBColor, ground_color
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.text.finding import HIGHEST, find_lines, ink_of

LABEL = 300
"""The largest distance, in pixels, between a box and the label of its row."""
LONGEST = 260
"""The largest length of a label at the left, in pixels."""
ONE_GROUND = 32
"""The largest difference, in levels, between the grounds of a thing and of the label of its row."""
NEAR = 48
"""How many pixels above and below a box are searched for lines."""
TALLEST = 500
"""How many rows of a box, from its top, are searched for lines."""
MOST_PIXELS = 2_000_000
"""The largest searched region, in pixels; a box with a larger region has no lines around it."""
INSIDE = 0.6
"""The fraction of a line's width that must lie in a box for the line to belong to it."""
WHOLE, PART = 0.5, 0.7
"""The fractions of a box's width and height that lines must cover to count as its whole content; the second
limit is on the height, where the box is a part of a line.
"""
SPACE = 0.2
"""A gap of this fraction of a line's height, beyond the ink's blurred edges, separates two words."""
SEVERAL, BROAD = 6, 3
"""The largest height of a box that is a part of several lines, and its least width, in heights of a line."""
REST = 1.5
"""The least length of the rest of a line beside a box, in heights of the line."""
ROW = 0.5
"""The fraction of the lower height that a box and a line of the same row must share."""
BESIDE = 2.0
"""The largest distance between a box and a line below or above it, in heights of the line."""
ASIDE = 1.0
"""The extra distance, in heights of a line, of a line diagonally above or below, compared with one of the
same row.
"""
MOST_FAR = 2
"""How many lines are read farther away, where none beside the box names it."""
FAR = 120
"""How many pixels above and below a box such lines are searched for."""
MOST_BESIDE = 3
"""How many of the nearest lines beside a box are read."""


LENGTHY = 2.0
"""A line whose width is at least this multiple of its height is no row of icons."""
CELL = 2
"""The least height of a cell, in heights of the text in it."""
UPRIGHT = 30
"""The least length of a line written upwards, in pixels."""


ICON = 12
"""The least height of an icon, in pixels."""
SQUARE = (0.8, 1.3)
"""The width of an icon, at least and at most, as a multiple of its height."""


class BesideLine(NamedTuple):
    """A line beside a box.

    relation: the position of the box relative to the line: "left of". cut: whether the line may continue at
    the right.
    """

    relation: str
    box: Box
    cut: bool = False


@dataclass(frozen=True)
class Around:
    """The lines around a box.

    own     those in it, in reading order; where the box is a part of a line, that line
    beside  those next to it, the nearest first
    """

    own: tuple[Box, ...] = ()
    beside: tuple[BesideLine, ...] = ()


def lines_around(pixels: Pixels, box: Box) -> Around:
    """Return the lines in a box and beside it."""
    height, width = pixels.shape[:2]
    left, top, right, bottom = box
    bottom = min(bottom, top + TALLEST)
    first, last = max(0, left - LABEL - LONGEST), min(width, right + LABEL)
    window = (first, max(0, top - NEAR), last, min(height, bottom + NEAR))
    if (window[2] - window[0]) * (window[3] - window[1]) > MOST_PIXELS:
        return Around()
    lines = [line for line in find_lines(pixels, window) if may_be_text(line)]
    own = in_reading_order([line for line in lines if _is_own(line, box) and not _encloses(line, lines)])
    ranked = [(0.0, rest) for line in own for rest in _rests(pixels, line, box)]
    for line in lines:
        begins = line not in own and _begins(line, window, height)
        place = _beside(line, box) if begins else None
        if place is not None:
            space = line[3] - line[1]  # a gap between two words is narrower
            cut = line[2] >= window[2] - space and window[2] < width
            ranked.append((place[0], BesideLine(place[1], line, cut)))
    ranked.sort(key=lambda item: item[0])
    return Around(own, tuple(line for _, line in ranked[:MOST_BESIDE]))


def _encloses(line: Box, lines: Sequence[Box]) -> bool:
    """Return whether several lines, each much lower, lie within a line: this one is then the outlines of
    cells around text."""
    height = (line[3] - line[1]) / CELL
    inner = [one for one in lines if one != line and common(one, line) == _size(one)]
    return sum(one[3] - one[1] <= height for one in inner) > 1


def in_reading_order(lines: Sequence[Box]) -> tuple[Box, ...]:
    """Return lines row by row, those of a row from left to right. A line in whose height the middle of the
    next one lies is of the same row, though letters such as p or l let one of them begin higher."""
    return tuple(line for row in rows_of(lines) for line in sorted(row))


def first_words(lines: Sequence[Box]) -> tuple[Box, ...]:
    """Return the first line of the first row that is long enough to be no icon, or else the widest line
    there; none if there are no lines."""
    row = sorted(rows_of(lines)[0]) if lines else []
    long = [box for box in row if box[2] - box[0] >= LENGTHY * (box[3] - box[1])]
    return tuple(long[:1] or sorted(row, key=lambda box: box[0] - box[2])[:1])


def rows_of(lines: Sequence[Box]) -> list[list[Box]]:
    """Return lines in their rows, from top to bottom."""
    rows: list[list[Box]] = []
    for line in sorted(lines, key=lambda box: (box[1] + box[3], box[0])):
        if rows and rows[-1][0][1] <= (line[1] + line[3]) // 2 < rows[-1][0][3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def far_lines(pixels: Pixels, box: Box) -> tuple[BesideLine, ...]:
    """Return the nearest lines farther from a box than those beside it: in its row, then above and below it.

    A row is searched over the whole width of the picture, since the label of a wide row may be far away. A
    line on another ground is no label: it belongs to another part of a page, such as its menu.
    """
    height, width = pixels.shape[:2]
    left, top, right, bottom = box
    if bottom - top > TALLEST:
        return ()
    row = (0, max(0, top - NEAR), width, min(height, bottom + NEAR))
    column = (
        max(0, left - LONGEST),
        max(0, top - FAR),
        min(width, right + LONGEST),
        min(height, bottom + FAR),
    )
    ground = ground_color(pixels, box)
    ranked = []
    for window, in_row in ((row, True), (column, False)):
        for line in find_lines(pixels, window) if _size(window) <= MOST_PIXELS else ():
            if not may_be_text(line) or not _begins(line, window, height) or common(line, box):
                continue
            if in_row and not _is_one_ground(ground, ground_color(pixels, line)):
                continue
            across = max(line[0], box[0]) - min(line[2], box[2])
            down = max(line[1], box[1]) - min(line[3], box[3])
            if in_row and -down >= ROW * min(line[3] - line[1], bottom - top):
                relation = "right of" if line[0] < left else "left of"
                ranked.append((across, BesideLine(relation, line)))
            elif not in_row and across < 0 <= down:
                cut = line[2] >= window[2] - (line[3] - line[1]) and window[2] < width
                relation = "below" if line[1] < top else "above"
                ranked.append((width + down, BesideLine(relation, line, cut)))
    ranked.sort(key=lambda item: item[0])
    return tuple(line for _, line in ranked[:MOST_FAR])


def _is_one_ground(one: RGBColor, other: RGBColor) -> bool:
    """Return whether two colours are those of one ground, or of stripes in one table."""
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= ONE_GROUND


def _size(window: Box) -> int:
    return (window[2] - window[0]) * (window[3] - window[1])


def may_be_text(line: Box) -> bool:
    """Return whether the size of a line differs from the size of an icon. An icon is about as wide as
    high.
    """
    width, height = line[2] - line[0], line[3] - line[1]
    return height < ICON or not SQUARE[0] * height < width < SQUARE[1] * height


def upright_lines(pixels: Pixels, box: Box) -> tuple[Box, ...]:
    """Return the lines in a tall box that are written upwards, from left to right."""
    left, top, right, bottom = box
    if bottom - top < max(UPRIGHT, 2 * (right - left)) or right - left > HIGHEST:
        return ()
    part = np.rot90(pixels[top:bottom, left:right], -1)
    lines = find_lines(part, (0, 0, part.shape[1], part.shape[0]))
    return tuple((left + line[1], bottom - line[2], left + line[3], bottom - line[0]) for line in lines)


def is_text(own: Sequence[Box], box: Box) -> bool:
    """Return whether the lines are the whole content of a box, and not a part of something larger.

    A box that is a part of a line is hardly higher than the line. A higher box may be a mark over the line.
    """
    if not own:
        return False
    high = sum(line[3] - line[1] for line in own)
    wide = max(line[2] - line[0] for line in own)
    least = PART if wide > 2 * (box[2] - box[0]) else WHOLE
    return high >= least * min(TALLEST, box[3] - box[1]) and wide >= WHOLE * (box[2] - box[0])


def _rests(pixels: Pixels, line: Box, box: Box) -> list[BesideLine]:
    """Return the whole words that a line has to the left and to the right of a box that is a part of it."""
    left, top, right, bottom = line
    height = bottom - top
    inked = np.asarray(ink_of(pixels[top:bottom, left:right]).any(axis=0))
    first = _word_end(inked, box[0] - left - 1, -1, height)
    last = _word_end(inked, box[2] - left, 1, height)
    rests = []
    if first >= REST * height:
        rests.append(BesideLine("right of", (left, top, left + first, bottom)))
    if right - left - last >= REST * height:
        rests.append(BesideLine("left of", (left + last, top, right, bottom)))
    return rests


def _word_end(inked: NDArray[np.bool_], at: int, step: int, height: int) -> int:
    """Return the end of the word at or beside a column. The word ends at the first gap as wide as a gap
    between words.
    """
    gap = max(2, round(SPACE * height))
    empty = 0
    while 0 <= at < len(inked) and empty < gap:
        empty = 0 if inked[at] else empty + 1
        at += step
    return max(0, at + 1 if step < 0 else at)


def _is_own(line: Box, box: Box) -> bool:
    """Return whether a line lies in a box, or the box is a part of the line."""
    across = min(line[2], box[2]) - max(line[0], box[0])
    down = min(line[3], box[3]) - max(line[1], box[1])
    height, own_height = line[3] - line[1], box[3] - box[1]
    if across <= 0 or down < ROW * min(height, own_height) or own_height < ROW * height:
        return False
    if across >= INSIDE * (line[2] - line[0]):
        return down >= ROW * height
    several = SEVERAL * height if box[2] - box[0] >= BROAD * height else 2 * height
    return across >= INSIDE * (box[2] - box[0]) and own_height <= several


def _begins(line: Box, window: Box, height: int) -> bool:
    """Return whether a line begins inside the searched region, as far as the region's edges show.

    height: of the picture.
    """
    space = line[3] - line[1]
    at_left = line[0] <= window[0] + space and window[0] > 0
    at_top = line[1] <= window[1] + 2 and window[1] > 0
    at_bottom = line[3] >= window[3] - 2 and window[3] < height
    return not (at_left or at_top or at_bottom)


def _beside(line: Box, box: Box) -> tuple[float, str] | None:
    """Return the distance of a line, in heights of the line, and the box's position relative to it; None if
    too far.
    """
    height = line[3] - line[1]
    across = max(line[0], box[0]) - min(line[2], box[2])
    down = max(line[1], box[1]) - min(line[3], box[3])
    if -down >= ROW * min(height, box[3] - box[1]):
        if across < -2 or across > LABEL:
            return None
        return across / height, "right of" if line[0] < box[0] else "left of"
    if across < 0 and -2 <= down <= BESIDE * height:
        aside = 0.0 if box[0] <= (line[0] + line[2]) / 2 < box[2] else ASIDE
        return down / height + aside, "below" if line[1] < box[1] else "above"
    return None
