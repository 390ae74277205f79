"""Shifts: parts of the picture whose content was pushed, found where differences are and then taken away."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.gate import Visibility, visibility
from whatchanged.measured.motion import Run, runs_of_lines
from whatchanged.measured.planes import contrast, opponent
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import Box

EXPLAINED = 0.6
"""A shift is told where it makes at least this share of the visible differences vanish."""
LEAST_INK = 24
"""Levels of a pixel's step to its neighbours from which on it is ink."""


@dataclass(frozen=True)
class Moved:
    """Content that lies elsewhere: its boxes, and how far it went."""

    box_before: Box
    box_after: Box
    dx: int
    dy: int


@dataclass(frozen=True)
class Shift:
    """What one part's lines tell.

    moved      what lies elsewhere, the largest first
    new        boxes of the picture after with lines that were not there, where they carry ink or a fill
    gone       boxes of the picture before with lines that are no longer there
    aligned    the picture before with its lines where they are after
    seen       what still differs visibly between it and the picture after
    explained  the share of the visible differences that vanished
    """

    moved: tuple[Moved, ...]
    new: tuple[Box, ...]
    gone: tuple[Box, ...]
    aligned: Pixels
    seen: Visibility
    explained: float


def find_shift(
    before: Pixels, after: Pixels, seen: Visibility, box: Box, axis: int, threshold: float
) -> Shift | None:
    """The shift of rows (axis 0) or columns (axis 1) inside a box, None where it explains too little."""
    left, top, right, bottom = box
    part = (slice(top, bottom), slice(left, right))
    runs = runs_of_lines(before[part], after[part], axis)
    if all(run.offset == 0 for run in runs):
        return None
    moved, new, gone = _boxes(before, after, box, axis, runs)
    if not moved:
        return None
    aligned = after.copy()
    aligned[part] = _warped(before[part], after[part], axis, runs)
    outside = np.ones(after.shape[:2], bool)
    outside[part] = False
    aligned[outside] = before[outside]
    rest = visibility(aligned, after)
    visible = np.count_nonzero(seen.differs & (seen.strength >= threshold))
    left_over = np.count_nonzero(rest.differs & (rest.strength >= threshold))
    explained = 1 - left_over / max(1, visible)
    if explained < EXPLAINED:
        return None
    return Shift(moved, new, gone, aligned, rest, explained)


def _warped(before: Pixels, after: Pixels, axis: int, runs: list[Run]) -> Pixels:
    """The lines before at their places after; new lines are taken from the picture after."""
    source, target = np.moveaxis(before, axis, 0), np.moveaxis(after, axis, 0).copy()
    for run in runs:
        if run.offset is not None:
            start, stop = max(run.start, run.offset), min(run.stop, len(source) + run.offset)
            target[start:stop] = source[start - run.offset : stop - run.offset]
    return np.moveaxis(target, 0, axis)


def _boxes(
    before: Pixels, after: Pixels, box: Box, axis: int, runs: list[Run]
) -> tuple[tuple[Moved, ...], tuple[Box, ...], tuple[Box, ...]]:
    """What moved, what is new, what is gone, each with ink."""
    moved: list[Moved] = []
    new: list[Box] = []
    gone: list[Box] = []
    reached = 0  # lines before up to here are accounted for
    for run in runs:
        if run.offset is None:
            found = _ink_box(after, _lines(box, axis, run.start, run.stop))
            if found is not None:
                new.append(found)
            continue
        source = run.start - run.offset
        if source > reached:
            found = _ink_box(before, _lines(box, axis, reached, source))
            if found is not None:
                gone.append(found)
        reached = max(reached, run.stop - run.offset)
        if run.offset:
            found = _ink_box(after, _lines(box, axis, run.start, run.stop))
            if found is not None:
                dx, dy = (0, run.offset) if axis == 0 else (run.offset, 0)
                was = (found[0] - dx, found[1] - dy, found[2] - dx, found[3] - dy)
                moved.append(Moved(was, found, dx, dy))
    length = box[3] - box[1] if axis == 0 else box[2] - box[0]
    if reached < length and runs[-1].offset is not None and runs[-1].offset < 0:
        found = _ink_box(before, _lines(box, axis, reached, length))
        if found is not None:
            gone.append(found)
    moved.sort(key=lambda one: (-_area(one.box_after), one.box_after))
    return tuple(moved), tuple(new), tuple(gone)


def _lines(box: Box, axis: int, start: int, stop: int) -> Box:
    """The box of some lines of a box."""
    if axis == 0:
        return box[0], box[1] + start, box[2], box[1] + stop
    return box[0] + start, box[1], box[0] + stop, box[3]


def _ink_box(pixels: Pixels, box: Box) -> Box | None:
    """The box of the ink inside a box, None where there is none."""
    left, top, right, bottom = box
    if right <= left or bottom <= top:
        return None
    ink = _ink(pixels[top:bottom, left:right])
    if np.count_nonzero(ink) < 4:
        return None
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    return left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1


def _ink(pixels: Pixels) -> NDArray[np.bool_]:
    """Where a pixel differs from its neighbours."""
    luminance = opponent(pixels)[0] // 32
    return contrast(luminance) >= LEAST_INK


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])
