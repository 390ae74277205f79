"""What speaks for one cause of each two answers: their most alike statements, and their signatures.

Each is a number of features. The logarithm of the odds is their weighted sum, fitted by logistic regression
on couples of pairs of drawn and real commits, those of one cause weighing as much as the others. How likely
two pairs of a batch are to have one cause at all is told by the batch (``prior_of``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.compare.names import base_name
from whatchanged.compare.subtract import COLORS, levels
from whatchanged.measured.fitted import CAUSE
from whatchanged.measured.result import Measured, Statement
from whatchanged.measured.signature import LENGTH, PARTS, region_parts

Values = NDArray[np.float64]

TOLD = 4
"""Statements of each answer that are held against those of others, the first."""
OF_ONE_KIND = 2
"""Of these, at most so many of one kind."""
SAME_COLOR = 12.0
"""Levels by which two measurements of one colour may differ."""
SAME_PLACE = 2.0
"""Pixels by which the edges of things at one place may lie apart."""
HALF = 0.5
"""The distance of a part of two signatures that speaks half as much as any distance can."""
VARIANT = 1.0
"""What two variants of one name add to the logarithm of the odds."""

STEPS, CLOSE = 50, 1e-5
"""Steps of the estimate at most, and the change from which on it stands."""
MOST = 50.0
"""Logarithms of odds beyond this are as good as sure."""

OF_STATEMENTS = ("one colour after", "one step", "one push", "one left", "one top")
"""Features of two statements that say the same, 1 or 0: their colour after, how far the thing moved, how far
it pushed the rest, where its place begins."""
OF_PICTURES = ("pictures of one size", "grown alike")
OF_SIGNATURES = (*PARTS, "places")
FEATURES = (*OF_STATEMENTS, *OF_PICTURES, *OF_SIGNATURES)


@dataclass(frozen=True)
class _Numbered:
    """One statement of an answer, by the numbers that are held against another's; NaN: not measured."""

    member: int
    numbers: tuple[float, ...]


def log_odds(
    answers: Sequence[Measured], names: Sequence[str] = (), weights: Mapping[str, float] = CAUSE
) -> Values:
    """The logarithm of the odds of one cause of each two answers, (N, N), where both are as likely before.

    names: of the files, in the same order; variants of one name are more likely to be of one cause.
    """
    total = np.full((len(answers),) * 2, weights["constant"])
    for name, values in (*_of_signatures(answers).items(), *_of_pictures(answers).items()):
        total += weights[name] * values
    total += best_statements(answers, weights)[0]
    if names:
        bases = np.unique([base_name(name) for name in names], return_inverse=True)[1]
        total += VARIANT * (bases[:, None] == bases[None])
    return total


def features_of(answers: Sequence[Measured], weights: Mapping[str, float] = CAUSE) -> Values:
    """Every feature of each two answers, (N, N, features); of their statements those of the most alike."""
    _, chosen = best_statements(answers, weights, keep=True)
    rest = {**_of_pictures(answers), **_of_signatures(answers)}
    return np.concatenate([chosen, np.stack([rest[name] for name in FEATURES[len(OF_STATEMENTS) :]], 2)], 2)


def best_statements(
    answers: Sequence[Measured], weights: Mapping[str, float], keep: bool = False
) -> tuple[Values, Values]:
    """How much the most alike statements of each two answers speak for one cause, (N, N); 0 where none is.

    Beside it their features (N, N, features), where they are to be kept.
    """
    count = len(answers)
    best = np.zeros((count, count))
    chosen = np.zeros((count, count, len(OF_STATEMENTS) if keep else 0))
    for entries in _of_one_kind(answers).values():
        members = np.array([entry.member for entry in entries])
        numbers = np.array([entry.numbers for entry in entries])
        features = _of_statements(numbers)
        values = sum(weights[name] * feature for name, feature in features.items()) * _alike(numbers)
        rows, columns = np.nonzero(values > 0)
        order = np.argsort(values[rows, columns], kind="stable")  # the best is written last
        rows, columns = rows[order], columns[order]
        better = values[rows, columns] > best[members[rows], members[columns]]
        rows, columns = rows[better], columns[better]
        best[members[rows], members[columns]] = values[rows, columns]
        if keep:
            found = np.stack([feature[rows, columns] for feature in features.values()], 1)
            chosen[members[rows], members[columns]] = found
    return best, chosen


