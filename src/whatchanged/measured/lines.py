"""Lines of text: a word that changed is told with the words beside it."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.boxes import area
from whatchanged.measured.found import Found
from whatchanged.measured.kinds import Finding
from whatchanged.measured.layers import INK, ground_colour
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import Box

WORD_SPACE = 0.4
"""Words of one line are at most so far apart, as a part of the line's height."""
SHORTEST_LINE, HIGHEST_LINE = 5, 28
"""Pixels that a line of text is high at least and at most."""
MOST_LINE = 4.0
"""A line that is longer than so many times what changed in it is told without the rest."""
MOST_WORD = 0.55
"""What came, went or looks otherwise is a word where it makes at most this part of the line."""
SLENDER = 1.2
"""What is no longer than so many times its height may be an icon."""
ONE_HEIGHT = 0.6
"""A line is at least this part as high as a word of it, and the other way round."""
WORDS = (
    ("rewritten", "text"),
    ("restyled", "weight"),
    ("added", "thing"),
    ("added", "pushed in"),
    ("removed", "thing"),
    ("removed", "closed up"),
    ("replaced", "icon"),
)
"""What a word that was written otherwise can look like by itself: kind and finer word."""


def whole_lines(before: Pixels, after: Pixels, found: list[Found]) -> list[Found]:
    """What was found, with words that changed inside a line of text told as the line, rewritten."""
    return [_of_line(before, after, one) for one in found]


def _of_line(before: Pixels, after: Pixels, one: Found) -> Found:
    """A changed word as its line; anything else as it is."""
    if (one.finding.kind, one.finding.aspect) not in WORDS or not one.cause:
        return one
    seed = one.box_after or one.box_before
    other = one.box_before or one.box_after
    if seed is None or other is None:
        return one
    height = max(seed[3] - seed[1], other[3] - other[1])
    word = max(seed[2] - seed[0], other[2] - other[0])
    if one.finding.kind != "rewritten" and word < SLENDER * height:
        return one
    was, now = line_around(before, other), line_around(after, seed)
    if was is None or now is None:
        return one
    longest = max(was[2] - was[0], now[2] - now[0])
    lowest, highest = (choose(line[3] - line[1] for line in (was, now)) for choose in (min, max))
    alike = lowest >= ONE_HEIGHT * height and ONE_HEIGHT * highest <= height
    most = longest - 2 if one.finding.kind == "rewritten" else MOST_WORD * longest
    if not alike or word > most or longest > MOST_LINE * word:
        return one
    finding = Finding("rewritten", "text", 0.5)
    return replace(one, finding=finding, box_before=was, box_after=now, pixels=max(one.pixels, area(now)))


def line_around(pixels: Pixels, box: Box) -> Box | None:
    """The line of text that a box lies in: as far as words follow one another; None where there is none."""
    left, top, right, bottom = box
    height = bottom - top
    if not SHORTEST_LINE <= height <= HIGHEST_LINE:
        return None
    ground = np.array(ground_colour(pixels, box), np.int16)
    band = pixels[max(0, top - 2) : bottom + 2].astype(np.int16)
    ink = np.abs(band - ground).max(axis=2) > INK
    filled = ink.any(axis=0)
    wall = ink.all(axis=0)
    space = round(WORD_SPACE * height)
    start = left - _reach(filled[:left][::-1], wall[:left][::-1], space)
    stop = right + _reach(filled[right:], wall[right:], space)
    columns = np.flatnonzero(filled[start:stop] & ~wall[start:stop])
    if not len(columns):
        return None
    rows = np.flatnonzero(ink[:, start:stop].any(axis=1))
    first = max(0, top - 2)
    return (
        start + int(columns[0]),
        first + int(rows[0]),
        start + int(columns[-1]) + 1,
        first + int(rows[-1]) + 1,
    )


def _reach(filled: NDArray[np.bool_], wall: NDArray[np.bool_], space: int) -> int:
    """How many columns further words go on, with gaps of at most so many columns."""
    end = int(np.argmax(wall)) if wall.any() else len(wall)
    inked = np.flatnonzero(filled[:end])
    if not len(inked) or inked[0] > space:
        return 0
    breaks = np.flatnonzero(np.diff(inked) > space + 1)
    last = int(inked[breaks[0]] if len(breaks) else inked[-1]) + 1
    return last
