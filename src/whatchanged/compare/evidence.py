"""The evidence that two answers have the same cause: their most similar statements, and their signatures.

The evidence consists of features. The log-odds are the weighted sum of the features. The weights were fitted
by logistic regression on couples (two pairs of a batch) from drawn and real commits. Couples with a common
cause and couples without one had the same total weight. The prior probability of a common cause is estimated
from the batch itself (``prior_of``).
"""

import math
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from whatchanged.compare.names import base_name
from whatchanged.compare.shared import FAMILIES
from whatchanged.compare.subtract import COLORS, levels
from whatchanged.measured.fitted import CAUSE
from whatchanged.measured.result import Measured, Statement
from whatchanged.measured.signature import (
    LENGTH,
    PARTS,
    came_parts,
    color_parts,
    look_parts,
    region_parts,
)

Values = NDArray[np.float64]

TOLD = 4
"""The number of statements of each answer that are compared, starting with the first."""
ALIKE = ("aspect", "state", "on_after", "grew")
"""The values that are equal in similar statements."""
OF_ONE_KIND = 2
"""The largest number of compared statements with the same kind in one answer."""
SAME_COLOR = 12.0
"""The largest difference, in levels, between two measurements of the same colour."""
SAME_PLACE = 2.0
"""The largest distance, in pixels, between the edges of elements at the same position."""
SHORT, LONG = 3, 8
"""The least lengths, in pixels, of a distance that two pairs may share by one cause.

Distances of one or two pixels are often equal by chance, and those from eight on seldom.
"""
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

_COMPARED = {
    "one colour after": (3, SAME_COLOR),
    "one colour before": (3, SAME_COLOR),
    "one step": (2, 0.0),
    "one move": (2, 0.0),
    "one growth": (2, 0.0),
    "one push": (2, 0.0),
    "one top": (1, SAME_PLACE),
}
"""The numbers that are compared of two similar statements, and the largest difference of equal numbers.

The colours after and before, the measured step of the element, the distance between its boxes, the growth of
its box, the shift of the other content, and the top of the box.
"""
_ENDS = tuple(accumulate(count for count, _ in _COMPARED.values()))
_NUMBERS = {
    name: slice(end - count, end) for end, (name, (count, _)) in zip(_ENDS, _COMPARED.items(), strict=True)
}
OF_STATEMENTS = ("similar statements", *_COMPARED)
"""The features that compare two similar statements. A feature is 1 if their numbers agree and 0 otherwise."""
OF_PICTURES = (
    "grown alike",
    "one first change",
    "two changes",
    "kinds of change",
    "one distance",
    "one long distance",
    "new colours",
    "colours that came",
    "looks",
)
"""The features that compare two pairs, from 0 to 1.

The same growth of the pictures, the same kind and aspect of the first statement, two common kinds and aspects
of any statements, the common fraction of the families of kinds, an equal distance in any two statements (a
length of ``SHORT`` or ``LONG`` at least), the common fraction of the most frequent new colours, a common
colour among those that only the pictures after have, and the correlation of the objects that look most alike
both before and after the change.
"""
DIFFERENCES = (*PARTS, "places", "colours in one")
"""The features that are differences between two pairs, from 0 to 1.

The scaled distances of the parts of their signatures and of their most similar regions; and whether colours
came in only one of the two.
"""
FEATURES = (*OF_STATEMENTS, *OF_PICTURES, *DIFFERENCES)


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
    for name, values in (*_differences(answers).items(), *_of_pictures(answers).items()):
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
    rest = {**_of_pictures(answers), **_differences(answers)}
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
    rows = _rows(signatures)
    distances = {}
    for name, place in PARTS.items():
        distances[name] = _distances(rows[:, place])
    distances["places"] = _region_distances(rows)
    return {name: distance / (distance + HALF) for name, distance in distances.items()}


def _distances(rows: Values) -> Values:
    """Return the Euclidean distance of each two rows (N, K), (N, N)."""
    squares = (rows**2).sum(axis=1)
    results = np.sqrt(np.maximum(0.0, squares[:, None] + squares[None] - 2 * rows @ rows.T))
    np.fill_diagonal(results, 0.0)
    return np.asarray(results)


