"""Numbers of a report as functions of totals over pairs.

A corpus is scored by what its pairs add up to: BLEU by counts, METEOR by its 23 statistics, means and shares
by a total and a count. A resample only changes how often each pair is added, so one matrix product scores a
thousand of them. Intervals and comparisons need nothing else of a metric.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Additive:
    """M numbers of P pairs, in percent: ``formula`` turns totals (..., K) into numbers (..., M)."""

    names: tuple[str, ...]
    rows: Floats
    """(P, K): what each pair adds to the totals."""
    formula: Callable[[Floats], Floats]
    parts: tuple["Additive", ...] = ()
    """The parts that it was joined from, if it was."""

    def values(self, weights: Floats | None = None) -> Floats:
        """The numbers (..., M) where pair i is added ``weights[..., i]`` times; None: each once."""
        return self.formula(self.rows.sum(axis=0) if weights is None else weights @ self.rows)

    def only(self, names: Collection[str]) -> "Additive":
        """The parts whose names are all among ``names``."""
        kept = [part for part in self.parts if set(part.names) <= set(names)]
        return self if len(kept) == len(self.parts) else joined(kept)

    def take(self, pairs: NDArray[np.int64]) -> "Additive":
        """The same numbers of some of the pairs."""
        parts = tuple(part.take(pairs) for part in self.parts)
        return Additive(self.names, self.rows[pairs], self.formula, parts)


def mean(name: str, scores: Floats) -> Additive:
    """100 times the mean of the pairs' own scores (P,)."""
    return ratios([name], scores[:, None], np.ones((len(scores), 1)))


def shares(names: Sequence[str], hits: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Additive:
    """100 sum(hits and counted) / sum(counted) of each column of (P, M); NaN where none is counted."""
    return ratios(names, (hits & counted).astype(float), counted.astype(float))


def ratios(names: Sequence[str], above: Floats, below: Floats) -> Additive:
    """100 sum(above) / sum(below) of each column of (P, M); NaN where ``below`` adds up to 0."""
    columns = len(names)

    def formula(totals: Floats) -> Floats:
        total, count = totals[..., :columns], totals[..., columns:]
        share: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return 100 * share

    return Additive(tuple(names), np.hstack([above, below]), formula)


def joined(parts: Sequence[Additive]) -> Additive:
    """All numbers of several parts of the same pairs, side by side."""
    edges = np.cumsum([part.rows.shape[1] for part in parts])[:-1]

    def formula(totals: Floats) -> Floats:
        own = np.split(totals, edges, axis=-1)
        return np.concatenate([part.formula(t) for part, t in zip(parts, own, strict=True)], axis=-1)

    names = tuple(name for part in parts for name in part.names)
    return Additive(names, np.hstack([part.rows for part in parts]), formula, tuple(parts))
