"""Detection of changed shadows: adjacent rows beside an edge that all become darker, or all become
lighter."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.pixels.straight import EDGE, Run
from whatchanged.measured.result import Box

ROWS = 3
"""The least number of adjacent rows, or columns, of a shadow. A redrawn edge changes two."""
LEAST = 8
"""The least difference, in levels, of the row that differs most."""
ENDS = 4
"""The largest distance in pixels between the ends of adjacent rows, which differ at round corners."""


@dataclass(frozen=True)
class _Row:
    """A run of pixels in a row or a column.

    at           the index of the row or column
    start, stop  the ends of the run
    step         its difference in levels
    lighter      whether it became lighter
    """

    at: int
    start: int
    stop: int
    box: Box
    step: int
    lighter: bool


def find_shades(before: Pixels, after: Pixels, runs: Sequence[Run], least: int = LEAST) -> Iterator[Box]:
    """Yield the rows of each shadow whose most different row differs by at least ``least`` levels."""
    for axis in (0, 1):
        # The stacks are keyed by the row at which they end.
        stacks: dict[int, list[list[_Row]]] = defaultdict(list)
        for row in sorted(_rows(before, after, runs, axis), key=lambda one: (one.at, one.start)):
            stack = next((one for one in stacks[row.at - 1] if _goes_on(one[-1], row)), None)
            stacks[row.at].append([row] if stack is None else [*stack, row])
            if stack is not None:
                stacks[row.at - 1].remove(stack)
        for stack in (one for ended in stacks.values() for one in ended):
            if len(stack) >= ROWS and max(row.step for row in stack) >= least:
                yield from (row.box for row in stack)


def _rows(before: Pixels, after: Pixels, runs: Sequence[Run], axis: int) -> Iterator[_Row]:
    """Yield the long runs along rows (axis 0) or columns (axis 1)."""
    for run in runs:
        left, top, right, bottom = run.box
        start, stop, at = run.box[axis], run.box[axis + 2], run.box[1 - axis]
        if stop - start >= EDGE and (right - left, bottom - top)[1 - axis] == 1:
            lighter = int(after[top, left].sum()) > int(before[top, left].sum())
            yield _Row(at, start, stop, run.box, run.step, lighter)


def _goes_on(one: _Row, other: _Row) -> bool:
    """Return whether the next row has about the same ends and changed in the same direction."""
    ends = max(abs(other.start - one.start), abs(other.stop - one.stop))
    return ends <= ENDS and one.lighter == other.lighter
