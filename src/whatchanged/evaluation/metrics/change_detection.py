"""The probability that nothing changed, held against what did: calibration, ROC, errors at a threshold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.additive import Additive, Floats, joined, mean, shares
from whatchanged.evaluation.statistics.intervals import share, wilson
from whatchanged.evaluation.statistics.resampling import bootstrap, percentile

BINS = 15
"""Of the calibration errors."""
ROWS = 10
"""Of the reliability table."""

Flags = NDArray[np.bool_]


def change_detection(
    probabilities: Sequence[float],
    changed: Sequence[bool],
    groups: Sequence[str],
    threshold: float = 0.5,
    resamples: int = 0,
    seed: int = 0,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The report's block "no_change", in percent, and its intervals.

    ``probabilities[i]``: that nothing changed in pair i; at the threshold and above the pair is called
    unchanged. ``recall``: the changed pairs called changed; ``false_alarms``: the unchanged pairs called
    changed; ``AUC`` is of these two over all thresholds. ``Brier``, ``ECE`` and ``ECE_equal_mass`` judge the
    probability itself. What needs a kind of pair that is absent is None.

    Recall and false alarms have Wilson's interval (their pairs are of different scenes), the rest the
    bootstrap's. Errors of calibration add up absolute values, so that a draw's exceed the sample's as the
    sample's exceed the truth; their interval is mirrored at the sample's value e for that: [2e - high,
    2e - low], cut at 0 and 100. In simulations it held the truth 9 times of 10 where the error was plain and
    less often where it was near 0. So ``ECE_if_calibrated`` goes with it: the 95 % point of the ECE that a
    perfectly calibrated probability would have on these pairs; only more than that is a fault.
    """
    p, is_changed = np.asarray(probabilities, float), np.asarray(changed, bool)
    called = p < threshold
    caught = (int((called & is_changed).sum()), int(is_changed.sum()))
    alarms = (int((called & ~is_changed).sum()), int((~is_changed).sum()))
    rest = joined(
        [
            shares(["accuracy"], (called == is_changed)[:, None], np.ones((len(p), 1), bool)),
            mean("Brier", (p - ~is_changed) ** 2),
            calibration_error("ECE", p, ~is_changed, _equal_widths(p)),
            calibration_error("ECE_equal_mass", p, ~is_changed, _equal_masses(p)),
        ]
    )
    ranking = Ranking(p, is_changed)

    def numbers(weights: Floats) -> Floats:
        return np.column_stack([ranking.auc(weights), rest.of(weights)])

    names = ("AUC", *rest.names)
    point = numbers(np.ones((1, len(p))))[0]
    found: dict[str, Any] = {
        "threshold": threshold,
        "pairs": {"changed": caught[1], "unchanged": alarms[1]},
        "recall": share(*caught)["percent"],
        "false_alarms": share(*alarms)["percent"],
        **{name: float(x) if np.isfinite(x) else None for name, x in zip(names, point, strict=True)},
        "reliability": _reliability(p, ~is_changed),
        "ROC": ranking.curve() if caught[1] and alarms[1] else [],
    }
    ends: dict[str, Any] = {}
    if resamples and len(set(groups)) > 1:
        ends = dict(zip(names, percentile(bootstrap(numbers, groups, resamples, seed)), strict=True))
        for name in rest.names[2:]:
            ends[name] = _mirrored(ends[name], found[name])
        found["ECE_if_calibrated"] = _by_chance(p, resamples, seed)
    for name, counts in (("recall", caught), ("false_alarms", alarms)):
        ends[name] = [100 * end for end in wilson(*counts)] if counts[1] else None
    return found, ends


