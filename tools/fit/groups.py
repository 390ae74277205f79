"""Fits the weights of the evidence that two pairs have one cause, for the groups of the measured answer.

    python tools/fit groups FOLDER [FOLDER ...] UI_TRAIN [--write]

``benchmarks/screens/groups.py`` draws each FOLDER; its held-out batches are left out. UI_TRAIN holds real
pairs with full labels, of which only the training part is used. Two pairs of one commit count as having one
cause if their main changes have the same kind and aspect. Pairs of two commits count as having two causes.
Those of one repository show the same design, so they are harder to tell apart than unrelated pairs.

The weights come from a logistic regression over couples of pairs. Similarities speak for one cause, and
differences against it. ``SHARES`` gives the total weight of the couples of each source and truth. Which
statements of two answers are most similar depends on the weights, so the regression is repeated.

The tool prints the constants of ``compare/evidence.py``. ``--write`` puts them into ``measured/fitted.py``.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fit.constants import write_constants
from whatchanged.compare.evidence import DIFFERENCES, FEATURES, features_of
from whatchanged.measured import Measured, measure
from whatchanged.measured.fitted import CAUSE

Values = NDArray[np.float64]

SHARES = {
    ("commit", True): 1.0,
    ("commit", False): 0.5,
    ("repository", False): 0.5,
    ("drawn", True): 1.0,
    ("drawn", False): 1.0,
    ("unrelated", False): 0.5,
}
"""How much all couples of a source and truth weigh together."""
PULL = 1 / 12
"""How strongly weights are drawn to 0."""
TIMES = 4
BATCHES, AT_ONCE = 10, 40
"""Batches of unrelated pairs, and the most pairs of a batch of these or of one repository."""
SEED = 5


@dataclass(frozen=True)
class Couples:
    """Couples of some answers: the places of both, whether they have one cause, and where they are from."""

    source: str
    answers: Sequence[Measured]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    same: NDArray[np.bool_]


def couples(
    source: str, answers: Sequence[Measured], truth: Callable[[int, int], bool | None]
) -> Iterator[Couples]:
    """The couples of a batch whose truth is known (not None); nothing where there are none."""
    rows, columns = np.triu_indices(len(answers), 1)
    known = [(i, j, truth(i, j)) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
    kept = [one for one in known if one[2] is not None]
    if kept:
        first, second, same = (np.array(part) for part in zip(*kept, strict=True))
        yield Couples(source, answers, first, second, same.astype(bool))


def of_drawn(folder: Path) -> Iterator[Couples]:
    """The couples of each batch that is not held out."""
    batches: dict[str, list[tuple[str, Measured]]] = defaultdict(list)
    for record in _records(folder):
        if not record["held"]:
            answer = measure(folder / record["before"], folder / record["after"])
            if answer.changed:
                batches[record["commit"]].append((record["causes"][0], answer))
    for batch in batches.values():
        causes = [cause for cause, _ in batch]
        yield from couples("drawn", [one for _, one in batch], lambda i, j, c=causes: c[i] == c[j])  # type: ignore[misc]


def of_real(folder: Path) -> Iterator[Couples]:
    """The couples of each commit, and of batches of one pair a commit."""
    commits: dict[str, list[tuple[dict[str, Any], Measured]]] = defaultdict(list)
    for record in _records(folder):
        if record["split"] == "train" and record["visible_change"] == "yes":
            answer = measure(folder / record["before"], folder / record["after"])
            if answer.changed:
                commits[record["commit"]].append((record, answer))
    for commit in commits.values():
        told = [record for record, _ in commit]
        yield from couples("commit", [one for _, one in commit], lambda i, j, t=told: same_cause(t[i], t[j]))  # type: ignore[misc]
    repositories: dict[str, list[tuple[dict[str, Any], Measured]]] = defaultdict(list)
    for first, *_ in commits.values():
        repositories[first[0]["repo"]].append(first)
    for pairs in repositories.values():
        told = [record for record, _ in pairs[:AT_ONCE]]
        answers = [answer for _, answer in pairs[:AT_ONCE]]
        yield from couples("repository", answers, lambda i, j, t=told: unrelated(t[i], t[j]))  # type: ignore[misc]
    rng = np.random.default_rng(SEED)
    names = sorted(commits)
    for _ in range(BATCHES):
        chosen = [commits[names[k]] for k in rng.choice(len(names), min(AT_ONCE, len(names)), replace=False)]
        batch = [pairs[rng.integers(len(pairs))] for pairs in chosen]
        told = [record for record, _ in batch]
        yield from couples("unrelated", [one for _, one in batch], lambda i, j, t=told: unrelated(t[i], t[j]))  # type: ignore[misc]


def same_cause(one: dict[str, Any], other: dict[str, Any]) -> bool | None:
    """Whether the main changes of two pairs of one commit are alike; None where that is a matter of taste."""
    first, second = one["changes"][0], other["changes"][0]
    if _way(first) == _way(second):
        return True
    listed = [{_way(change) for change in record["changes"]} for record in (one, other)]
    if _way(first) in listed[1] or _way(second) in listed[0]:
        return None
    return None if (first["kind"], first["element"]) == (second["kind"], second["element"]) else False


def unrelated(one: dict[str, Any], other: dict[str, Any]) -> bool | None:
    """False for pairs of two commits; None where one repository may have changed twice in one way."""
    once_more = one["repo"] == other["repo"] and same_cause(one, other) is not False
    return None if once_more else False


def _way(change: dict[str, Any]) -> tuple[str, str]:
    return change["kind"], change["aspect"]


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines())


def fit(features: Values, same: NDArray[np.bool_], counts: Values) -> dict[str, float]:
    """The weight of each feature, of features (N, K) whose couples count so much (N,), and the constant."""
    signs = np.array([-1.0 if name in DIFFERENCES else 1.0 for name in FEATURES])
    signed = features * signs

    def loss(weights: Values) -> tuple[float, Values]:
        odds = signed @ weights[:-1] + weights[-1]
        error = counts * (1 / (1 + np.exp(-odds)) - same)
        value = np.sum(counts * (np.logaddexp(0, odds) - same * odds)) + PULL * np.sum(weights[:-1] ** 2)
        return float(value), np.append(signed.T @ error + 2 * PULL * weights[:-1], error.sum())

    bounds = [(0.0, None)] * len(FEATURES) + [(None, None)]
    start = np.append(np.ones(len(FEATURES)), 0.0)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = dict(zip(FEATURES, (found[:-1] * signs).tolist(), strict=True))
    return {"constant": float(found[-1]), **weights}


def main() -> None:
    """Prints the constants."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("real", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = [one for folder in options.folders for one in of_drawn(folder)]
    found += of_real(options.real)
    same = np.concatenate([one.same for one in found])
    kinds = [(one.source, bool(truth)) for one in found for truth in one.same]
    numbers = Counter(kinds)
    counts = np.array([2000 * SHARES[kind] / numbers[kind] for kind in kinds])
    weights = dict(CAUSE)
    for _ in range(TIMES):
        features = [features_of(one.answers, weights)[one.first, one.second] for one in found]
        weights = fit(np.concatenate(features), same, counts)
    constants = {"CAUSE": {name: round(weight, 2) + 0.0 for name, weight in weights.items()}}
    print(dict(numbers))
    print(constants)
    if options.write:
        write_constants(constants)


if __name__ == "__main__":
    main()
