"""The evidence that two answers have the same cause: their most similar statements, and their signatures.

The evidence consists of features. The log-odds are the weighted sum of the features. The weights were fitted
by logistic regression on couples (two pairs of a batch) from drawn and real commits. Couples with a common
cause and couples without one had the same total weight. The prior probability of a common cause is estimated
from the batch itself (``prior_of``).
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
"""The number of statements of each answer that are compared, starting with the first."""
OF_ONE_KIND = 2
"""The largest number of compared statements with the same kind in one answer."""
SAME_COLOR = 12.0
"""The largest difference, in levels, between two measurements of the same colour."""
SAME_PLACE = 2.0
"""The largest distance, in pixels, between the edges of elements at the same position."""
HALF = 0.5
"""The distance between parts of two signatures at which the scaled distance is one half."""
VARIANT = 1.0
"""The value added to the log-odds if the names are variants of one name."""

STEPS, CLOSE = 50, 1e-5
"""The largest number of steps of the estimate, and the change of the share below which the estimate has
converged.
"""
MOST = 50.0
"""The limit to which log-odds are clipped. Log-odds at this limit are practically certain."""

OF_STATEMENTS = ("one colour after", "one step", "one push", "one left", "one top")
"""The features that compare two statements: the colour after, the step of the element, the shift of the other
content, and the left and top of the box. A feature is 1 if the two statements agree and 0 otherwise.
"""
OF_PICTURES = ("pictures of one size", "grown alike")
OF_SIGNATURES = (*PARTS, "places")
FEATURES = (*OF_STATEMENTS, *OF_PICTURES, *OF_SIGNATURES)


@dataclass(frozen=True)
class _Numbered:
    """The numbers of one statement that are compared with the numbers of another statement.

    A number that was not measured is NaN.
    """

    member: int
    numbers: tuple[float, ...]


def log_odds(
    answers: Sequence[Measured], names: Sequence[str] = (), weights: Mapping[str, float] = CAUSE
) -> Values:
    """Return the log-odds that each two answers have one cause, (N, N), for equal prior probabilities.

    names: the file names, in the same order. Variants of one name are more likely to have one cause.
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
    """Return every feature of each two answers, (N, N, features).

    The features that compare statements are computed from the most similar statements of the two answers.
    """
    _, chosen = best_statements(answers, weights, keep=True)
    rest = {**_of_pictures(answers), **_of_signatures(answers)}
    return np.concatenate([chosen, np.stack([rest[name] for name in FEATURES[len(OF_STATEMENTS) :]], 2)], 2)


def best_statements(
    answers: Sequence[Measured], weights: Mapping[str, float], keep: bool = False
) -> tuple[Values, Values]:
    """Return the evidence from the most similar statements of each two answers, (N, N); 0 without any.

    The second result holds the features of these statements, (N, N, features), if ``keep`` is True.
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
        order = np.argsort(values[rows, columns], kind="stable")  # the best is assigned last
        rows, columns = rows[order], columns[order]
        better = values[rows, columns] > best[members[rows], members[columns]]
        rows, columns = rows[better], columns[better]
        best[members[rows], members[columns]] = values[rows, columns]
        if keep:
            found = np.stack([feature[rows, columns] for feature in features.values()], 1)
            chosen[members[rows], members[columns]] = found
    return best, chosen


def prior_of(odds: Values, usual: float, weight: float) -> float:
    """Return the prior log-odds that two pairs of a batch have one cause.

    The result is the log-odds of the share of couples with one cause that maximises the likelihood. It is
    found by expectation maximisation (Saerens et al. 2002). The ``usual`` share enters as ``weight``
    additional couples.

    odds: the (N, N) result of ``log_odds``.
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
    """Return the scaled distance d / (d + HALF), from 0 to 1, of each part of each two signatures, (N, N)."""
    rows = np.array([signature or [0.0] * LENGTH for signature in signatures])
    distances = {}
    for name, place in PARTS.items():
        part = rows[:, place]
        distances[name] = np.sqrt(((part[:, None] - part[None]) ** 2).sum(axis=2))
    distances["places"] = _region_distances(rows)
    return {name: distance / (distance + HALF) for name, distance in distances.items()}


def _region_distances(rows: Values) -> Values:
    """Return the difference of the most similar regions of each two pairs, (N, N), from 0 to 1.

    The difference combines the extent of the regions and their content.
    """
    extents, shapes = region_parts(rows)
    alike = np.einsum("ipc,jqc->ijpq", shapes, shapes)
    apart = np.abs(extents[:, None, :, None] - extents[None, :, None, :]).sum(axis=4)
    return np.asarray(np.clip(1 - alike + apart, 0.0, 1.0).min(axis=(2, 3)))


def _of_signatures(answers: Sequence[Measured]) -> dict[str, Values]:
    return part_distances([answer.signature for answer in answers])


def _of_pictures(answers: Sequence[Measured]) -> dict[str, Values]:
    """Return whether the pictures of each two pairs have the same size and grew by the same amount."""
    sizes = np.array([answer.size_after for answer in answers])
    growth = sizes - np.array([answer.size_before for answer in answers])
    grown = (growth[:, None] == growth[None]).all(axis=2) & growth.any(axis=1)
    return {
        "pictures of one size": (sizes[:, None] == sizes[None]).all(axis=2).astype(float),
        "grown alike": grown.astype(float),
    }


def _of_one_kind(answers: Sequence[Measured]) -> dict[tuple[str, ...], list[_Numbered]]:
    """Return the first statements of each answer, grouped by kind, aspect and state."""
    entries: dict[tuple[str, ...], list[_Numbered]] = {}
    for member, answer in enumerate(answers):
        for one in answer.statements[:TOLD]:
            key = (str(one.kind), *(str(one.values.get(name)) for name in ("aspect", "state", "on_after")))
            same = entries.setdefault(key, [])
            if [entry.member for entry in same[-OF_ONE_KIND:]] != [member] * OF_ONE_KIND:
                same.append(_Numbered(member, _numbers(one)))
    return entries


def _numbers(one: Statement) -> tuple[float, ...]:
    """Return the numbers of a statement: colour after (3), step (2), shift of other content (2), left and
    top.
    """
    box = one.box_after or one.box_before
    step = [float(one.values.get(name, math.nan)) for name in ("dx", "dy")]
    push = one.values.get("rest") or [math.nan] * 2
    place = [math.nan] * 2 if box is None else box[:2]
    return (*levels(one.values.get("color_after")), *step, *map(float, push), *map(float, place))


def _of_statements(numbers: Values) -> dict[str, Values]:
    """Return each feature of each two statements of one kind, (N, N).

    A feature is 0 if a number of one of the statements was not measured.
    """
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
        features[name] = (apart <= most).astype(float)  # False for NaN
    return features


def _alike(numbers: Values) -> NDArray[np.bool_]:
    """Return whether each two statements have the same direction and do not have different colours."""
    sides = np.sign(np.nan_to_num(numbers[:, 3:5]))
    colors = np.abs(numbers[:, None, :3] - numbers[None, :, :3]).max(axis=2)
    one_side = (sides[:, None] == sides[None]).all(axis=2)
    return np.asarray(one_side & ~(colors > COLORS))
