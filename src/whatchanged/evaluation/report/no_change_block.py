"""The report's block "no_change" and its table: how well pairs are called changed or unchanged."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whatchanged.evaluation.metrics.change_detection import ChangeDetection, equal_widths, error_if_calibrated
from whatchanged.evaluation.report.layout import Table, with_ends
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.statistics.intervals import share, wilson
from whatchanged.evaluation.statistics.resampling import bootstrap, percentile

ROWS = 10
"""Of the reliability table."""
TITLES = {
    "recall": "recall",
    "false_alarms": "false alarms",
    "accuracy": "accuracy",
    "AUC": "AUC",
    "Brier": "Brier",
    "ECE": "ECE",
    "ECE_if_calibrated": "ECE if calibrated, at most",
}

Intervals = dict[str, Any]
"""Name of a number -> [low, high] or None."""


def no_change_block(scored: Scored) -> tuple[dict[str, Any], Intervals] | None:
    """Return the block and its intervals; None where no pair has both a probability and a known answer."""
    known = [
        (prediction.no_change, record.changed, record.group_id)
        for record, prediction in zip(scored.records, scored.predictions, strict=True)
        if prediction.no_change is not None and record.changed is not None
    ]
    if not known:
        return None
    probabilities, changed, groups = zip(*known, strict=True)
    settings = scored.settings
    block, ends = change_detection(
        probabilities, changed, groups, settings.threshold, settings.resamples, settings.seed
    )
    block["pairs"]["left_out"] = len(scored.records) - len(known)
    return block, ends


def change_detection(
    probabilities: Sequence[float],
    changed: Sequence[bool],
    groups: Sequence[str],
    threshold: float = 0.5,
    resamples: int = 0,
    seed: int = 0,
) -> tuple[dict[str, Any], Intervals]:
    """Return the numbers in percent, and their intervals.

    ``probabilities[i]``: that nothing changed in pair i; with at least the threshold the pair is classified
    as unchanged. ``recall``: the fraction of changed pairs classified as changed. ``false_alarms``: the
    fraction of unchanged pairs classified as changed. ``AUC``: the area under the curve of these two over all
    thresholds. ``Brier``, ``ECE`` and ``ECE_equal_mass`` evaluate the probability itself. A number is None
    where the pairs that it needs are absent.

    Recall and false alarms have Wilson's interval (their pairs are of different scenes), the others a
    bootstrap interval. Calibration errors sum absolute values, so the error of a resample exceeds that of the
    sample, just as the sample's exceeds the true one. Their interval is therefore mirrored at the sample's
    value e: [2e - high, 2e - low], clipped to 0 and 100. In simulations it contained the true value 9 times
    out of 10 for a large error, and less often for one near 0. The report therefore also has
    ``ECE_if_calibrated``: the 95 % quantile of the ECE of a perfectly calibrated probability on these pairs.
    Only an ECE above it is evidence of miscalibration.
    """
    measured = ChangeDetection(probabilities, changed, threshold)
    point = measured.values(np.ones((1, len(measured.changed))))[0]
    block: dict[str, Any] = {
        "threshold": threshold,
        "pairs": {"changed": measured.recall[1], "unchanged": measured.false_alarms[1]},
        "recall": share(*measured.recall)["percent"],
        "false_alarms": share(*measured.false_alarms)["percent"],
        **{name: _number(value) for name, value in zip(measured.names, point, strict=True)},
        "reliability": _reliability(measured),
        "ROC": measured.ranking.curve() if measured.recall[1] and measured.false_alarms[1] else [],
    }
    ends: Intervals = {}
    if resamples and len(set(groups)) > 1:
        draws = bootstrap(measured.values, groups, resamples, seed)
        ends = dict(zip(measured.names, percentile(draws), strict=True))
        for name in ("ECE", "ECE_equal_mass"):
            ends[name] = _mirrored(ends[name], block[name])
        block["ECE_if_calibrated"] = error_if_calibrated(measured.probabilities, resamples, seed)
    for name, counts in (("recall", measured.recall), ("false_alarms", measured.false_alarms)):
        ends[name] = [100 * end for end in wilson(*counts)] if counts[1] else None
    return block, ends


def no_change_table(block: Mapping[str, Any], ends: Mapping[str, Any]) -> Table:
    """Return the block as a table of one row."""
    pairs = block["pairs"]["changed"] + block["pairs"]["unchanged"]
    cells = [with_ends(block.get(name), ends.get(name)) for name in TITLES]
    title = f"Changed or not (%, 95 % interval), unchanged from a probability of {block['threshold']:g} on"
    return title, [["", "pairs", *TITLES.values()], ["overall", f"{pairs:,}", *cells]]


def _reliability(measured: ChangeDetection) -> list[dict[str, float]]:
    """Return the non-empty bins: their ends, size, mean probability, and share of unchanged pairs with its
    interval.
    """
    bins = equal_widths(measured.probabilities, ROWS)
    table = []
    for number in np.unique(bins).tolist():
        members = bins == number
        size, unchanged = int(members.sum()), int((~measured.changed)[members].sum())
        low, high = wilson(unchanged, size)
        table.append(
            {
                "from": number / ROWS,
                "to": (number + 1) / ROWS,
                "pairs": size,
                "probability": 100 * float(measured.probabilities[members].mean()),
                "unchanged": 100 * unchanged / size,
                "low": 100 * low,
                "high": 100 * high,
            }
        )
    return table


def _mirrored(ends: list[float] | None, point: float) -> list[float] | None:
    if ends is None:
        return None
    return [min(max(2 * point - end, 0.0), 100.0) for end in reversed(ends)]


def _number(value: np.float64) -> float | None:
    return float(value) if np.isfinite(value) else None
