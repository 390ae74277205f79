"""Words cut out of a line of text in a picture, around a place in it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import INK, usual_color
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

HIGHEST = 60
"""Pixels that a line of text is high at most."""
LOWEST = 7
"""Pixels that the words are high at least."""
SPACE = 0.5
"""Of the height of a place in a line: a gap as wide is one between two words, a narrower one may be."""
REACH = 14
"""Heights to either side of the place in which its outer words are followed."""
HANGING = 0.5
"""Of the height of the place: how far the line's letters may stand out above and below it."""
RULE = 0.9
"""Share of a row's or a column's pixels from which on it is a rule or a border, not letters."""
LETTER = 0.2
"""Of a cut's height: a run of ink as wide is a letter, no stop or comma."""
GAP = 0.25
"""Of a cut's height: more lies between two letters of a word nowhere."""
EDGE = 6
"""Pixels from the edge of a place in which a rule is part of a frame."""
FRAME = 0.5
"""Share of such a row or column that is ink from which on it is a rule."""
FRAMED = 0.75
"""Of a frame's height: what the letters in it have at most."""
MARGIN = 0.15
"""Of a line's height: the empty ground around it in the cut."""


class WordCrop(NamedTuple):
    """Words cut out of a picture, with some ground around them."""

    picture: Pixels
    """(h, w, 3)."""
    columns: tuple[int, int]
    """The columns of the cut in which the box has letters, the second exclusive."""


def words_around(pixels: Pixels, box: Box) -> WordCrop | None:
    """The whole words of a line of text that a box touches.

    None where no single line of letters is found: too high, too low, or several lines.
    """
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right]
    if not part.size:
        return None
    fill = usual_color(part.reshape(-1, 3))
    place = _without_frame(_ink(part, fill))
    columns = _extent(np.flatnonzero(place.any(axis=0)))
    rows = _extent(np.flatnonzero(place.any(axis=1)))
    if columns is None or rows is None:
        return None
    height = rows[1] - rows[0]
    if height > HIGHEST or _breaks(place[rows[0] : rows[1]]):
        return None
    first_row, last_row = top + rows[0], top + rows[1]
    begin, end = max(0, left + columns[0] - REACH * height), left + columns[1] + REACH * height
    above = max(0, first_row - int(np.ceil(HANGING * height)))
    window = _ink(pixels[above : last_row + int(np.ceil(HANGING * height)), begin:end], fill)
    taken = window[first_row - above : last_row - above].any(axis=0) & (window.mean(axis=0) <= RULE)
    place_first, place_last = left + columns[0] - begin, left + columns[1] - begin
    first, last = _followed(taken, place_first, place_last, height)
    line = window[:, first:last]
    upper = _grown(line, first_row - above, -1)
    lower = _grown(line, last_row - above - 1, 1) + 1
    if lower - upper < LOWEST:
        return None
    cut, margin = _framed(pixels[above + upper : above + lower, begin + first : begin + last], fill)
    return WordCrop(cut, (place_first - first + margin, place_last - first + margin))


def _ink(part: Pixels, fill: tuple[int, int, int]) -> NDArray[np.bool_]:
    """Where a part of a picture stands out from its fill."""
    steps = np.abs(part.astype(np.int16) - np.array(fill, np.int16)).max(axis=2)
    return np.asarray(steps > INK)


def _extent(indices: NDArray[np.intp]) -> tuple[int, int] | None:
    """The first of some places, and after the last."""
    return (int(indices[0]), int(indices[-1]) + 1) if len(indices) else None


