"""Straight runs of pixels that all change in one way: edges that lie elsewhere, fills, shadows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LENGTH = 16
"""Pixels of a run at least."""
EDGE = 28
"""Pixels of a run from which on it is taken for an edge by itself: strokes of letters are shorter."""
FAINTEST = 2
"""Levels below which a pixel's difference makes no run."""
FAR = 4
"""Pixels within which an edge that lies elsewhere is found again."""
CORNER = 12
"""Pixels of a box's corner, which may be round, beyond which its edges are straight."""
SAME = 2
"""Levels up to which two colours are one."""
GENTLE = 4
"""Levels from one pixel to the next up to which what is even may be a gradient, and no edge."""

Codes = NDArray[np.int32]
"""(H, W): a colour as one number."""


@dataclass(frozen=True)
class Run:
    """Neighbouring pixels of a row or column that have one colour before, and one after.

    step   levels between the two colours
    sharp  whether both colours lie beside the run in the other picture: an edge that lies elsewhere
    new    levels by which each colour is none of those beside the run in the other picture, nor between
           them: neither an edge that lies elsewhere nor one that is drawn anew explains it
    """

    box: Box
    step: int
    sharp: bool
    new: int


def find_runs(before: Pixels, after: Pixels) -> Iterator[Run]:
    """The runs of all rows, then those of all columns."""
    differs = steps_between(before, after) >= FAINTEST
    yield from _runs_of_rows(before, after, differs)
    for run in _runs_of_rows(before.swapaxes(0, 1), after.swapaxes(0, 1), differs.T):
        left, top, right, bottom = run.box
        yield Run((top, left, bottom, right), run.step, run.sharp, run.new)


def is_edge(before: Pixels, after: Pixels, axis: int) -> bool:
    """Whether two parts show the same, even along an axis and with a step across it.

    A line at a part of a pixel is drawn a level or two otherwise once its corners are round.
    """
    if before.size == 0 or int(steps_between(before, after).max()) > SAME:
        return False
    return all(_is_even(np.moveaxis(part, axis, 0)) for part in (before, after))


def _is_even(lines: Pixels) -> bool:
    """Whether all lines are the same, with a step from one pixel to the next that is no gradient's."""
    steps = steps_between(lines[:1, 1:], lines[:1, :-1])
    return bool((lines == lines[0]).all() and int(steps.max(initial=0)) > GENTLE)


def moved_edges(before: Pixels, after: Pixels, runs: Sequence[Run], least: int) -> Iterator[Box]:
    """Sharp edges that lie elsewhere, of at least so many levels: long ones, and both sides of a box."""
    sharp = [run for run in runs if run.sharp and run.step >= least]
    yield from (run.box for run in sharp if max(run.box[2] - run.box[0], run.box[3] - run.box[1]) >= EDGE)
    upright = [run.box for run in sharp if run.box[2] - run.box[0] == 1]
    upright.sort(key=lambda box: (box[1], box[3], box[0]))
    for one, other in pairwise(upright):
        if one[1::2] == other[1::2] and other[0] - one[0] >= EDGE and _closed(before, after, one, other):
            yield one
            yield other


def _closed(before: Pixels, after: Pixels, one: Box, other: Box) -> bool:
    """Whether an edge that did not change leads from the upper or lower end of a side to the other side's."""
    columns = slice(one[2] + CORNER, other[0] - CORNER)
    ends = (slice(max(0, one[1] - CORNER), one[1]), slice(one[3], one[3] + CORNER))
    return any(is_edge(before[rows, columns], after[rows, columns], 1) for rows in ends)


def codes(pixels: Pixels) -> Codes:
    """Each pixel's colour as one number."""
    red, green, blue = (pixels[..., channel].astype(np.int32) for channel in range(3))
    return (red << 16) | (green << 8) | blue


def _runs_of_rows(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> Iterator[Run]:
    rows = np.flatnonzero(np.count_nonzero(differs, axis=1) >= LENGTH)
    if not len(rows):
        return
    goes_on = _goes_on(before[rows], after[rows], differs[rows]).ravel()
    ends = np.flatnonzero(np.diff(goes_on, append=False)) + 1  # no row's first pixel goes on
    for first, end in zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True):
        if end - first + 1 >= LENGTH:
            row, start = divmod(first - 1, differs.shape[1])
            yield _run(before, after, int(rows[row]), start, start + end - first + 1)


def _goes_on(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a pixel continues a run: it and the one to its left differ and have the same two colours."""
    goes_on = np.zeros(differs.shape, bool)
    np.logical_and(differs[:, 1:], differs[:, :-1], out=goes_on[:, 1:])
    for picture in (before, after):
        same = picture[:, 1:] == picture[:, :-1]
        for channel in range(3):
            goes_on[:, 1:] &= same[..., channel]
    return goes_on


def _run(before: Pixels, after: Pixels, row: int, start: int, stop: int) -> Run:
    """One run of a row, told by what lies above and below its middle."""
    column, above = (start + stop) // 2, max(0, row - FAR)
    near = slice(above, row + FAR + 1)
    was, now = (picture[near, column].astype(np.int16) for picture in (before, after))
    here = row - above
    step = int(np.abs(now[here] - was[here]).max())
    beside = slice(max(0, here - 1), here + 2)
    new = min(_outside(now[here], was[beside]), _outside(was[here], now[beside]))
    sharp = _among(now[here], was) and _among(was[here], now)
    return Run((start, row, stop, row + 1), step, sharp, new)


def _outside(color: NDArray[np.int16], others: NDArray[np.int16]) -> int:
    """Levels by which a colour (3,) lies outside the range of others (N, 3)."""
    return max(0, int(np.maximum(color - others.max(axis=0), others.min(axis=0) - color).max()))


def _among(color: NDArray[np.int16], others: NDArray[np.int16]) -> bool:
    """Whether a colour (3,) is one of others (N, 3)."""
    return bool((np.abs(others - color).max(axis=1) <= SAME).any())
