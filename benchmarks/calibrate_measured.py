"""Fits the gate of the measured answer on drawn pairs: limits of its three measures, and the probability.

    python benchmarks/calibrate_measured.py FOLDER [FOLDER ...]

FOLDER: pairs drawn by screen_pairs.py or screen_plots.py. Prints the constants of ``measured/gate.py`` and
what they reach on the designs that were held out. No other pictures have a say.

A pair's measure k is the largest value over the picture of |difference| / (flat + slope x contrast), with the
slopes as they are. The log-odds of a visible change are modelled as log sum_k (value_k / limit_k)^a, by
maximum likelihood; the threshold is set where change and no-change accuracy are equal on the pairs fitted on.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.metrics import roc_auc_score

from whatchanged.measured.gate import COARSE, COARSE_COLOUR, FINE, _windows, tests

LIMITS = (FINE, COARSE, COARSE_COLOUR)
Values = NDArray[np.float64]


def measures(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> list[float]:
    """The largest value of each measure, in units of the present limits."""
    largest = [0.0] * len(LIMITS)
    for rows, columns in _windows((before != after).any(axis=2)):
        found = tests(before[rows, columns], after[rows, columns])
        for k, ((_, size, ground), limit) in enumerate(zip(found, LIMITS, strict=True)):
            largest[k] = max(largest[k], float((size / (limit.flat + limit.slope * ground)).max()))
    return largest


def read(folder: Path) -> tuple[list[list[float]], list[bool], list[bool]]:
    """Measures, labels and whether the design is held out, of the pairs that are not uncertain."""
    values, labels, held = [], [], []
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["visible_change"] == "uncertain":
            continue
        before, after = (
            np.asarray(Image.open(folder / record[end]).convert("RGB")) for end in ("before", "after")
        )
        values.append(measures(before, after))
        labels.append(record["visible_change"] == "yes")
        held.append(record["held"])
    return values, labels, held


def fit(logs: Values, labels: NDArray[np.bool_]) -> Values:
    """The power and the logarithms of the factors, (1 + K,)."""

    def loss(weights: Values) -> tuple[float, Values]:
        terms = logs * weights[0] + weights[1:]
        total = logsumexp(terms, axis=1)
        error = (1 / (1 + np.exp(-total)) - labels) / len(labels)
        parts = np.exp(terms - total[:, None]) * error[:, None]
        gradient = np.concatenate([[(parts * logs).sum()], parts.sum(axis=0) + 2e-4 * weights[1:]])
        return float(
            np.mean(np.logaddexp(0, total) - labels * total) + 1e-4 * (weights[1:] ** 2).sum()
        ), gradient

    start = np.array([2.0] + [-1.0] * logs.shape[1])
    bounds = [(0.5, 12.0)] + [(-30.0, None)] * logs.shape[1]
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


def report(name: str, scores: Values, labels: NDArray[np.bool_]) -> None:
    """One line: AUROC, both accuracies at the threshold."""
    change, same = np.mean(scores[labels] >= 1), np.mean(scores[~labels] < 1)
    print(
        f"{name:>10}: {len(labels)} pairs, AUROC {roc_auc_score(labels, scores):.4f}, "
        f"change {change:.3f}, no change {same:.3f}"
    )


def main() -> None:
    """Prints the constants."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    rows, labels, held = ([], [], [])  # type: tuple[list[list[float]], list[bool], list[bool]]
    for folder in parser.parse_args().folders:
        more = read(folder)
        rows += more[0]
        labels += more[1]
        held += more[2]
    changed, out = np.array(labels), np.array(held)
    logs = np.log(np.array(rows) + 0.005)
    weights = fit(logs[~out], changed[~out])
    power = float(weights[0])
    limits = np.exp(-weights[1:] / power)  # where one measure alone gives even odds
    scores = (np.exp(logs) / limits).max(axis=1)
    threshold = balanced(scores[~out], changed[~out])
    print("present limits:")
    report("fitted", np.exp(logs[~out]).max(axis=1), changed[~out])
    report("held out", np.exp(logs[out]).max(axis=1), changed[out])
    print(f"new limits: factors {np.round(limits * threshold, 3).tolist()} on the present ones")
    print(f"STEEPNESS = {power:.2f}; ODDS = {threshold**power:.2f}")
    report("fitted", scores[~out] / threshold, changed[~out])
    report("held out", scores[out] / threshold, changed[out])


def balanced(scores: Values, labels: NDArray[np.bool_]) -> float:
    """The threshold at which change and no-change accuracy come closest."""
    candidates = np.unique(scores)
    gaps = [
        abs(float(np.mean(scores[labels] >= t)) - float(np.mean(scores[~labels] < t))) for t in candidates
    ]
    return float(candidates[int(np.argmin(gaps))])


if __name__ == "__main__":
    main()