def prior_of(odds: Values, usual: float, weight: float) -> float:
    """The logarithm of the odds that two pairs of a batch have one cause, before anything is seen of them.

    odds: (N, N) of ``log_odds``. The share of couples of one cause that makes them most likely, found by
    expectation and maximisation (Saerens et al. 2002), with ``weight`` couples of the ``usual`` share beside.
    """
    seen = odds[np.triu_indices(len(odds), 1)]
    share = usual
    for _ in range(STEPS):
        shifted = np.clip(seen + math.log(share / (1 - share)), -MOST, MOST)
        same = float((1 / (1 + np.exp(-shifted))).sum())
        before, share = share, (weight * usual + same) / (weight + len(seen))
        if abs(before - share) < CLOSE:
            break
    return math.log(share / (1 - share))


def part_distances(signatures: Sequence[Sequence[float]]) -> dict[str, Values]:
    """The distance of each part of each two signatures, (N, N) each: d / (d + HALF), from 0 to 1."""
    rows = np.array([signature or [0.0] * LENGTH for signature in signatures])
    distances = {}
    for name, place in PARTS.items():
        part = rows[:, place]
        distances[name] = np.sqrt(((part[:, None] - part[None]) ** 2).sum(axis=2))
    distances["places"] = _region_distances(rows)
    return {name: distance / (distance + HALF) for name, distance in distances.items()}


def _region_distances(rows: Values) -> Values:
    """How unlike the most alike places of each two pairs are, 0 to 1: in extent and in what changed."""
    extents, shapes = region_parts(rows)
    alike = np.einsum("ipc,jqc->ijpq", shapes, shapes)
    apart = np.abs(extents[:, None, :, None] - extents[None, :, None, :]).sum(axis=4)
    return np.asarray(np.clip(1 - alike + apart, 0.0, 1.0).min(axis=(2, 3)))


def _of_signatures(answers: Sequence[Measured]) -> dict[str, Values]:
    return part_distances([answer.signature for answer in answers])


def _of_pictures(answers: Sequence[Measured]) -> dict[str, Values]:
    """Whether the pictures of each two pairs have one size, and grew by as many pixels."""
    sizes = np.array([answer.size_after for answer in answers])
    growth = sizes - np.array([answer.size_before for answer in answers])
    grown = (growth[:, None] == growth[None]).all(axis=2) & growth.any(axis=1)
    return {
        "pictures of one size": (sizes[:, None] == sizes[None]).all(axis=2).astype(float),
        "grown alike": grown.astype(float),
    }


def _of_one_kind(answers: Sequence[Measured]) -> dict[tuple[str, ...], list[_Numbered]]:
    """The first statements of each answer, by kind, finer word and state."""
    entries: dict[tuple[str, ...], list[_Numbered]] = {}
    for member, answer in enumerate(answers):
        for one in answer.statements[:TOLD]:
            key = (str(one.kind), *(str(one.values.get(name)) for name in ("aspect", "state", "on_after")))
            same = entries.setdefault(key, [])
            if [entry.member for entry in same[-OF_ONE_KIND:]] != [member] * OF_ONE_KIND:
                same.append(_Numbered(member, _numbers(one)))
    return entries


def _numbers(one: Statement) -> tuple[float, ...]:
    """Colour after (3), step (2), how far the rest was pushed (2), left and top."""
    box = one.box_after or one.box_before
    step = [float(one.values.get(name, math.nan)) for name in ("dx", "dy")]
    push = one.values.get("rest") or [math.nan] * 2
    place = [math.nan] * 2 if box is None else box[:2]
    return (*levels(one.values.get("color_after")), *step, *map(float, push), *map(float, place))


def _of_statements(numbers: Values) -> dict[str, Values]:
    """Each feature of each two statements of one kind, (N, N); of what was not measured 0."""
    parts = (
        (slice(0, 3), SAME_COLOR),
        (slice(3, 5), 0.0),
        (slice(5, 7), 0.0),
        (slice(7, 8), SAME_PLACE),
        (slice(8, 9), SAME_PLACE),
    )
    features = {}
    for name, (part, most) in zip(OF_STATEMENTS, parts, strict=True):
        apart = np.abs(numbers[:, None, part] - numbers[None, :, part]).max(axis=2)
        features[name] = (apart <= most).astype(float)  # NaN is not
    return features


def _alike(numbers: Values) -> NDArray[np.bool_]:
    """Whether each two statements of one kind go to one side, and none to another colour."""
    sides = np.sign(np.nan_to_num(numbers[:, 3:5]))
    colors = np.abs(numbers[:, None, :3] - numbers[None, :, :3]).max(axis=2)
    one_side = (sides[:, None] == sides[None]).all(axis=2)
    return np.asarray(one_side & ~(colors > COLORS))