def _region_distances(rows: Values) -> Values:
    """Return the difference of the most similar regions of each two pairs, (N, N), from 0 to 1.

    The difference combines the extent of the regions and their content.
    """
    extents, shapes = region_parts(rows)
    least = np.ones((len(rows),) * 2)
    for one in range(shapes.shape[1]):
        for other in range(shapes.shape[1]):
            apart = 1 - shapes[:, one] @ shapes[:, other].T
            for axis in range(extents.shape[2]):
                apart += np.abs(extents[:, None, one, axis] - extents[None, :, other, axis])
            least = np.minimum(least, apart)
    return np.maximum(0.0, least)


def _rows(signatures: Sequence[Sequence[float]]) -> Values:
    """Return signatures as rows (N, L); zeros for an answer without one."""
    return np.array([signature or [0.0] * LENGTH for signature in signatures])


def _signatures(answers: Sequence[Measured]) -> Values:
    return _rows([answer.signature for answer in answers])


def _differences(answers: Sequence[Measured]) -> dict[str, Values]:
    """Return each feature of ``DIFFERENCES`` of each two pairs, (N, N)."""
    came = np.asarray(came_parts(_signatures(answers))[1].any(axis=1))
    return {
        **part_distances([answer.signature for answer in answers]),
        "colours in one": (came[:, None] != came[None]).astype(float),
    }


def _of_pictures(answers: Sequence[Measured]) -> dict[str, Values]:
    """Return each feature of ``OF_PICTURES`` of each two pairs, (N, N)."""
    sizes = np.array([answer.size_after for answer in answers])
    growth = sizes - np.array([answer.size_before for answer in answers])
    grown = (growth[:, None] == growth[None]).all(axis=2) & growth.any(axis=1)
    firsts = [{_way(one) for one in answer.statements[:1]} for answer in answers]
    ways = [{_way(one) for one in answer.statements[:TOLD]} for answer in answers]
    distances = [_lengths(answer) for answer in answers]
    long = [{length for length in own if abs(length) >= LONG} for own in distances]
    rows = _signatures(answers)
    return {
        "grown alike": grown.astype(float),
        "one first change": _have_common(firsts),
        "two changes": _have_common(ways, 2),
        "kinds of change": _common_families(answers),
        "one distance": _have_common(distances),
        "one long distance": _have_common(long),
        "new colours": _common_colors(*color_parts(rows)),
        "colours that came": _one_color(*came_parts(rows)),
        "looks": _most_alike_looks(look_parts(rows)),
    }


def _way(one: Statement) -> str:
    return f"{one.kind} {one.values.get('aspect')}"


def _lengths(answer: Measured) -> set[int]:
    """Return the signed distances, in pixels, by which things moved or grew or shifted the rest."""
    found: set[int] = set()
    for one in answer.statements[:TOLD]:
        steps = [one.values.get(name) or 0 for name in ("dx", "dy")]
        known = [length for length in _between(one) if not math.isnan(length)]
        found |= {round(length) for length in (*steps, *(one.values.get("rest") or ()), *known)}
    return {length for length in found if abs(length) >= SHORT}


def _have_common(sets: Sequence[Set[Hashable]], least: int = 1) -> Values:
    """Return 1 for each two sets with at least this many common elements, else 0, (N, N)."""
    return (_common(sets) >= least).astype(float)


def _common(sets: Sequence[Set[Hashable]]) -> Values:
    """Return the number of common elements of each two sets, (N, N)."""
    number = {name: place for place, name in enumerate(set().union(*sets))}
    held = np.zeros((len(sets), len(number)))
    for row, own in enumerate(sets):
        held[row, [number[name] for name in own]] = 1
    return np.asarray(held @ held.T)


def _one_color(colors: Values, present: NDArray[np.bool_]) -> Values:
    """Return 1 where two answers have a common colour among colours (N, K, 3) that are present (N, K)."""
    common = np.zeros((len(colors),) * 2, bool)
    for one in range(colors.shape[1]):
        for other in range(colors.shape[1]):
            apart = np.abs(colors[:, None, one] - colors[None, :, other]).max(axis=2)
            common |= (apart <= SAME_COLOR) & present[:, None, one] & present[None, :, other]
    return common.astype(float)


def _common_families(answers: Sequence[Measured]) -> Values:
    """Return the number of the common families of kinds as a fraction of all families of both, (N, N)."""
    common = _common([{_family(one) for one in answer.statements[:TOLD]} for answer in answers])
    own = np.diagonal(common)
    either = own[:, None] + own[None] - common
    return np.where(either > 0, common / np.maximum(either, 1), 1.0)


