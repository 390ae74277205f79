"""Pairs that changed in the same way: found by their signatures, told once, odd ones first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.compare.names import base_name
from whatchanged.compare.shared import parted, shared_sentence
from whatchanged.compare.subtract import same_changes
from whatchanged.measured.fitted import FAR, WEIGHTS
from whatchanged.measured.result import Measured, Statement
from whatchanged.measured.signature import LENGTH, PARTS, region_parts

HALF = 0.5
"""The distance of a part that speaks half as much as any distance can."""
VARIANT = 0.5
"""How much is left of what speaks against one cause where two names are variants of one another."""
CAUTION = 0.45
"""Of the distance up to which drawn pairs have one cause: real pairs of other causes lie nearer than those.
Only two that show the same change, by all its measures, may lie as far from each other as drawn ones."""
NEAR = CAUTION * FAR
"""Pairs of a mean distance above this one are told as of other causes."""
NOTHING_SHARED = "Something changed."
"""Said of pairs of one cause that no statement tells, such as those that are close to noise."""


@dataclass(frozen=True)
class AlikePairs:
    """Pairs of one cause.

    members   their indices, those with something beyond the common change first
    odd       the members that show something beyond it
    sentence  what they share
    """

    members: tuple[int, ...]
    odd: tuple[int, ...]
    sentence: str


def find_groups(answers: Sequence[Measured], names: Sequence[str] = ()) -> list[AlikePairs]:
    """Groups of the pairs that changed, the largest first; every one is in a group, if only of its own.

    A group's members share a statement, which its sentence tells. Pairs without a visible change are in none.
    names: of the pairs' files, in the same order; variants of one name are more likely to be of one cause.
    """
    from scipy.cluster import hierarchy  # slow to import
    from scipy.spatial.distance import squareform

    differing = [index for index, answer in enumerate(answers) if answer.changed]
    if not differing:
        return []
    labels = np.ones(len(differing), int)
    if len(differing) > 1:
        distances = cause_distances(
            [answers[index] for index in differing], [names[index] for index in differing] if names else []
        )
        tree = hierarchy.linkage(squareform(distances, checks=False), "average")
        labels = hierarchy.fcluster(tree, NEAR, "distance")
    groups = []
    for label in np.unique(labels):
        members = [differing[k] for k in np.flatnonzero(labels == label)]
        groups += [_group(part, answers) for part in parted(members, answers)]
    return sorted(groups, key=lambda group: (-len(group.members), group.members))


def cause_distances(answers: Sequence[Measured], names: Sequence[str] = ()) -> NDArray[np.float64]:
    """How much speaks against one cause of each two answers, (N, N): less where they show the same change."""
    distances = pair_distances([answer.signature for answer in answers], names)
    return np.where(same_changes(answers), CAUTION * distances, distances)


def pair_distances(signatures: Sequence[Sequence[float]], names: Sequence[str] = ()) -> NDArray[np.float64]:
    """How much speaks against one cause of each two pairs, (N, N)."""
    parts = part_distances(signatures)
    total = np.asarray(sum(WEIGHTS[name] * distance for name, distance in parts.items()))
    if names:
        bases = [base_name(name) for name in names]
        variants = np.array([[one == other for other in bases] for one in bases])
        total = np.where(variants, VARIANT * total, total)
    np.fill_diagonal(total, 0.0)
    return total


def part_distances(signatures: Sequence[Sequence[float]]) -> dict[str, NDArray[np.float64]]:
    """The distance of each part of each two signatures, (N, N) each: d / (d + HALF), from 0 to 1."""
    rows = np.array([signature or [0.0] * LENGTH for signature in signatures])
    distances = {}
    for name, place in PARTS.items():
        part = rows[:, place]
        distances[name] = np.sqrt(((part[:, None] - part[None]) ** 2).sum(axis=2))
    distances["places"] = _region_distances(rows)
    return {name: distance / (distance + HALF) for name, distance in distances.items()}


def _region_distances(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """How unlike the most alike places of each two pairs are, 0 to 1: in extent and in what changed."""
    extents, shapes = region_parts(rows)
    alike = np.einsum("ipc,jqc->ijpq", shapes, shapes)
    apart = np.abs(extents[:, None, :, None] - extents[None, :, None, :]).sum(axis=4)
    return np.asarray(np.clip(1 - alike + apart, 0.0, 1.0).min(axis=(2, 3)))


def _group(members: Sequence[int], answers: Sequence[Measured]) -> AlikePairs:
    """A group with its words; who has a kind of change that most others lack comes first."""
    shown = {index: {_gist(one) for one in answers[index].statements} for index in members}
    counts = Counter(gist for gists in shown.values() for gist in gists)
    common = {gist for gist, count in counts.items() if 2 * count >= len(members)}
    odd = [index for index in members if len(members) > 2 and shown[index] - common]
    rest = [index for index in members if index not in odd]
    odd.sort(key=lambda index: (-len(shown[index] - common), index))
    sentence = shared_sentence([answers[index] for index in members]) or NOTHING_SHARED
    return AlikePairs((*odd, *rest), tuple(odd), sentence)


def _gist(statement: Statement) -> tuple[str, str]:
    """What two statements must share to say the same."""
    return str(statement.kind), str(statement.values.get("aspect"))
