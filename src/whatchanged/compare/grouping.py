"""Find pairs that changed in the same way.

Pairs are clustered by the evidence that two pairs have one cause.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whatchanged.compare.evidence import Values, log_odds, prior_of
from whatchanged.compare.shared import parted, shared_sentence
from whatchanged.measured.result import Measured, Statement

USUAL, COUPLES = 0.002, 3.0
"""The usual share of couples (two pairs of a batch) with one cause, and the weight of this prior."""
LEAN = 0.5
"""The value added to the estimated prior log-odds.

The couples in a batch are not independent, so the estimate is too low for a batch with few causes. The value
was set on drawn batches, on real commits and on unrelated real pairs.
"""
LEAST = 0.0
"""The smallest limit. Below it, the evidence of two pairs alone speaks against one cause."""
FARTHEST = 40.0
"""The log-odds at which the distance is zero. Larger log-odds are clipped to this value."""
NOTHING_SHARED = "Something changed."
"""The sentence for pairs with one cause but no common statement, such as pairs close to noise."""


@dataclass(frozen=True)
class AlikePairs:
    """Pairs that have one cause.

    members   the indices of the pairs; the odd members come first
    odd       the members that show a further change in addition to the common one
    sentence  a sentence about the common change
    """

    members: tuple[int, ...]
    odd: tuple[int, ...]
    sentence: str


def find_groups(answers: Sequence[Measured], names: Sequence[str] = ()) -> list[AlikePairs]:
    """Return the groups of the pairs that changed, largest first.

    Every pair that changed is in a group. A group may contain a single pair. The sentence of a group is true
    of every member. Pairs without a visible change are in no group.

    names: the file names of the pairs, in the same order. Variants of one name are more likely to have one
        cause.
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
    """Return the smallest log-odds, from the evidence about two pairs alone, at which they have one cause.

    The limit is lower if more couples of the batch agree. Less evidence is then sufficient for two pairs. In
    a batch of unrelated pairs, the limit is high.
    """
    return max(LEAST, -(prior_of(odds, USUAL, COUPLES) + LEAN))


def _group(members: Sequence[int], answers: Sequence[Measured]) -> AlikePairs:
    """Return a group with its sentence.

    Members with an unusual kind of change come first. A kind of change is unusual if most other members do
    not have this kind.
    """
    shown = {index: {_gist(one) for one in answers[index].statements} for index in members}
    counts = Counter(gist for gists in shown.values() for gist in gists)
    common = {gist for gist, count in counts.items() if 2 * count >= len(members)}
    odd = [index for index in members if len(members) > 2 and shown[index] - common]
    rest = [index for index in members if index not in odd]
    odd.sort(key=lambda index: (-len(shown[index] - common), index))
    sentence = shared_sentence([answers[index] for index in members]) or NOTHING_SHARED
    return AlikePairs((*odd, *rest), tuple(odd), sentence)


def _gist(statement: Statement) -> tuple[str, str]:
    """Return the properties that two statements must share to count as the same change."""
    return str(statement.kind), str(statement.values.get("aspect"))
