"""Evaluate the no-change probability: errors at a threshold, ROC curve, calibration."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.additive import Additive, Floats, joined, mean, shares

BINS = 15
"""Of the calibration errors."""

Flags = NDArray[np.bool_]


class ChangeDetection:
    """How well the no-change probabilities separate changed from unchanged pairs, for P pairs.

    A pair with a probability of at least ``threshold`` is classified as unchanged. ``recall`` and
    ``false_alarms`` are counts: how many of the changed, or unchanged, pairs are classified as changed, and
    how many such pairs there are.
    """

    def __init__(
        self, probabilities: Sequence[float], changed: Sequence[bool], threshold: float = 0.5
    ) -> None:
        self.probabilities = np.asarray(probabilities, float)
        self.changed = np.asarray(changed, bool)
        self.threshold = threshold
        self.ranking = Ranking(self.probabilities, self.changed)
        called = self.probabilities < threshold
        self.recall = int((called & self.changed).sum()), int(self.changed.sum())
        self.false_alarms = int((called & ~self.changed).sum()), int((~self.changed).sum())
        unchanged = ~self.changed
        right = (called == self.changed)[:, None]
        self._rest = joined(
            [
                shares(["accuracy"], right, np.ones_like(right)),
                mean("Brier", (self.probabilities - unchanged) ** 2),
                calibration_error("ECE", self.probabilities, unchanged, equal_widths(self.probabilities)),
                calibration_error(
                    "ECE_equal_mass", self.probabilities, unchanged, equal_masses(self.probabilities)
                ),
            ]
        )
        self.names = ("AUC", *self._rest.names)

    def values(self, weights: Floats) -> Floats:
        """Return the numbers of ``names`` in percent (B, 5), where pair i counts ``weights[b, i]`` times."""
        return np.column_stack([self.ranking.auc(weights), self._rest.values(weights)])


class Ranking:
    """Pairs sorted by their probabilities, for the ROC curve and the area under it."""

    def __init__(self, probabilities: Floats, changed: Flags) -> None:
        self.order = np.argsort(probabilities, kind="stable")
        self.changed = changed[self.order]
        self.levels, self.first = np.unique(probabilities[self.order], return_index=True)

    def auc(self, weights: Floats) -> Floats:
        """Return P(a changed pair has the lower probability) + P(both the same) / 2, in percent: (B, P) to
        (B,).

        The sum runs over all combinations of a changed and an unchanged pair, in one pass over the sorted
        probabilities; NaN where a draw has pairs of one kind only. Source: Mann and Whitney, 1947; Hanley and
        McNeil, 1982.
        """
        sorted_weights = weights[:, self.order]
        changed = np.add.reduceat(sorted_weights * self.changed, self.first, axis=1)
        unchanged = np.add.reduceat(sorted_weights * ~self.changed, self.first, axis=1)
        above = unchanged.sum(axis=1, keepdims=True) - np.cumsum(unchanged, axis=1)
        won = (changed * (above + unchanged / 2)).sum(axis=1)
        couples = changed.sum(axis=1) * unchanged.sum(axis=1)
        share: Floats = np.divide(won, couples, out=np.full(len(weights), np.nan), where=couples > 0)
        return 100 * share

    def curve(self) -> list[dict[str, float]]:
        """Return the corners of the ROC curve: pairs below each threshold are classified as changed."""
        changed = np.add.reduceat(self.changed.astype(float), self.first)
        unchanged = np.add.reduceat((~self.changed).astype(float), self.first)
        recall = np.concatenate([[0.0], 100 * np.cumsum(changed) / changed.sum()])
        alarms = np.concatenate([[0.0], 100 * np.cumsum(unchanged) / unchanged.sum()])
        # A last threshold above all that occur: a probability is at most 1, and the next number lies above.
        thresholds = [*self.levels.tolist(), float(np.nextafter(1.0, 2.0))]
        straight = np.zeros(len(recall), bool)
        rise, run = np.diff(recall), np.diff(alarms)
        straight[1:-1] = rise[:-1] * run[1:] == rise[1:] * run[:-1]
        return [
            {"threshold": t, "false_alarms": float(a), "recall": float(r)}
            for t, a, r, skip in zip(thresholds, alarms, recall, straight, strict=True)
            if not skip
        ]


def calibration_error(name: str, probabilities: Floats, true: Flags, bins: NDArray[np.int64]) -> Additive:
    """Return the expected calibration error in percent; every resample keeps the bins (P,).

        ECE = sum_b |sum_{i in b} (p_i - true_i)| / P

    This is the difference between the mean probability and the fraction of true cases in each bin, weighted
    by the bin's size. Source: Naeini, Cooper and Hauskrecht, AAAI 2015.
    """
    members = bins[:, None] == np.arange(int(bins.max()) + 1)
    rows = np.column_stack([members * (probabilities - true)[:, None], np.ones(len(bins))])
    return Additive((name,), rows, lambda t: 100 * np.abs(t[..., :-1]).sum(-1, keepdims=True) / t[..., -1:])


def equal_widths(probabilities: Floats, bins: int = BINS) -> NDArray[np.int64]:
    """Return the bin of each probability, among bins of equal width."""
    return np.minimum((probabilities * bins).astype(np.int64), bins - 1)


def equal_masses(probabilities: Floats) -> NDArray[np.int64]:
    """Return the bin of each probability, among bins of equal size; equal probabilities share the bin of the
    first.
    """
    ordered = np.sort(probabilities)
    found: NDArray[np.int64] = np.searchsorted(ordered, probabilities) * BINS // len(ordered)
    return found


def error_if_calibrated(probabilities: Floats, rounds: int, seed: int) -> float:
    """Return the 95 % quantile of the ECE, in percent, if each pair is unchanged with exactly its
    probability.

    Source: Bröcker and Smith, Weather and Forecasting 2007 (consistency resampling).
    """
    bins = equal_widths(probabilities)
    members = (bins[:, None] == np.arange(BINS)).astype(float)
    rng = np.random.default_rng(seed)
    errors = [
        np.abs((probabilities - (rng.random(len(bins)) < probabilities)) @ members).sum()
        for _ in range(rounds)
    ]
    return 100 * float(np.quantile(errors, 0.95)) / len(bins)