class Ranking:
    """Pairs in the order of their probabilities: the ROC curve and the area under it."""

    def __init__(self, probabilities: Floats, changed: Flags) -> None:
        self.order = np.argsort(probabilities, kind="stable")
        self.changed = changed[self.order]
        self.levels, self.first = np.unique(probabilities[self.order], return_index=True)

    def auc(self, weights: Floats) -> Floats:
        """P(a changed pair has the lower probability) + P(both the same) / 2, in percent: (B, P) to (B,).

        The sum over all pairs of a changed and an unchanged one, by one pass over the sorted probabilities;
        NaN where a draw holds one kind only. Source: Mann and Whitney, 1947; Hanley and McNeil, 1982.
        """
        sorted_weights = weights[:, self.order]
        changed = np.add.reduceat(sorted_weights * self.changed, self.first, axis=1)
        unchanged = np.add.reduceat(sorted_weights * ~self.changed, self.first, axis=1)
        above = unchanged.sum(axis=1, keepdims=True) - np.cumsum(unchanged, axis=1)
        won = (changed * (above + unchanged / 2)).sum(axis=1)
        pairs = changed.sum(axis=1) * unchanged.sum(axis=1)
        share: Floats = np.divide(won, pairs, out=np.full(len(weights), np.nan), where=pairs > 0)
        return 100 * share

    def curve(self) -> list[dict[str, float]]:
        """The corners of the ROC curve: "changed" is called below each threshold."""
        changed = np.add.reduceat(self.changed.astype(float), self.first)
        unchanged = np.add.reduceat((~self.changed).astype(float), self.first)
        recall = np.concatenate([[0.0], 100 * np.cumsum(changed) / changed.sum()])
        alarms = np.concatenate([[0.0], 100 * np.cumsum(unchanged) / unchanged.sum()])
        # A threshold above all that occur: the probability is at most 1, the next number lies above it.
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
    """Expected calibration error in percent, the bins (P,) held fixed in every resample.

        ECE = sum_b |sum_{i in b} (p_i - true_i)| / P

    which is each bin's distance between mean probability and share of true ones, weighed by its size.
    Source: Naeini, Cooper and Hauskrecht, AAAI 2015.
    """
    members = bins[:, None] == np.arange(int(bins.max()) + 1)
    rows = np.column_stack([members * (probabilities - true)[:, None], np.ones(len(bins))])
    return Additive((name,), rows, lambda s: 100 * np.abs(s[..., :-1]).sum(-1, keepdims=True) / s[..., -1:])


def _equal_widths(probabilities: Floats, bins: int = BINS) -> NDArray[np.int64]:
    return np.minimum((probabilities * bins).astype(np.int64), bins - 1)


def _equal_masses(probabilities: Floats) -> NDArray[np.int64]:
    """Bins of equally many pairs; equal probabilities share the bin of the first of them."""
    ordered = np.sort(probabilities)
    found: NDArray[np.int64] = np.searchsorted(ordered, probabilities) * BINS // len(ordered)
    return found


def _reliability(probabilities: Floats, unchanged: Flags) -> list[dict[str, float]]:
    """Bins that hold pairs: their ends, size, mean probability and share without change with its interval."""
    bins = _equal_widths(probabilities, ROWS)
    table = []
    for b in np.unique(bins).tolist():
        own = bins == b
        size, hits = int(own.sum()), int(unchanged[own].sum())
        low, high = wilson(hits, size)
        table.append(
            {
                "from": b / ROWS,
                "to": (b + 1) / ROWS,
                "pairs": size,
                "probability": 100 * float(probabilities[own].mean()),
                "unchanged": 100 * hits / size,
                "low": 100 * low,
                "high": 100 * high,
            }
        )
    return table


def _by_chance(probabilities: Floats, rounds: int, seed: int) -> float:
    """The 95 % point of the ECE where every pair is unchanged with just its probability, in percent.

    Source: Bröcker and Smith, Weather and Forecasting 2007 (consistency resampling).
    """
    bins = _equal_widths(probabilities)
    members = (bins[:, None] == np.arange(BINS)).astype(float)
    rng = np.random.default_rng(seed)
    errors = [
        np.abs((probabilities - (rng.random(len(bins)) < probabilities)) @ members).sum()
        for _ in range(rounds)
    ]
    return 100 * float(np.quantile(errors, 0.95)) / len(bins)


def _mirrored(ends: list[float] | None, point: float) -> list[float] | None:
    if ends is None:
        return None
    return [min(max(2 * point - end, 0.0), 100.0) for end in reversed(ends)]
