"""Pairs that changed in the same way: found by what speaks for one cause, told once, odd ones first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whatchanged.compare.evidence import Values, log_odds, prior_of
from whatchanged.compare.shared import parted, shared_sentence
from whatchanged.measured.result import Measured, Statement

USUAL, COUPLES = 0.002, 3.0
"""The share of couples of one cause in an unknown batch, and as how many couples it counts."""
TRUST, LEAN = 1.5, 2.0
"""How the estimated share becomes the limit: what is seen of couples is not independent, so the estimate is
too low where a batch has few causes, and too high where it has many. Set on drawn batches and on unrelated
real pairs."""
FARTHEST = 40.0
"""Logarithm of the odds of which nothing larger counts, so that it is no distance at all."""
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
        odds = log_odds(
            [answers[index] for index in differing], [names[index] for index in differing] if names else []
        )
        distances = np.maximum(0.0, FARTHEST - odds)
        np.fill_diagonal(distances, 0.0)
        tree = hierarchy.linkage(squareform(distances, checks=False), "average")
        labels = hierarchy.fcluster(tree, FARTHEST - least_odds(odds), "distance")
    groups = []
    for label in np.unique(labels):
        members = [differing[k] for k in np.flatnonzero(labels == label)]
        groups += [_group(part, answers) for part in parted(members, answers)]
    return sorted(groups, key=lambda group: (-len(group.members), group.members))


def least_odds(odds: Values) -> float:
    """The logarithm of the odds, by what is seen of two pairs alone, from which on they have one cause.

    The more couples of a batch show the same, the likelier have two one cause that show it less clearly; in
    a batch of unrelated pairs it must be beyond doubt.
    """
    return -(TRUST * prior_of(odds, USUAL, COUPLES) + LEAN)


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