def _family(one: Statement) -> str:
    return FAMILIES.get(str(one.kind), str(one.kind))


def _common_colors(colors: Values, shares: Values) -> Values:
    """Return the common fraction of colours (N, K, 3) with the given fractions (N, K), (N, N)."""
    count = colors.shape[1]
    common = np.zeros((len(colors),) * 2)
    for one in range(count):
        best = np.zeros_like(common)
        for other in range(count):
            both = np.minimum(shares[:, None, one], shares[None, :, other])
            for channel in range(colors.shape[2]):
                apart = np.abs(colors[:, None, one, channel] - colors[None, :, other, channel])
                both[apart > SAME_COLOR] = 0.0
            best = np.maximum(best, both)
        common += best
    return np.minimum(common, common.T)


def _most_alike_looks(looks: Values) -> Values:
    """Return the correlation of the two objects that look most alike of looks (N, 3, 2, cells), (N, N).

    Both objects must be present in the same pictures. If they are present in both, the smaller correlation
    counts. The result is at least 0.
    """
    present = (looks != 0).any(axis=3)
    best = np.zeros((len(looks),) * 2)
    for one in range(looks.shape[1]):
        for other in range(looks.shape[1]):
            here, there = present[:, one], present[:, other]
            comparable = (here[:, None] == there[None]).all(axis=2) & here.any(axis=1)[:, None]
            alike = np.ones_like(best)
            for end in range(looks.shape[2]):
                both = here[:, end][:, None] & there[:, end][None]
                correlation = looks[:, one, end] @ looks[:, other, end].T
                alike = np.where(both, np.minimum(alike, correlation), alike)
            best = np.maximum(best, np.where(comparable, alike, 0.0))
    return best


def _of_one_kind(answers: Sequence[Measured]) -> dict[tuple[str, ...], list[_Numbered]]:
    """Return the first statements of each answer, grouped by kind, aspect and state."""
    entries: dict[tuple[str, ...], list[_Numbered]] = {}
    for member, answer in enumerate(answers):
        for one in answer.statements[:TOLD]:
            key = (str(one.kind), *(str(one.values.get(name)) for name in ALIKE))
            same = entries.setdefault(key, [])
            if [entry.member for entry in same[-OF_ONE_KIND:]] != [member] * OF_ONE_KIND:
                same.append(_Numbered(member, _numbers(one)))
    return entries


def _numbers(one: Statement) -> tuple[float, ...]:
    """Return the numbers of ``_COMPARED`` of a statement, in their order."""
    values = one.values
    box = one.box_after or one.box_before
    step = [float(values.get(name, math.nan)) for name in ("dx", "dy")]
    push = [float(length) for length in values.get("rest") or [math.nan] * 2]
    colors = (*levels(values.get("color_after")), *levels(values.get("color_before")))
    top = math.nan if box is None else float(box[1])
    return (*colors, *step, *_between(one), *push, top)


def _between(one: Statement) -> list[float]:
    """Return the distance between the boxes of a statement (2) and the growth of its box (2); NaN for 0."""
    if one.box_before is None or one.box_after is None:
        return [math.nan] * 4
    left, top, right, bottom = (
        after - before for before, after in zip(one.box_before, one.box_after, strict=True)
    )
    move, growth = [float(left), float(top)], [float(right - left), float(bottom - top)]
    return [*(move if any(move) else [math.nan] * 2), *(growth if any(growth) else [math.nan] * 2)]


def _of_statements(numbers: Values) -> dict[str, Values]:
    """Return each feature of each two statements of one kind, (N, N).

    A feature is 0 if a number of one of the statements was not measured.
    """
    features = {"similar statements": np.ones((len(numbers),) * 2)}
    for name, (_, most) in _COMPARED.items():
        part = numbers[:, _NUMBERS[name]]
        apart = np.abs(part[:, None] - part[None]).max(axis=2)
        features[name] = (apart <= most).astype(float)  # False for NaN
    return features


def _alike(numbers: Values) -> NDArray[np.bool_]:
    """Return whether each two statements have the same direction and do not have different colours."""
    sides = np.sign(np.nan_to_num(numbers[:, _NUMBERS["one step"]]))
    after = numbers[:, _NUMBERS["one colour after"]]
    colors = np.abs(after[:, None] - after[None]).max(axis=2)
    one_side = (sides[:, None] == sides[None]).all(axis=2)
    return np.asarray(one_side & ~(colors > COLORS))
