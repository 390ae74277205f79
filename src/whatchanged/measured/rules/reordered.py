"""Columns of a table and lines of text in another order, and columns that came or went.

The widths of a table's columns follow from their contents. So the other columns move by different amounts,
and no single movement explains the differences. But the contents of each column stay the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, box_of, union
from whatchanged.measured.pixels.layers import INK, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import TEXT_HEIGHT, Finding, ink_overlap

COLUMN_GAP, LINE_GAP = 6, 2
"""The least empty space in pixels between two columns, and between two lines. The cells of a column hide the
spaces between the words of one another."""
LEAST_HEIGHT = 2 * TEXT_HEIGHT
"""The least height of columns in pixels, as of two lines of text. In one line, words or buttons stand in
another order."""
LEAST_ROWS_APART = 6
"""The least space in pixels between the cells of a column, one above the other."""
LEAST_SAME, MOST_PARTS = 2, 80
"""The least number of columns that stay, and the largest number of parts that are compared."""
ONE_SIZE = 1
"""The largest difference, in pixels, between the sizes of equal parts."""
SAME_INK, AS_MUCH = 0.97, 0.1
"""The least overlap of the ink of equal parts, and the largest relative difference between its amounts. Equal
letters may begin at another fraction of a pixel."""

Interval = tuple[int, int]


@dataclass(frozen=True)
class _Part:
    """A column or a line: the interval that it covers along the axis, and its ink (N, M), where N is the
    length of the interval."""

    interval: Interval
    ink: NDArray[np.bool_]


def reordered(before: Pixels, after: Pixels, visible: NDArray[np.bool_]) -> DetectedChange | None:
    """Return the columns or lines that stand in another order, or the columns that came or went; None if
    anything else differs.

    before, after: (H, W, 3), RGB. visible: (H, W) where they differ visibly.
    """
    box = box_of(visible)
    if box is None:
        return None
    left, top, right, bottom = box
    one, other = (picture[top:bottom].swapaxes(0, 1) for picture in (before, after))
    was, now = _parts_of_both(one, other, COLUMN_GAP)
    is_table = bottom - top >= LEAST_HEIGHT
    found = _in_other_order(was, now) or (_came_or_went(was, now) if is_table else None)
    if found is not None:
        boxes = ([(one, top, other, bottom) for one, other in each] for each in found)
        return replace(_change(*boxes), element="column" if is_table else None)
    was, now = _parts_of_both(before[:, left:right], after[:, left:right], LINE_GAP)
    found = _in_other_order(was, now)
    if found is None:
        return None
    return _change(*([(left, one, right, other) for one, other in each] for each in found))


def _change(was: Sequence[Box], now: Sequence[Box]) -> DetectedChange:
    """Return the change of the parts that stand in these boxes before and after; none were there if they
    came."""
    if not was or not now:
        finding = Finding("removed" if was else "added", "thing", 0.7)
    elif len(was) == 1:
        values = {"dx": now[0][0] - was[0][0], "dy": now[0][1] - was[0][1]}
        finding = Finding("moved", "position", 0.7, values)
    else:
        finding = Finding("moved", "order" if len(was) == 2 else "another order", 0.7)
    boxes = tuple(now or was)
    return DetectedChange(
        finding,
        union(was) if was else None,
        union(now) if now else None,
        sum(area(box) for box in boxes),
        boxes=boxes if len(boxes) > 1 else (),
    )


def _parts_of_both(one: Pixels, other: Pixels, gap: int) -> tuple[list[_Part], list[_Part]]:
    """Return the drawn parts of two pictures; none of the second one if the first one has too few or too many
    to be compared."""
    was = _parts(one, gap)
    return was, _parts(other, gap) if LEAST_SAME <= len(was) <= MOST_PARTS else []


def _parts(lines: Pixels, gap: int) -> list[_Part]:
    """Return the drawn parts along the first axis of some pixels (N, M, 3).

    What most lines show is background, too, like the line between two rows of a table.
    """
    usual = np.median(lines, axis=0).astype(np.uint8)  # (M, 3)
    drawn = steps_between(lines, np.broadcast_to(usual, lines.shape)) > INK
    drawn &= steps_from(usual_color(usual), lines) > INK  # Beside the table its lines are missing.
    places = np.flatnonzero(drawn.any(axis=1))
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > gap)
    starts = [int(places[0]), *places[cuts + 1].tolist()]
    stops = [*(places[cuts] + 1).tolist(), int(places[-1]) + 1]
    return [_Part((start, stop), drawn[start:stop]) for start, stop in zip(starts, stops, strict=True)]


def _in_other_order(
    was: Sequence[_Part], now: Sequence[_Part]
) -> tuple[list[Interval], list[Interval]] | None:
    """Return the intervals of the parts that stand elsewhere, before and after, or None if anything else
    differs.

    They are those of a single part if it alone moved past the others.
    """
    if len(was) != len(now) or len(was) > MOST_PARTS:
        return None
    differ = [(one, other) for one, other in zip(was, now, strict=True) if not _is_equal(one, other)]
    here, there = [one for one, _ in differ], [other for _, other in differ]
    order = _order(here, there)
    if len(differ) < 2 or order is None:
        return None
    last = len(order) - 1
    if last > 1 and order in ([last, *range(last)], [*range(1, last + 1), 0]):
        single = 0 if order[0] == last else last
        return [here[order[single]].interval], [there[single].interval]
    return [here[number].interval for number in order], [part.interval for part in there]


def _order(here: Sequence[_Part], there: Sequence[_Part]) -> list[int] | None:
    """Return for each part of the second list the number of an equal one in the first list, each once; None
    if a part has none."""
    free = list(range(len(here)))
    order = []
    for part in there:
        number = next((number for number in free if _is_equal(here[number], part)), None)
        if number is None:
            return None
        free.remove(number)
        order.append(number)
    return order


def _came_or_went(was: Sequence[_Part], now: Sequence[_Part]) -> tuple[list[Interval], list[Interval]] | None:
    """Return the interval of the parts that only one picture has, in a list for each picture; None if other
    parts differ, too few stay, or all that moved moved by one step."""
    fewer, more = sorted((was, now), key=len)
    if not LEAST_SAME <= len(fewer) < len(more) <= MOST_PARTS:
        return None
    first, last = _same_ends(fewer, more)
    if first + last < len(fewer):
        return None
    rest = [*more[:first], *more[len(more) - last :]]
    steps = {there.interval[0] - here.interval[0] for here, there in zip(fewer, rest, strict=True)}
    if len(steps - {0}) < 2:
        return None
    new = more[first : len(more) - last]
    if not any(_has_cells(part) for part in new):
        return None
    extra = [(new[0].interval[0], new[-1].interval[1])]
    return (extra, []) if more is was else ([], extra)


def _has_cells(part: _Part) -> bool:
    """Return whether a part shows something in several rows, as a column does."""
    rows = np.flatnonzero(part.ink.any(axis=0))
    return bool((np.diff(rows) >= LEAST_ROWS_APART).any())


def _same_ends(one: Sequence[_Part], other: Sequence[_Part]) -> tuple[int, int]:
    """Return how many first parts, and how many of the others at the end, are equal in two lists."""
    first = _equal_at_start(one, other)
    most = min(len(one), len(other)) - first
    return first, min(most, _equal_at_start(one[::-1], other[::-1]))


def _equal_at_start(one: Sequence[_Part], other: Sequence[_Part]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _is_equal(*pair), pairs))


def _is_equal(one: _Part, other: _Part) -> bool:
    """Return whether two parts show the same."""
    lengths = sorted((len(one.ink), len(other.ink)))
    amounts = sorted(int(np.count_nonzero(part.ink)) for part in (one, other))
    if lengths[1] - lengths[0] > ONE_SIZE or amounts[1] - amounts[0] > AS_MUCH * amounts[1]:
        return False
    inks = [np.pad(part.ink, ((0, lengths[1] - len(part.ink)), (0, 0))) for part in (one, other)]
    return ink_overlap(*inks) >= SAME_INK
