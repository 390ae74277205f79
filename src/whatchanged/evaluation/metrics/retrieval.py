"""Retrieval between pairs and texts from their similarities: R@1, R@5, R@10, median and mean rank.

The definitions are those of CLIP4IDC (Guo, Wang, Laaksonen, AACL 2022; metrics.py of their code). For text
queries, the median of an even count is the lower of the middle two values; for pair queries, it is their
mean. Departure: ties are counted in two defined ways, named in the result. In the authors' code, the order of
a sort decides ties of text queries. For a pair query, their code searches the sorted row for the right item's
score, so that each tie adds a rank and the denominator grows; these numbers are reported too, as ``authors``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = NDArray[np.floating[Any]]

CUTOFFS = (1, 5, 10)
NUMBERS = (*(f"R@{cut}" for cut in CUTOFFS), "MdR", "MnR")
BLOCK = 1 << 24
"""Similarities looked at together."""


@dataclass(frozen=True)
class Ranks:
    """For each query: how many wrong items score higher than its best right item, and how many items have an
    equal score.
    """

    above: Ints
    wrong: Ints
    """Wrong items with the score of the best right item."""
    right: Ints
    """Right items with that score, the best one included: at least 1."""

    @property
    def expected(self) -> Floats:
        """Return the expected rank of the first right item under random order of ties: above + 1 + wrong /
        (right + 1).
        """
        return self.above + 1 + self.wrong / (self.right + 1)

    def expected_recall(self, cutoff: int) -> Floats:
        """Return the probability that a right item is among the first ``cutoff`` under random order of ties.

            1 - C(wrong, m) / C(wrong + right, m),   m = cut - above, at least 0

        the fraction of orders whose first m tied items include a right one.
        """
        miss = np.ones(len(self.above))
        for drawn in range(cutoff):
            within = self.above + drawn < cutoff
            left = np.maximum(self.wrong - drawn, 0) / np.maximum(self.wrong + self.right - drawn, 1)
            miss = np.where(within, miss * left, miss)
        return 1 - miss

    @property
    def tied_ranks(self) -> Ints:
        """Return every rank at which the score of a query's best right item occurs: above + 1, above +
        2, ...
        """
        equal = self.wrong + self.right
        within = np.arange(equal.sum()) - np.repeat(np.cumsum(equal) - equal, equal)
        found: Ints = np.repeat(self.above + 1, equal) + within
        return found


def ranks(similarity: Matrix, right: Sequence[Sequence[int]]) -> Ranks:
    """Return the ranks of each query (row) among the items (columns); ``right[q]``: its right items, at least
    one.
    """
    if len(right) != len(similarity) or not all(len(items) for items in right):
        raise PredictionsError("Every query of a retrieval needs at least one right item.")
    counted = np.empty((3, len(similarity)), np.int64)
    step = max(1, BLOCK // max(1, similarity.shape[1]))
    for first in range(0, len(similarity), step):
        block = np.asarray(similarity[first : first + step], np.float64)
        if not np.isfinite(block).all():
            raise PredictionsError("Some of the similarities are no finite numbers.")
        own = right[first : first + step]
        lengths = [len(items) for items in own]
        row = np.repeat(np.arange(len(own)), lengths)
        scores = block[row, np.concatenate([np.asarray(items, np.int64) for items in own])]
        best = np.maximum.reduceat(scores, np.cumsum([0, *lengths[:-1]]))
        equal_right = np.bincount(row, scores == best[row], len(own)).astype(np.int64)
        counted[0, first : first + step] = (block > best[:, None]).sum(axis=1)
        counted[1, first : first + step] = (block == best[:, None]).sum(axis=1) - equal_right
        counted[2, first : first + step] = equal_right
    return Ranks(*counted)


def rank_both(matrix: Matrix, owner: Ints, texts: Sequence[str] | None = None) -> tuple[Ranks, Ranks]:
    """Return the ranks of each text among the pairs, and of each pair among the pairs' sets of texts.

    ``matrix`` (pairs, texts); ``owner[t]``: the pair of text t, with at least one text for every pair. The
    texts of a pair count as one item, with the score of the best. With ``texts``, a pair that has the
    identical text is right, too; without them only the text's own pair is.
    """
    pairs = np.arange(len(matrix))
    if texts is None:
        of_texts = [[int(pair)] for pair in owner]
        of_pairs = [[int(pair)] for pair in pairs]
    else:
        of_texts, of_pairs = _with_equal_texts(len(pairs), owner, texts)
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], pairs)
    # Row by row: the matrix may lie on disk.
    best = [np.maximum.reduceat(matrix[i : i + 1][:, order], starts, axis=1) for i in pairs]
    return ranks(matrix.T, of_texts), ranks(np.concatenate(best), of_pairs)


def summary(ranks: Ranks, of_texts: bool = False) -> dict[str, Any]:
    """Return R@k in percent, median and mean rank from 1, for ``optimistic`` (won) and ``expected`` (random)
    ties.

    ``of_texts``: use the lower median, and omit the numbers of ``authors``, whose mean is over
    ``Ranks.places``.
    """
    median = lower_median if of_texts else _median
    first, expected = ranks.above + 1, ranks.expected
    blocks: dict[str, Any] = {
        "queries": len(first),
        "tied": int((ranks.wrong > 0).sum()),
        "optimistic": _numbers([first <= cut for cut in CUTOFFS], first, median),
        "expected": _numbers([ranks.expected_recall(cut) for cut in CUTOFFS], expected, median),
    }
    if not of_texts:
        places = ranks.tied_ranks
        blocks["authors"] = _numbers([places <= cut for cut in CUTOFFS], places, median)
    return blocks


def weighted(ranks: Ranks, of_texts: bool = False) -> dict[str, Callable[[Floats], Floats]]:
    """Return the numbers of ``summary`` (B, 5), for both ways to count ties, where queries are weighted by
    (B, Q).
    """
    first = np.asarray(ranks.above + 1, np.float64)
    return {
        "optimistic": _weighted(first, [ranks.above < cut for cut in CUTOFFS], of_texts),
        "expected": _weighted(ranks.expected, [ranks.expected_recall(cut) for cut in CUTOFFS], of_texts),
    }


def lower_median(values: Floats | Ints) -> float:
    """Return the middle value, or for an even count the lower one of the two."""
    return float(np.sort(values)[(len(values) - 1) // 2])


def _numbers(
    recalled: Sequence[NDArray[Any]], rank: Floats | Ints, median: Callable[[Floats | Ints], float]
) -> dict[str, float]:
    """Return R@k from the recall at each cutoff, median and mean rank."""
    shares = [100 * float(hits.mean()) for hits in recalled]
    return dict(zip(NUMBERS, [*shares, median(rank), float(rank.mean())], strict=True))


def _median(values: Floats | Ints) -> float:
    return float(np.median(values))


def _with_equal_texts(
    pairs: int, owner: Ints, texts: Sequence[str]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the right pairs of each text, and the right texts of each pair.

    Identical texts of other pairs are right, too.
    """
    having: dict[str, set[int]] = {}
    for text, pair in zip(texts, owner, strict=True):
        having.setdefault(text, set()).add(int(pair))
    of_texts = [sorted(having[text]) for text in texts]
    of_pairs: list[set[int]] = [set() for _ in range(pairs)]
    for items, pair in zip(of_texts, owner, strict=True):
        of_pairs[pair].update(items)
    return of_texts, [sorted(items) for items in of_pairs]


def _weighted(
    rank: Floats, recalled: Sequence[Floats | NDArray[np.bool_]], of_texts: bool
) -> Callable[[Floats], Floats]:
    """Return R@k, median and mean rank (B, 5) for queries weighted by (B, Q)."""
    order = np.argsort(rank)
    ordered = rank[order]
    columns = np.column_stack([*(100.0 * hits for hits in recalled), rank])

    def numbers(times: Floats) -> Floats:
        total = times.sum(axis=1)
        means = times @ columns / total[:, None]
        seen = np.cumsum(times[:, order], axis=1)
        low, high = (
            ordered[(seen <= middle[:, None]).sum(axis=1)] for middle in ((total - 1) // 2, total // 2)
        )
        median = low if of_texts else (low + high) / 2
        return np.column_stack([means[:, :-1], median, means[:, -1]])

    return numbers
