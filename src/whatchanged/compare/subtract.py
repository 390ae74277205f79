"""What a member of a group shows beyond what the group shares.

A statement is shared if at least half of the other members hold an alike one. Alike are statements of one
kind and aspect whose measures agree: the colours before and after, how far something moved, and, of what was
added, removed, replaced or resized, how large it is. Where most members hold the same number of places of a
shared statement, a member that holds more shows something beyond it.
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
COLOURS = 24.0
"""Levels of red, green and blue by which alike colours may differ."""
SIZES = math.log(1.3)
"""Logarithm of the factor by which alike widths and heights may differ."""
STEPS = 2.0
"""Pixels by which alike movements may differ."""
OF_ONE_SIZE = frozenset(("added", "removed", "replaced", "resized"))
"""Kinds whose size tells one cause from another; that of others goes with the page's text."""


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
            key = statement.kind, str(statement.values.get("aspect"))
            by_kind.setdefault(key, []).append(_Entry(member, statement, _measures(statement)))
    beyond = {id(one.statement) for entries in by_kind.values() for one in _standing_out(entries, panel)}
    return [tuple(one for one in answer.statements if id(one) in beyond) for answer in answers]


def _standing_out(entries: Sequence[_Entry], panel: Sequence[int]) -> list[_Entry]:
    """The entries of one kind and aspect that their members do not share."""
    held = [entry for entry in entries if entry.member in set(panel)]
    column = {member: place for place, member in enumerate(panel)}
    places = np.zeros((len(held), len(panel)))
    for row, entry in enumerate(held):
        places[row, column[entry.member]] = len(entry.statement.boxes)
    alike = _alike(entries, held)
    counts = alike @ places  # of each entry: places of alike statements in each member of the panel
    own: dict[int, list[int]] = {}
    for index, entry in enumerate(entries):
        own.setdefault(entry.member, []).append(index)
    found = []
    for index, entry in enumerate(entries):
        others = np.array(
            [count for member, count in zip(panel, counts[index], strict=True) if member != entry.member]
        )
        if np.count_nonzero(others) < SHARED * len(others):
            found.append(entry)
            continue
        mine = [entries[other] for other in own[entry.member] if _agree(entry, entries[other])]
        centre = np.median(
            [_centre(other.statement) for other, same in zip(held, alike[index], strict=True) if same], 0
        )
        if entry in _more_than_usual(mine, others[others > 0], centre):
            found.append(entry)
    return found


def _more_than_usual(
    mine: Sequence[_Entry], others: NDArray[np.float64], centre: NDArray[np.float64]
) -> list[_Entry]:
    """Of a member's alike entries those that go beyond the usual number of places, the farthest from where it
    usually is; none where no number is usual."""
    counts, frequency = np.unique(others, return_counts=True)
    usual = counts[frequency.argmax()]
    if frequency.max() < USUAL * len(others):
        return []
    more = []
    for entry in sorted(mine, key=lambda one: float(np.abs(_centre(one.statement) - centre).sum())):
        usual -= len(entry.statement.boxes)
        if usual < 0:
            more.append(entry)
    return more


def _alike(entries: Sequence[_Entry], held: Sequence[_Entry]) -> NDArray[np.float64]:
    """1 where the measures of two entries agree, (entries, held)."""
    agree = np.ones((len(entries), len(held)), bool)
    if held:
        rows = np.array([entry.measures for entry in entries]).T
        columns = np.array([entry.measures for entry in held]).T
        for row, column in zip(rows, columns, strict=True):
            agree &= ~(np.abs(row[:, None] - column[None]) > 1)  # NaN is no disagreement
    return agree.astype(np.float64)


def _agree(one: _Entry, other: _Entry) -> bool:
    return bool(_alike([one], [other])[0, 0])


def _measures(statement: Statement) -> NDArray[np.float64]:
    """Colours before and after, movement, and the logarithms of width and height where they tell."""
    values = statement.values
    colours = [*_levels(values.get("color_before")), *_levels(values.get("color_after"))]
    steps = [float(values.get("dx", math.nan)), float(values.get("dy", math.nan))]
    box = statement.box_after or statement.box_before
    size = [math.nan, math.nan]
    if box is not None and statement.kind in OF_ONE_SIZE:
        size = [math.log(max(1, box[2] - box[0])), math.log(max(1, box[3] - box[1]))]
    return np.array(
        [
            *(level / COLOURS for level in colours),
            *(step / STEPS for step in steps),
            *(side / SIZES for side in size),
        ]
    )


def _levels(code: object) -> list[float]:
    """Red, green and blue of "#rrggbb"; NaN for anything else."""
    if not (isinstance(code, str) and len(code) == 7):
        return [math.nan] * 3
    return [float(int(code[place : place + 2], 16)) for place in (1, 3, 5)]


def _centre(statement: Statement) -> NDArray[np.float64]:
    """The middle of a statement's place, in pixels."""
    left, top, right, bottom = statement.box_after or statement.box_before or (0, 0, 0, 0)
    return np.array([(left + right) / 2, (top + bottom) / 2])
