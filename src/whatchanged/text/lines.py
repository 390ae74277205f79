"""A line of text cut out of a picture: its background, its letters and the gaps between them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.layers import INK, usual_color
from whatchanged.measured.pixels.reading import Pixels

LETTER = 0.2
"""A run of ink at least this wide, as a fraction of the cut's height, is a letter and no punctuation."""
GAP = 0.25
"""No gap between two letters of a word is wider than this fraction of the cut's height."""
NEAR = 1 / 6
"""How far from its letter a character may be detected, as a fraction of the cut's height: the distance of two
columns of the network.
"""
ICON_SPACE = 0.2
"""The least gap between an icon and the letters of its line, as a fraction of the cut's height."""
MARGIN = 0.15
"""The empty background around a line in the cut, as a fraction of the line's height."""


def _ink(part: Pixels, fill: tuple[int, int, int]) -> NDArray[np.bool_]:
    """Return where a region of a picture differs from its fill."""
    steps = np.abs(part.astype(np.int16) - np.array(fill, np.int16)).max(axis=2)
    return np.asarray(steps > INK)


def gap_within(picture: Pixels, columns: Sequence[float]) -> bool:
    """Return whether the letters of one recognised word are so far apart that they may be two words.

    columns: the columns of its characters.
    """
    first, last = int(columns[0]), int(columns[-1]) + 1
    ink = _ink(picture, usual_color(picture.reshape(-1, 3)))
    taken = np.flatnonzero(ink[:, first:last].any(axis=0))
    return bool(len(taken) and np.diff(taken).max(initial=0) - 1 > GAP * len(picture))


def uncovered(picture: Pixels, columns: Sequence[float], within: bool = False, icons: bool = False) -> bool:
    """Return whether a cut has letters where no character was detected: letters that the recogniser does not
    know.

    columns: the columns of the characters. within: examine only the part between the first and the last
    character. icons: ignore one piece at either end that is as far apart as an icon.
    """
    ink = np.flatnonzero(_ink(picture, usual_color(picture.reshape(-1, 3))).any(axis=0))
    if not len(ink):
        return False
    runs = np.split(ink, np.flatnonzero(np.diff(ink) > 1) + 1)
    apart = np.array([[max(run[0] - at, at - run[-1], 0) for run in runs] for at in columns])
    covered = np.flatnonzero((apart <= NEAR * len(picture)).any(axis=0)) if len(columns) else np.arange(0)
    covered = np.union1d(covered, apart.argmin(axis=1)) if len(columns) else covered
    if len(covered):
        first, last = int(covered[0]), int(covered[-1])
        if icons:
            apart_by = ICON_SPACE * len(picture)
            within_left = first == 1 and runs[1][0] - runs[0][-1] > apart_by
            within_right = last == len(runs) - 2 and runs[-1][0] - runs[-2][-1] > apart_by
            runs = runs[int(within_left) : len(runs) - int(within_right)]
            covered = covered - int(within_left)
        elif within:
            runs = [run if first <= i <= last else run[:0] for i, run in enumerate(runs)]
    least = LETTER * len(picture)
    return any(len(run) >= least for i, run in enumerate(runs) if i not in covered)


def framed(part: Pixels, fill: tuple[int, int, int]) -> tuple[Pixels, int]:
    """Return a cut with background around it, and the width of that background at the left."""
    margin = max(2, round(MARGIN * len(part)))
    framed = np.empty((part.shape[0] + 2 * margin, part.shape[1] + 4 * margin, 3), np.uint8)
    framed[:] = fill
    framed[margin:-margin, 2 * margin : -2 * margin] = part
    return framed, 2 * margin
