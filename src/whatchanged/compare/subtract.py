"""Find the changes of a group's member that the group does not share.

A statement is shared if at least half of the other members have a similar one. Similar statements have the
same kind and aspect, and their measures agree: the colours before and after, the distance of a movement, and,
for added, removed, replaced and resized elements, the size. If the members do not agree in all measures,
fewer measures are compared. If most members have the same number of boxes for a shared statement, a member
with more boxes shows a further change.

Hardly visible changes, such as text drawn by another renderer, are described inconsistently. One cause may
look like a shape in one picture and like an edge in another. In a group of hardly visible differences, a
member shows a further change only if the member differs much more strongly than the other members.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured import Measured, Statement

LEAST = 3
"""The smallest number of members of a group in which one can stand out."""
PANEL = 200
"""The number of members with which every statement is compared.

From a larger group, this many are chosen at equal distances.
"""
SHARED = 0.5
"""The share of the other members that must have a similar statement."""
USUAL = 0.75
"""The share of the members with a similar statement that must have the same number of boxes."""
COLORS = 24.0
"""The largest difference between similar colours, in levels of red, green and blue."""
SIZES = math.log(1.3)
"""The logarithm of the largest ratio between similar widths and heights."""
STEPS = 2.0
"""The largest difference between similar movements, in pixels."""
WEAK = 5.0
"""The strength up to which the kinds of differences are uncertain. A strength of 1 is just visible."""
STRONGER = 3.0
"""The ratio to the usual strength of the group from which a member stands out by its strength alone."""
OF_ONE_SIZE = frozenset(("added", "removed", "replaced", "resized"))
"""The kinds whose size distinguishes one cause from another.

For other kinds, the size depends on the text of the page.
"""


MEASURES = {
    "step": (2, STEPS),
    "colour after": (3, COLORS),
    "size": (2, SIZES),
    "colour before": (3, COLORS),
}
"""The measures of a statement, in this order.

Each measure is mapped to the number of its values and the largest difference between similar values.
"""


def _up_to(name: str) -> slice:
    """Return the slice of the measures up to and including the one with this name."""
    names = list(MEASURES)
    return slice(sum(MEASURES[one][0] for one in names[: names.index(name) + 1]))


LEVELS = (_up_to("colour before"), _up_to("size"), _up_to("colour after"), slice(0))
"""The sets of measures that are compared, from the largest set to the smallest.

The first set contains all measures. The second set omits the colours before, for example for buttons that had
several colours. The third set also omits sizes. The last set is empty, so that only kind and aspect count.
"""


@dataclass(frozen=True)
class _Entry:
    """One statement of a member, with its measures in units of their tolerances. NaN means not measured."""

    member: int
    statement: Statement
    measures: NDArray[np.float64]


def beyond_shared(answers: Sequence[Measured]) -> list[tuple[Statement, ...]]:
    """Return, for each member of one group in order, the statements that the group does not share."""
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
    if sum(map(bool, statements)) > SHARED * len(answers):  # the members have too little in common
        return [() for _ in answers]
    return statements


def without_shared(statements: Sequence[Statement], others: Sequence[Measured]) -> tuple[Statement, ...]:
    """Return the statements for which fewer than half of the other answers have a similar one.

    others: answers that have one cause. If their differences are hardly visible, only kind and aspect count.

    If none would remain, all statements are returned.
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
    """Return whether at least half of the members have a similar statement."""
    own = _kind(statement)
    same = [entry for entry in others if _kind(entry.statement) == own]
    alike = _alike([_Entry(0, statement, _measures(statement))], same, measures)[0]
    sharing = {entry.member for entry, agrees in zip(same, alike, strict=True) if agrees}
    return len(sharing) >= SHARED * members


def _kind(statement: Statement) -> tuple[str | None, str]:
    """Return the kind and the aspect."""
    return statement.kind, str(statement.values.get("aspect"))


def _unshared(entries: Sequence[_Entry], panel: Sequence[int], members: int) -> list[_Entry]:
    """Return the entries of one kind and aspect that the other members do not share.

    All measures are compared if at least half of the members then share an entry. Otherwise fewer measures
    are compared.
    """
    held = [entry for entry in entries if entry.member in set(panel)]
    column = {member: index for index, member in enumerate(panel)}
    places = np.zeros((len(held), len(panel)))
    for row, entry in enumerate(held):
        places[row, column[entry.member]] = len(entry.statement.boxes)
    for measures in LEVELS:
        alike = _alike(entries, held, measures)
        counts = alike @ places  # (entries, panel): boxes of similar statements per member
        for row, entry in enumerate(entries):
            if entry.member in column:
                counts[row, column[entry.member]] = np.nan  # not compared with its own member
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
    """Return the rows of the entries that exceed the usual number of boxes for a shared statement."""
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
    """Return the rows that exceed the usual number of boxes of other members; [] if no number is usual."""
    numbers, frequency = np.unique(others, return_counts=True)
    if frequency.max() < USUAL * len(others):
        return []
    usual = int(numbers[frequency.argmax()])
    so_far = np.cumsum(counts)
    return [row for row, total in zip(rows, so_far, strict=True) if total > usual]


def _alike(entries: Sequence[_Entry], others: Sequence[_Entry], measures: slice) -> NDArray[np.float64]:
    """Return 1 if the chosen measures of two entries agree and 0 otherwise, (entries, others)."""
    agree = np.ones((len(entries), len(others)), bool)
    if others:
        rows = np.array([entry.measures[measures] for entry in entries]).T
        columns = np.array([entry.measures[measures] for entry in others]).T
        for row, column in zip(rows, columns, strict=True):
            agree &= ~(np.abs(row[:, None] - column[None]) > 1)  # NaN counts as agreement
    return agree.astype(np.float64)


def _measures(statement: Statement) -> NDArray[np.float64]:
    """Return the numbers of ``MEASURES`` in units of their tolerances. A number is NaN if there is none."""
    values = statement.values
    box = statement.box_after or statement.box_before
    size = [math.nan, math.nan]  # logarithms of width and height
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
    """Return the red, green and blue levels of "#rrggbb"; NaN for anything else."""
    if not (isinstance(code, str) and len(code) == 7):
        return [math.nan] * 3
    return [float(int(code[place : place + 2], 16)) for place in (1, 3, 5)]


def _centre(statement: Statement) -> NDArray[np.float64]:
    """Return the centre of a statement's box, in pixels."""
    left, top, right, bottom = statement.box_after or statement.box_before or (0, 0, 0, 0)
    return np.array([(left + right) / 2, (top + bottom) / 2])


def _distance(entry: _Entry, centre: NDArray[np.float64]) -> float:
    """Return the distance, in pixels, of a statement's box from the usual position of the boxes of similar
    statements.
    """
    return float(np.abs(_centre(entry.statement) - centre).sum())
