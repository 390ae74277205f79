"""Numbers of a report as functions of sums over pairs: the one door to intervals and comparisons.

A corpus is scored by what its pairs add up to: BLEU by counts, METEOR by its 23 statistics, means and shares
by a total and a count. A resample only changes how often each pair is added, so one matrix product scores a
thousand of them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Additive:
    """M numbers of P pairs, in percent: ``value`` makes them (..., M) of the rows' sums (..., K)."""

    names: tuple[str, ...]
    rows: Floats
    """(P, K): what each pair adds."""
    value: Callable[[Floats], Floats]
    parts: tuple["Additive", ...] = ()
    """What it was joined of."""

    def of(self, weights: Floats | None = None) -> Floats:
        """The numbers (..., M) where pair i is added ``weights[..., i]`` times; None: each once."""
        return self.value(self.rows.sum(axis=0) if weights is None else weights @ self.rows)

    def only(self, names: Collection[str]) -> "Additive":
        """Without the parts that have other names too."""
        kept = [part for part in self.parts if set(part.names) <= set(names)]
        return self if len(kept) == len(self.parts) else joined(kept)

    def take(self, pairs: NDArray[np.int64]) -> "Additive":
        """The same numbers of some of the pairs."""
        return Additive(
            self.names, self.rows[pairs], self.value, tuple(part.take(pairs) for part in self.parts)
        )


def shares(names: Sequence[str], hits: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Additive:
    """100 sum(hits and counted) / sum(counted) of each column of (P, M); NaN where none is counted."""
    return ratios(names, (hits & counted).astype(float), counted.astype(float))


def mean(name: str, scores: Floats) -> Additive:
    """100 times the mean of the pairs' own scores (P,)."""
    return ratios([name], scores[:, None], np.ones((len(scores), 1)))


def ratios(names: Sequence[str], above: Floats, below: Floats) -> Additive:
    """100 sum(above) / sum(below) of each column of (P, M); NaN where ``below`` adds up to 0."""
    columns = len(names)

    def value(sums: Floats) -> Floats:
        total, count = sums[..., :columns], sums[..., columns:]
        share: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return 100 * share

    return Additive(tuple(names), np.hstack([above, below]), value)


def joined(parts: Sequence[Additive]) -> Additive:
    """All numbers of the parts, which are of the same pairs, side by side."""
    edges = np.cumsum([part.rows.shape[1] for part in parts])[:-1]

    def value(sums: Floats) -> Floats:
        own = np.split(sums, edges, axis=-1)
        return np.concatenate([part.value(s) for part, s in zip(parts, own, strict=True)], axis=-1)

    names = tuple(name for part in parts for name in part.names)
    return Additive(names, np.hstack([part.rows for part in parts]), value, tuple(parts))
