"""Which lines of text lie in a box, and which stand beside it: by their places alone, nothing is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.text.finding import HIGHEST, find_lines, ink_of

LABEL = 300
"""Pixels between a box and the label of its row at most."""
LONGEST = 260
"""Pixels that a label to the left is long at most."""
NEAR = 48
"""Pixels above and below a box in which lines are looked for."""
TALLEST = 500
"""Rows of a box in which lines are looked for, from its top."""
MOST_PIXELS = 2_000_000
"""Of the part in which lines are looked for; around what is larger nothing is."""
INSIDE = 0.6
"""How much of a line's width lies in the box of which it is."""
WHOLE, PART = 0.5, 0.7
"""Shares of a box's sides that lines which are all that it holds have at least; the second of its height,
where it is a part of a line."""
SPACE = 0.2
"""Of a line's height: a gap as wide is one between words, the steps beside ink left out."""
REST = 1.5
"""Heights that what a line has beside a box is long at least."""
ROW = 0.5
"""How much of the lower one's height a box and a line of one row share."""
BESIDE = 2.0
"""Heights of a line between it and a box below or above it, at most."""
ASIDE = 1.0
"""How much a line above or below, but not right above or below, is put behind one of the same row, in heights
of a line."""
MOST_BESIDE = 3
"""Lines beside a box that may be read: the nearest."""


UPRIGHT = 30
"""Pixels that a line written upwards is long at least."""


ICON = 12
"""Pixels that an icon is high at least."""
SQUARE = (0.8, 1.3)
"""How wide an icon is, as a part of its height, at least and at most."""


class BesideLine(NamedTuple):
    """A line beside a box.

    relation: where the box is, seen from the line: "left of". cut: whether the line may go on at the right.
    """

    relation: str
    box: Box
    cut: bool = False


@dataclass(frozen=True)
class Around:
    """The lines around a box.

    own     those in it, from the top to the bottom; where the box is a part of a line, that line
    beside  those next to it, the nearest first
    """

    own: tuple[Box, ...] = ()
    beside: tuple[BesideLine, ...] = ()


def lines_around(pixels: Pixels, box: Box) -> Around:
    """The lines in a box and beside it."""
    height, width = pixels.shape[:2]
    left, top, right, bottom = box
    bottom = min(bottom, top + TALLEST)
    first, last = max(0, left - LABEL - LONGEST), min(width, right + LABEL)
    window = (first, max(0, top - NEAR), last, min(height, bottom + NEAR))
    if (window[2] - window[0]) * (window[3] - window[1]) > MOST_PIXELS:
        return Around()
    lines = [line for line in find_lines(pixels, window) if may_be_text(line)]
    own = tuple(line for line in lines if _is_own(line, box))
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


def may_be_text(line: Box) -> bool:
    """Whether a line has not the size of an icon, as high as it is wide."""
    width, height = line[2] - line[0], line[3] - line[1]
    return height < ICON or not SQUARE[0] * height < width < SQUARE[1] * height


def upright_lines(pixels: Pixels, box: Box) -> tuple[Box, ...]:
    """The lines in a tall box that are written upwards, from the left to the right."""
    left, top, right, bottom = box
    if bottom - top < max(UPRIGHT, 2 * (right - left)) or right - left > HIGHEST:
        return ()
    part = np.rot90(pixels[top:bottom, left:right], -1)
    lines = find_lines(part, (0, 0, part.shape[1], part.shape[0]))
    return tuple((left + line[1], bottom - line[2], left + line[3], bottom - line[0]) for line in lines)


def is_text(own: Sequence[Box], box: Box) -> bool:
    """Whether the lines in a box are what it holds, and not a part of something larger.

    What is a part of a line is hardly higher than the line: it may be a mark over it else.
    """
    if not own:
        return False
    high = sum(line[3] - line[1] for line in own)
    wide = max(line[2] - line[0] for line in own)
    least = PART if wide > 2 * (box[2] - box[0]) else WHOLE
    return high >= least * min(TALLEST, box[3] - box[1]) and wide >= WHOLE * (box[2] - box[0])


def _rests(pixels: Pixels, line: Box, box: Box) -> list[BesideLine]:
    """The whole words that a line has to the left and to the right of a box that is a part of it."""
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
    """Where the word ends that a column lies in, or beside: at a gap as wide as one between words."""
    gap = max(2, round(SPACE * height))
    empty = 0
    while 0 <= at < len(inked) and empty < gap:
        empty = 0 if inked[at] else empty + 1
        at += step
    return max(0, at + 1 if step < 0 else at)


def _is_own(line: Box, box: Box) -> bool:
    """Whether a line lies in a box, or the box is a part of the line."""
    across = min(line[2], box[2]) - max(line[0], box[0])
    down = min(line[3], box[3]) - max(line[1], box[1])
    height, own_height = line[3] - line[1], box[3] - box[1]
    if across <= 0 or down < ROW * min(height, own_height) or own_height < ROW * height:
        return False
    if across >= INSIDE * (line[2] - line[0]):
        return down >= ROW * height
    return across >= INSIDE * (box[2] - box[0]) and own_height <= 2 * height


def _begins(line: Box, window: Box, height: int) -> bool:
    """Whether a line begins inside the part in which it was found, as far as its edges tell.

    height: of the picture.
    """
    space = line[3] - line[1]
    at_left = line[0] <= window[0] + space and window[0] > 0
    at_top = line[1] <= window[1] + 2 and window[1] > 0
    at_bottom = line[3] >= window[3] - 2 and window[3] < height
    return not (at_left or at_top or at_bottom)


def _beside(line: Box, box: Box) -> tuple[float, str] | None:
    """How far away a line is, in its heights, and where the box is seen from it; None where it is too far."""
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