def _without_frame(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The ink without rules above or below it, and without both sides of a frame around it.

    A letter's stem at one edge alone is no side of a frame.
    """
    inner = ink.copy()
    for rows in (inner, inner[::-1]):  # views
        rules = np.flatnonzero(rows[: min(EDGE, len(rows) // 3)].mean(axis=1) > RULE)
        if len(rules) and ink.shape[1] > len(ink):
            rows[: rules[-1] + 1] = False
    framed = inner.copy()
    for columns in (framed, framed[:, ::-1]):
        sides = np.flatnonzero(columns[:, : min(EDGE, ink.shape[1] // 3)].mean(axis=0) > FRAME)
        if not len(sides):
            return inner
        columns[:, : sides[-1] + 1] = False
    letters, whole = (_extent(np.flatnonzero(part.any(axis=1))) for part in (framed, inner))
    is_frame = letters and whole and letters[1] - letters[0] < FRAMED * (whole[1] - whole[0])
    return framed if is_frame else inner


def _breaks(ink: NDArray[np.bool_]) -> bool:
    """Whether rows of ink make several lines: an empty run, higher than that below a dot."""
    empty = np.flatnonzero(~ink.any(axis=1))
    if not len(empty):
        return False
    runs = np.split(empty, np.flatnonzero(np.diff(empty) > 1) + 1)
    most = max(2, len(ink) // 5)
    return any(len(run) > most for run in runs)


def _followed(taken: NDArray[np.bool_], first: int, last: int, height: int) -> tuple[int, int]:
    """The columns of the words: from the place to both sides, as far as no gap is as wide as a space."""
    gap = max(2, round(SPACE * height))
    places = np.flatnonzero(taken)
    while len(later := places[(places >= last) & (places < last + gap)]):
        last = int(later[-1]) + 1
    while len(earlier := places[(places < first) & (places >= first - gap)]):
        first = int(earlier[0])
    return first, last


def _grown(line: NDArray[np.bool_], row: int, step: int) -> int:
    """The last row, upwards or downwards from this one, of letters that stand out; a dot may stand apart."""
    best, at, empty = row, row + step, 0
    while 0 <= at < len(line) and empty <= 2:
        share = float(line[at].mean())
        if share > RULE:
            break
        if share > 0:
            best, empty = at, 0
        else:
            empty += 1
        at += step
    return best


def turned(pixels: Pixels, box: Box) -> tuple[Pixels, Box]:
    """A picture and a box in it, turned so that what was written upwards is written from left to right."""
    left, top, right, bottom = box
    height = pixels.shape[0]
    return np.rot90(pixels, -1), (height - bottom, left, height - top, right)


def is_upright(box: Box) -> bool:
    """Whether a box is so tall that a line in it must be written upwards."""
    width, height = box[2] - box[0], box[3] - box[1]
    return height > 2 * width and height >= 30


def gap_within(picture: Pixels, columns: Sequence[float]) -> bool:
    """Whether the letters of one word, as it was read, stand so far apart that they may be two.

    columns: the columns of its characters.
    """
    first, last = int(columns[0]), int(columns[-1]) + 1
    ink = _ink(picture, usual_color(picture.reshape(-1, 3)))
    taken = np.flatnonzero(ink[:, first:last].any(axis=0))
    return bool(len(taken) and np.diff(taken).max(initial=0) - 1 > GAP * len(picture))


def uncovered(picture: Pixels, columns: Sequence[float]) -> bool:
    """Whether a cut has letters where no character was seen: those that the recogniser does not know.

    columns: the columns of the characters.
    """
    ink = np.flatnonzero(_ink(picture, usual_color(picture.reshape(-1, 3))).any(axis=0))
    runs = np.split(ink, np.flatnonzero(np.diff(ink) > 1) + 1)
    nearest = {min(range(len(runs)), key=lambda i: max(runs[i][0] - at, at - runs[i][-1])) for at in columns}
    least = LETTER * len(picture)
    return any(len(run) >= least for i, run in enumerate(runs) if i not in nearest)


def _framed(part: Pixels, fill: tuple[int, int, int]) -> tuple[Pixels, int]:
    """A cut with ground around it, and how much of it is at the left."""
    margin = max(2, round(MARGIN * len(part)))
    framed = np.empty((part.shape[0] + 2 * margin, part.shape[1] + 4 * margin, 3), np.uint8)
    framed[:] = fill
    framed[margin:-margin, 2 * margin : -2 * margin] = part
    return framed, 2 * margin
