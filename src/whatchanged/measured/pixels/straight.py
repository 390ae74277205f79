"""Straight runs of pixels that all change in the same way: moved edges, fills and shadows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.planes import steps_between
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box

LENGTH = 16
"""The least length in pixels of a run that shows by itself how its pixels changed."""
SIDE = 10
"""The least length in pixels of a run that can be a side of a box: a low field has round corners."""
EDGE = 28
"""The least length in pixels of a run that counts as an edge by itself. Strokes of letters are shorter."""
FAINTEST = 2
"""The least difference, in levels, of the pixels of a run."""
FAR = 4
"""The largest distance in pixels at which a moved edge is found again."""
CORNER = 12
"""The size in pixels of the corners of a box. They may be round; the edges between them are straight."""
SAME = 2
"""The largest difference, in levels, between two colours that count as the same."""
GENTLE = 4
"""The largest difference, in levels, between neighbouring pixels of a smooth gradient."""

Codes = NDArray[np.int32]
"""(H, W): each colour as one number."""


@dataclass(frozen=True)
class Run:
    """Adjacent pixels of a row or column that have one common colour before, and one common colour after.

    step   the difference of the two colours, in levels
    sharp  whether both colours occur beside the run in the other picture, as at a moved edge
    new    the smaller distance, in levels, of the two colours from the range of the colours beside the run in
           the other picture; neither a moved nor a redrawn edge explains such a distance
    """

    box: Box
    step: int
    sharp: bool
    new: int

    @property
    def length(self) -> int:
        """The number of pixels."""
        left, top, right, bottom = self.box
        return max(right - left, bottom - top)


def find_runs(before: Pixels, after: Pixels) -> Iterator[Run]:
    """Yield the runs of at least ``SIDE`` pixels: those of all rows, then those of all columns."""
    differs = steps_between(before, after) >= FAINTEST
    yield from _runs_of_rows(before, after, differs)
    for run in _runs_of_rows(before.swapaxes(0, 1), after.swapaxes(0, 1), differs.T):
        left, top, right, bottom = run.box
        yield Run((top, left, bottom, right), run.step, run.sharp, run.new)


def is_edge(before: Pixels, after: Pixels, axis: int) -> bool:
    """Return whether two parts are equal, uniform along an axis, and have a step across it.

    Small differences are allowed: a line at a fractional position is drawn a level or two differently once
    its corners are round.
    """
    if before.size == 0 or int(steps_between(before, after).max()) > SAME:
        return False
    return all(_is_even(np.moveaxis(part, axis, 0)) for part in (before, after))


def _is_even(lines: Pixels) -> bool:
    """Return whether all lines are equal and contain a step that is too large for a gradient."""
    steps = steps_between(lines[:1, 1:], lines[:1, :-1])
    return bool((lines == lines[0]).all() and int(steps.max(initial=0)) > GENTLE)


def moved_edges(before: Pixels, after: Pixels, runs: Sequence[Run], least: int) -> Iterator[Box]:
    """Yield sharp edges that moved and changed by at least ``least`` levels.

    These are long edges, and pairs of edges that are both sides of a box.
    """
    sharp = [run for run in runs if run.sharp and run.step >= least]
    yield from (run.box for run in sharp if run.length >= EDGE)
    upright = [run for run in sharp if run.box[2] - run.box[0] == 1]
    upright.sort(key=lambda run: (run.box[1], run.box[3], run.box[0]))
    for one, other in pairwise(upright):
        if _are_sides(before, after, one, other):
            yield one.box
            yield other.box


def _are_sides(before: Pixels, after: Pixels, one: Run, other: Run) -> bool:
    """Return whether two upright runs are the left and right side of a box.

    An unchanged edge joins their upper or lower ends. Strokes of letters may be as high as a low box; an edge
    above or below them is their box's, and goes on to the left and right of them.
    """
    (left, top, _, bottom), (right, *rest) = one.box, other.box
    if [top, bottom] != rest[::2] or right - left < EDGE:
        return False
    inner, outer = slice(left + 1 + CORNER, right - CORNER), slice(max(0, left - CORNER), right + 1 + CORNER)
    ends = [slice(max(0, top - CORNER), top), slice(bottom, bottom + CORNER)]
    joined = [rows for rows in ends if is_edge(before[rows, inner], after[rows, inner], 1)]
    if one.length >= LENGTH:
        return bool(joined)
    return any(not is_edge(before[rows, outer], after[rows, outer], 1) for rows in joined)


def codes(pixels: Pixels) -> Codes:
    """Return each pixel's colour as one number."""
    red, green, blue = (pixels[..., channel].astype(np.int32) for channel in range(3))
    return (red << 16) | (green << 8) | blue


def _runs_of_rows(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> Iterator[Run]:
    rows = np.flatnonzero(np.count_nonzero(differs, axis=1) >= SIDE)
    if not len(rows):
        return
    goes_on = _goes_on(before[rows], after[rows], differs[rows]).ravel()
    # The first pixel of a row never continues a run.
    ends = np.flatnonzero(np.diff(goes_on, append=False)) + 1
    for first, end in zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True):
        if end - first + 1 >= SIDE:
            row, start = divmod(first - 1, differs.shape[1])
            yield _run(before, after, int(rows[row]), start, start + end - first + 1)


def _goes_on(before: Pixels, after: Pixels, differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each pixel whether it continues a run.

    The pixel and its left neighbour must differ and have the same colours before and after.
    """
    goes_on = np.zeros(differs.shape, bool)
    np.logical_and(differs[:, 1:], differs[:, :-1], out=goes_on[:, 1:])
    for picture in (before, after):
        same = picture[:, 1:] == picture[:, :-1]
        for channel in range(3):
            goes_on[:, 1:] &= same[..., channel]
    return goes_on


def _run(before: Pixels, after: Pixels, row: int, start: int, stop: int) -> Run:
    """Return one run of a row, described by the pixels above and below its middle."""
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
    """Return the distance, in levels, of a colour (3,) from the range of other colours (N, 3)."""
    return max(0, int(np.maximum(color - others.max(axis=0), others.min(axis=0) - color).max()))


def _among(color: NDArray[np.int16], others: NDArray[np.int16]) -> bool:
    """Return whether a colour (3,) is one of other colours (N, 3)."""
    return bool((np.abs(others - color).max(axis=1) <= SAME).any())
