"""Fits the gate of the measured answer on drawn pairs: limits of its four measures, and the probability.

    python tools/fit gate FOLDER [FOLDER ...] [--write]

``whatchanged synth screens --family FAMILY`` draws a FOLDER. The tool prints the constants of
``measured/pixels/gate.py``, and the scores that they reach on the held-out designs. ``--write`` puts the
constants into ``measured/fitted.py``. No other pictures are used.

Measure k of a pair is the maximum over the picture of |difference| / (flat + slope x contrast). The slopes
are not fitted. A pair counts as changed if one of its measures reaches its limit. The tool tries the limits
on a grid. It takes those that find most changes while the accuracy on unchanged pairs is at least
``NO_CHANGE``. Both scores are means over the folders, so that plots count as much as screens. The log-odds of
a visible change are linear in the logarithm of the score; they are fitted by maximum likelihood.
"""

import argparse
import itertools
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from fit.constants import write_constants
from whatchanged.measured.pixels.gate import FAINT, LIMITS, _cells, tests
from whatchanged.measured.pixels.planes import enlarged

Values = NDArray[np.float64]

NO_CHANGE = 0.89
"""The least share of the drawn noise that must be called noise."""
RATIOS = (
    (0.7, 0.85, 1.0, 1.2, 1.4),
    (0.7, 0.85, 1.0, 1.2, 1.5, 2.0),
    (0.4, 0.5, 0.6, 0.8, 1.0),
    (0.8, 0.9, 1.0, 1.15, 1.3, 1.6),
)
"""Of each measure, the factors on the present limit that are tried, beside each common one of ``LEVELS``."""
LEVELS = np.exp(np.linspace(-0.5, 0.5, 41))
NAMES = ("FINE", "COARSE", "COARSE_COLOR", "INK")
"""What the limits of the measures are called."""
LEAST = 0.005
"""Added to every measure, so that it has a logarithm."""


def measures(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> list[float]:
    """The largest value of each measure, in units of the present limits."""
    step = np.abs(before.astype(np.int16) - after).max(axis=2)
    near = enlarged(_cells(step >= FAINT), 1, 1)
    fine, *coarse = (
        size / (limit.flat + limit.slope * ground)
        for (size, ground), limit in zip(tests(before, after), LIMITS, strict=True)
    )
    return [float(fine.max()), *(float((value * near).max()) for value in coarse)]


def read(folder: Path) -> tuple[list[list[float]], list[bool], list[bool]]:
    """Measures, labels and whether the design is held out, of the pairs of one size."""
    values, labels, held = [], [], []
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["size_before"] != record["size_after"]:
            continue
        before, after = (
            np.asarray(Image.open(folder / record[end]).convert("RGB")) for end in ("before", "after")
        )
        values.append(measures(before, after))
        labels.append(record["changed"])
        held.append(record["split"] != "train")
    return values, labels, held


def best_limits(rows: Values, labels: NDArray[np.bool_], folders: NDArray[np.intp]) -> Values:
    """The factors (K,) on the present limits of (N, K) measures."""
    parts = [(rows[folders == one], labels[folders == one]) for one in np.unique(folders)]
    best, most = np.ones(rows.shape[1]), 0.0
    for ratios in itertools.product(*RATIOS):
        scores = [(values / ratios).max(axis=1) for values, _ in parts]
        found, same = (
            np.mean(
                [
                    np.searchsorted(np.sort(score[changed == wanted]), LEVELS) / np.sum(changed == wanted)
                    for score, (_, changed) in zip(scores, parts, strict=True)
                ],
                axis=0,
            )
            for wanted in (True, False)
        )  # the shares below each level
        first = int(np.argmax(same >= NO_CHANGE))
        if same[first] >= NO_CHANGE and 1 - found[first] > most:
            best, most = np.array(ratios) * LEVELS[first], float(1 - found[first])
    return best


def odds(scores: Values, labels: NDArray[np.bool_]) -> tuple[float, float]:
    """The power of the score with which the odds of a change grow, and the odds at a score of 1."""

    def loss(weights: Values) -> float:
        total = weights[0] * np.log(scores) + weights[1]
        return float(np.mean(np.logaddexp(0, total) - labels * total))

    power, level = minimize(loss, np.array([1.5, 0.0]), method="L-BFGS-B", bounds=[(0.3, 12), (-9, 9)]).x
    return float(power), float(np.exp(level))


def rounded(limit: float) -> float:
    """Three digits of a limit."""
    return float(f"{limit:.3g}")


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
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    read_folders = [read(folder) for folder in options.folders]
    rows = np.array([row for values, _, _ in read_folders for row in values]) + LEAST
    changed = np.array([label for _, labels, _ in read_folders for label in labels])
    out = np.array([one for _, _, held in read_folders for one in held])
    folders = np.repeat(np.arange(len(read_folders)), [len(labels) for _, labels, _ in read_folders])
    factors = best_limits(rows[~out], changed[~out], folders[~out])
    print(f"factors {np.round(factors, 3).tolist()} on the present limits")
    constants: dict[str, object] = {
        name: (rounded(factor * limit.flat), rounded(factor * limit.slope))
        for name, factor, limit in zip(NAMES, factors, LIMITS, strict=True)
    }
    for name, scores in (("present", rows.max(axis=1)), ("new", (rows / factors).max(axis=1))):
        power, level = odds(scores[~out], changed[~out])
        print(f"{name} limits: STEEPNESS = {power:.2f}; ODDS = {level:.2f}")
        report("fitted", scores[~out], changed[~out])
        report("held out", scores[out], changed[out])
        for folder, path in enumerate(options.folders):
            report(path.name, scores[folders == folder], changed[folders == folder])
        constants |= {"STEEPNESS": round(power, 2), "ODDS": round(level, 2)}  # last, of the new limits
    print(constants)
    if options.write:
        write_constants(constants)


if __name__ == "__main__":
    main()
