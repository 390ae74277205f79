"""Scores that are functions of sums over pairs.

The score of a corpus follows from sums over its pairs: BLEU from counts, METEOR from its 23 statistics, means
and shares from a sum and a count. A bootstrap resample only changes how often each pair is added, so one
matrix product scores a thousand resamples. Intervals and paired comparisons use only this interface of a
metric.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Additive:
    """M scores of P pairs, in percent: ``formula`` turns sums (..., K) into scores (..., M)."""

    names: tuple[str, ...]
    rows: Floats
    """(P, K): the statistics that each pair adds to the sums."""
    formula: Callable[[Floats], Floats]
    parts: tuple["Additive", ...] = ()
    """The parts that were joined, if any."""

    def values(self, weights: Floats | None = None) -> Floats:
        """Return the scores (..., M) where pair i is added ``weights[..., i]`` times; None: each once."""
        return self.formula(self.rows.sum(axis=0) if weights is None else weights @ self.rows)

    def only(self, names: Collection[str]) -> "Additive":
        """Return the parts whose names are all among ``names``."""
        kept = [part for part in self.parts if set(part.names) <= set(names)]
        return self if len(kept) == len(self.parts) else joined(kept)

    def take(self, pairs: NDArray[np.int64]) -> "Additive":
        """Return the same scores for some of the pairs."""
        parts = tuple(part.take(pairs) for part in self.parts)
        return Additive(self.names, self.rows[pairs], self.formula, parts)


def mean(name: str, scores: Floats) -> Additive:
    """Return 100 times the mean of the pairs' own scores (P,)."""
    return ratios([name], scores[:, None], np.ones((len(scores), 1)))


def shares(names: Sequence[str], hits: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Additive:
    """Return 100 sum(hits and counted) / sum(counted) of each column of (P, M); NaN where none is counted."""
    return ratios(names, (hits & counted).astype(float), counted.astype(float))


def ratios(names: Sequence[str], above: Floats, below: Floats) -> Additive:
    """Return 100 sum(above) / sum(below) of each column of (P, M); NaN where ``below`` sums to 0."""
    columns = len(names)

    def formula(totals: Floats) -> Floats:
        total, count = totals[..., :columns], totals[..., columns:]
        share: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return 100 * share

    return Additive(tuple(names), np.hstack([above, below]), formula)


def joined(parts: Sequence[Additive]) -> Additive:
    """Return all scores of several parts of the same pairs, side by side."""
    edges = np.cumsum([part.rows.shape[1] for part in parts])[:-1]

    def formula(totals: Floats) -> Floats:
        own = np.split(totals, edges, axis=-1)
        return np.concatenate([part.formula(t) for part, t in zip(parts, own, strict=True)], axis=-1)

    names = tuple(name for part in parts for name in part.names)
    return Additive(names, np.hstack([part.rows for part in parts]), formula, tuple(parts))
