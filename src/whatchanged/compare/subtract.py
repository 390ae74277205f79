"""What a member of a group shows beyond what the group shares.

A statement is shared if at least half of the other members hold an alike one. Alike are statements of one
kind and aspect whose measures agree: the colours before and after, how far something moved, and, of what was
added, removed, replaced or resized, how large it is; fewer of these where the members do not agree in all.
Where most members hold the same number of places of a shared statement, a member that holds more shows
something beyond it.

What is hardly visible, such as text drawn by another renderer, is named unsurely: the same cause is told as
a shape here and as an edge there. In a group of such differences only a member that differs much more
strongly than the others shows something beyond them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured import Measured, Statement

LEAST = 3
"""Members of a group in which something can stand out."""
PANEL = 200
"""Members that every statement is held against; of more, so many at equal distances."""
SHARED = 0.5
"""Part of the other members that hold an alike statement."""
USUAL = 0.75
"""Part of those members that hold the same number of places."""
COLORS = 24.0
"""Levels of red, green and blue by which alike colours may differ."""
SIZES = math.log(1.3)
"""Logarithm of the factor by which alike widths and heights may differ."""
STEPS = 2.0
"""Pixels by which alike movements may differ."""
WEAK = 5.0
"""Up to this strength (1: just visible) the kinds of differences are unsure."""
STRONGER = 3.0
"""How many times as strong as usual in its group a member is that stands out by that alone."""
OF_ONE_SIZE = frozenset(("added", "removed", "replaced", "resized"))
"""Kinds whose size tells one cause from another; that of others goes with the page's text."""


MEASURES = {
    "step": (2, STEPS),
    "colour after": (3, COLORS),
    "size": (2, SIZES),
    "colour before": (3, COLORS),
}
"""What is measured of a statement, in this order: how many numbers, and by how much alike ones may differ."""


def _up_to(name: str) -> slice:
    """The measures up to one of them, and that one."""
    names = list(MEASURES)
    return slice(sum(MEASURES[one][0] for one in names[: names.index(name) + 1]))


LEVELS = (_up_to("colour before"), _up_to("size"), _up_to("colour after"), slice(0))
"""Which measures are held against each other: all; without the colours before, as of buttons that were of
several colours; without sizes; none, so that the kind alone tells."""


@dataclass(frozen=True)
class _Entry:
    """One statement of a member, and its measures in units of their tolerances (NaN: not measured)."""

    member: int
    statement: Statement
    measures: NDArray[np.float64]


def beyond_shared(answers: Sequence[Measured]) -> list[tuple[Statement, ...]]:
    """For each member of one group, in their order, the statements that it does not share."""
    if len(answers) < LEAST:
        return [() for _ in answers]
    spread = np.linspace(0, len(answers) - 1, min(PANEL, len(answers)))
    panel = [int(member) for member in spread.round()]
    by_kind: dict[tuple[str | None, str], list[_Entry]] = {}
    for member, answer in enumerate(answers):
        for statement in answer.statements:
            by_kind.setdefault(_kind(statement), []).append(_Entry(member, statement, _measures(statement)))
    unshared = {
        id(entry.statement)
        for entries in by_kind.values()
        for entry in _unshared(entries, panel, len(answers))
    }
    usual = max(1.0, float(np.percentile([answer.score for answer in answers], 75)))
    statements: list[tuple[Statement, ...]] = []
    for answer in answers:
        stronger = answer.score > STRONGER * usual
        beyond = tuple(one for one in answer.statements if id(one) in unshared)
        if stronger:
            statements.append(beyond or answer.statements)
        else:
            statements.append(beyond if usual > WEAK else ())
    if sum(map(bool, statements)) > SHARED * len(answers):  # then there is nothing from which to stand out
        return [() for _ in answers]
    return statements


def without_shared(statements: Sequence[Statement], others: Sequence[Measured]) -> tuple[Statement, ...]:
    """The statements that fewer than half of some others, of one cause, hold alike; all if none is left.

    Where those differ hardly visibly, the kind alone tells.
    """
    weak = float(np.percentile([answer.score for answer in others], 75)) <= WEAK
    spread = np.linspace(0, len(others) - 1, min(PANEL, len(others)))
    panel = [others[int(place)] for place in spread.round()]
    held = [
        _Entry(member, one, _measures(one))
        for member, answer in enumerate(panel)
        for one in answer.statements
    ]
    left = [
        one for one in statements if not _is_shared(one, held, len(panel), LEVELS[-1] if weak else LEVELS[0])
    ]
    return tuple(left or statements)


def _is_shared(statement: Statement, others: Sequence[_Entry], members: int, measures: slice) -> bool:
    """Whether at least half of the members hold an alike statement."""
    own = _kind(statement)
    same = [entry for entry in others if _kind(entry.statement) == own]
    alike = _alike([_Entry(0, statement, _measures(statement))], same, measures)[0]
    sharing = {entry.member for entry, agrees in zip(same, alike, strict=True) if agrees}
    return len(sharing) >= SHARED * members


