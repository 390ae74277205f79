"""Fits the weights of the groups of the measured answer on drawn batches.

    python tools/fit groups FOLDER [--write]

FOLDER: drawn by ``benchmarks/screens/groups.py``. How much each part of two signatures speaks against one
cause is fitted by logistic regression over all couples of a batch, no weight below 0; the distance at which
groups part is the one with the best mean adjusted Rand index on the batches fitted on. Prints the constants
of ``compare/grouping.py`` and what they reach on the batches held out; ``--write`` puts them into
``measured/fitted.py``.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.optimize import minimize
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from fit.constants import write_constants
from whatchanged.compare.grouping import part_distances
from whatchanged.measured import measure

Values = NDArray[np.float64]


def read(folder: Path) -> dict[str, tuple[bool, list[tuple[float, ...]], list[str]]]:
    """Of each batch: whether it is held out, the signatures, the causes."""
    batches: dict[str, tuple[bool, list[tuple[float, ...]], list[str]]] = {}
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        answer = measure(folder / record["before"], folder / record["after"])
        batch = batches.setdefault(record["commit"], (record["held"], [], []))
        batch[1].append(answer.signature)
        batch[2].append(record["causes"][0])
    return batches


def fit(parts: Values, same: NDArray[np.bool_]) -> Values:
    """Weights (K,) of the distances of couples (N, K), and the constant: (K + 1,)."""
    weight = np.where(same, 0.5 / max(1, same.sum()), 0.5 / max(1, (~same).sum()))

    def loss(weights: Values) -> tuple[float, Values]:
        against = parts @ weights[:-1] - weights[-1]
        error = weight * (1 / (1 + np.exp(-against)) - ~same)
        value = np.sum(weight * (np.logaddexp(0, against) - ~same * against)) + 0.002 * np.sum(
            weights[:-1] ** 2
        )
        return float(value), np.append(parts.T @ error + 0.004 * weights[:-1], -error.sum())

    count = parts.shape[1]
    bounds = [(0.0, None)] * count + [(None, None)]
    return np.asarray(minimize(loss, np.ones(count + 1), jac=True, method="L-BFGS-B", bounds=bounds).x)


def rand_index(signatures: list[tuple[float, ...]], causes: list[str], weights: Values, far: float) -> float:
    """The adjusted Rand index of the groups of one batch."""
    total = np.tensordot(weights, np.stack(list(part_distances(signatures).values())), axes=1)
    np.fill_diagonal(total, 0)
    tree = hierarchy.linkage(squareform(total, checks=False), "average")
    return float(adjusted_rand_score(causes, hierarchy.fcluster(tree, far, "distance")))


def main() -> None:
    """Prints the constants."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    batches = read(options.folder)
    rows, same = [], []
    names: list[str] = []
    for held, signatures, causes in batches.values():
        if held:
            continue
        parts = part_distances(signatures)
        names = list(parts)
        upper = np.triu_indices(len(causes), 1)
        rows.append(np.stack([distance[upper] for distance in parts.values()], axis=1))
        same.append(np.array([causes[i] == causes[j] for i, j in zip(*upper, strict=True)]))
    weights = fit(np.concatenate(rows), np.concatenate(same))
    fitted = [batch[1:] for batch in batches.values() if not batch[0]]
    unseen = [batch[1:] for batch in batches.values() if batch[0]]
    cuts = np.linspace(0.2, 3, 57) * weights[-1]
    means = [np.mean([rand_index(s, c, weights[:-1], cut) for s, c in fitted]) for cut in cuts]
    far = float(cuts[int(np.argmax(means))])
    constants: dict[str, object] = {
        "WEIGHTS": {name: round(float(value), 2) for name, value in zip(names, weights[:-1], strict=True)},
        "FAR": round(far, 2),
    }
    print(constants)
    print(f"adjusted Rand index: fitted {max(means):.3f}", end="")
    if unseen:
        print(f", held out {np.mean([rand_index(s, c, weights[:-1], far) for s, c in unseen]):.3f}", end="")
    print()
    if options.write:
        write_constants(constants)


if __name__ == "__main__":
    main()