def _kind(statement: Statement) -> tuple[str | None, str]:
    """Kind and aspect."""
    return statement.kind, str(statement.values.get("aspect"))


def _unshared(entries: Sequence[_Entry], panel: Sequence[int], members: int) -> list[_Entry]:
    """The entries of one kind and aspect that their members do not share.

    Judged by all measures, if at least half of the members then share something; else by fewer.
    """
    held = [entry for entry in entries if entry.member in set(panel)]
    column = {member: index for index, member in enumerate(panel)}
    places = np.zeros((len(held), len(panel)))
    for row, entry in enumerate(held):
        places[row, column[entry.member]] = len(entry.statement.boxes)
    for measures in LEVELS:
        alike = _alike(entries, held, measures)
        counts = alike @ places  # of each entry: places of alike statements in each member of the panel
        for row, entry in enumerate(entries):
            if entry.member in column:
                counts[row, column[entry.member]] = np.nan  # it is held against the others
        others = len(panel) - np.isnan(counts).sum(axis=1)
        shared = (counts > 0).sum(axis=1) >= SHARED * others
        sharing = {entry.member for entry, is_shared in zip(entries, shared, strict=True) if is_shared}
        if len(sharing) >= SHARED * members:
            more = _beyond_usual_count(entries, held, alike, counts, measures)
            return [entry for row, entry in enumerate(entries) if not shared[row] or row in more]
    return list(entries)


def _beyond_usual_count(
    entries: Sequence[_Entry],
    panel: Sequence[_Entry],
    alike: NDArray[np.float64],
    counts: NDArray[np.float64],
    measures: slice,
) -> set[int]:
    """The entries that go beyond the usual number of places of what their members share."""
    centres = np.array([_centre(entry.statement) for entry in panel])
    own: dict[int, list[int]] = {}
    for row, entry in enumerate(entries):
        own.setdefault(entry.member, []).append(row)
    results = set()
    for row, entry in enumerate(entries):
        others = counts[row][counts[row] > 0]
        if not len(others):
            continue
        mine = [other for other in own[entry.member] if _alike([entry], [entries[other]], measures)[0, 0]]
        centre = np.median(centres[alike[row] > 0], axis=0)
        mine.sort(key=lambda other, centre=centre: _distance(entries[other], centre))  # type: ignore[misc]
        if row in _beyond_usual(mine, [len(entries[other].statement.boxes) for other in mine], others):
            results.add(row)
    return results


def _beyond_usual(rows: Sequence[int], counts: Sequence[int], others: NDArray[np.float64]) -> list[int]:
    """Those rows that exceed the usual number of places of others; none where no number is usual."""
    numbers, frequency = np.unique(others, return_counts=True)
    if frequency.max() < USUAL * len(others):
        return []
    usual = int(numbers[frequency.argmax()])
    so_far = np.cumsum(counts)
    return [row for row, total in zip(rows, so_far, strict=True) if total > usual]


def _alike(entries: Sequence[_Entry], others: Sequence[_Entry], measures: slice) -> NDArray[np.float64]:
    """1 where the chosen measures of two entries agree, (entries, held)."""
    agree = np.ones((len(entries), len(others)), bool)
    if others:
        rows = np.array([entry.measures[measures] for entry in entries]).T
        columns = np.array([entry.measures[measures] for entry in others]).T
        for row, column in zip(rows, columns, strict=True):
            agree &= ~(np.abs(row[:, None] - column[None]) > 1)  # NaN is no disagreement
    return agree.astype(np.float64)


def _measures(statement: Statement) -> NDArray[np.float64]:
    """The numbers of ``MEASURES`` in units of what alike ones may differ by; NaN where there is none."""
    values = statement.values
    box = statement.box_after or statement.box_before
    size = [math.nan, math.nan]  # logarithms of width and height, where they tell
    if box is not None and statement.kind in OF_ONE_SIZE:
        size = [math.log(max(1, box[2] - box[0])), math.log(max(1, box[3] - box[1]))]
    results = {
        "step": [float(values.get("dx", math.nan)), float(values.get("dy", math.nan))],
        "colour after": levels(values.get("color_after")),
        "size": size,
        "colour before": levels(values.get("color_before")),
    }
    return np.concatenate([np.array(results[name]) / unit for name, (_, unit) in MEASURES.items()])


def levels(code: object) -> list[float]:
    """Red, green and blue of "#rrggbb"; NaN for anything else."""
    if not (isinstance(code, str) and len(code) == 7):
        return [math.nan] * 3
    return [float(int(code[place : place + 2], 16)) for place in (1, 3, 5)]


def _centre(statement: Statement) -> NDArray[np.float64]:
    """The middle of a statement's place, in pixels."""
    left, top, right, bottom = statement.box_after or statement.box_before or (0, 0, 0, 0)
    return np.array([(left + right) / 2, (top + bottom) / 2])


def _distance(entry: _Entry, centre: NDArray[np.float64]) -> float:
    """How far a statement's place is from where alike ones usually are, in pixels."""
    return float(np.abs(_centre(entry.statement) - centre).sum())
