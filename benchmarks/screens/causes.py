"""Compares the groups of the measured answer with the causes of changes in labelled commits.

    python -m benchmarks.screens.causes $UI_GROUPS [--unrelated $UI_TRAIN] [--record]

It computes the adjusted Rand index of each commit's groups, against the labels' fine or broad causes,
whichever fits better: without the pairs whose change is labelled invisible or uncertain, once with and once
without the files' names; and once for all pairs. A pair in no group counts as a group of one.

With ``--unrelated``, each batch holds one changed pair of each of several commits. Further rows show the
share of these pairs that stay alone. Nothing is fitted or chosen here.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.compare.grouping import find_groups
from whatchanged.measured import Measured, measure

LOOKS = (
    "The first, before signatures held what colours became: a mean adjusted Rand index of .36.",
    "The second: .43. Weights and limit had been fitted on drawn batches alone.",
    "The third, with the same weights and limit, after the rules had come to tell places otherwise: .42.",
    "The fourth, with the same weights and limit, after exchanged glyphs and stretched plots were told: the"
    " figures of that time, in which pairs that were called unchanged made one group, and uncertain ones"
    " counted as visible: .43, of visible ones .35.",
    "The fifth, after the sentence of a group had to be true of every member: .32 without uncertain pairs.",
    "The sixth, after the odds of one cause took the place of distances, fitted on drawn and on other real"
    " pairs: .38; the version before has .32 in the same look. Afterwards, by drawn pages,"
    " groups whose members push what follows to opposite sides were parted.",
    "The seventh, after that, and after rewritten texts of other words and sizes were parted, by pages"
    " of this project's own: the figures above. Nothing was changed for it.",
    "The eighth, of another rule: weights fitted on more drawn batches, the least alike couple of a group"
    " decides, a look and a layout may be one cause. Drawn batches and other real commits had led to it: .51"
    " of held-out drawn batches and .70 of real commits put together, the rule above .44 and .65. Here .33.",
    "The ninth, of the rule above in the same state of the measurement: .50. So the other rule was withdrawn,"
    " which is a choice by these pairs.",
    "The tenth, of the rule above in a later state of the measurement: .44.",
    "The eleventh, in the same state, of a new rule: the limit is the estimated odds alone, looks of changed"
    " things, new colours and shifts are among the evidence, and only contradictions divide a group. Weights"
    " and limit had been set on drawn batches and on other real commits: .47. Nothing was changed for it.",
    "The twelfth, of the same rule after the measurement came to explain what only looked different: .51."
    " Nothing was changed for it.",
    "The thirteenth, after distances, kinds and new colours of any statements came among the evidence, with"
    " weights and a lower limit set on drawn batches and other real commits: .42. It put the 24 pairs of one"
    " commit, which have nine causes, into two groups. Thereupon both limits were compared on random pairs of"
    " other repositories, where the earlier one was better.",
    "The fourteenth, with the new evidence and the earlier limit: the figures above. That the limits were"
    " compared once more is a consequence of these pairs.",
    "The fifteenth, after rules for corners, frames, backgrounds and what a text pushes, none of them about"
    " groups: .48.",
    "The sixteenth, after rules for orders, covers, lines of plots, sizes and wrapped words, none of them"
    " about groups: .48.",
    "The seventeenth, after two small rules, which are not about groups: the figures above.",
)
"""Each look at these pairs."""

BATCHES = {5: 40, 20: 20, 100: 8}
"""Commits a batch, and batches."""
SEED = 0

Pair = dict[str, Any]


def labels_of(answers: Sequence[Measured], names: Sequence[str] = ()) -> list[int]:
    """The group of each pair; of each that is in none a number of its own, below 0."""
    labels = [-1 - index for index in range(len(answers))]
    for number, group in enumerate(find_groups(answers, names)):
        for member in group.members:
            labels[member] = number
    return labels


def fit_of(pairs: Sequence[Pair], labels: Sequence[int], kept: Sequence[int]) -> float:
    """The adjusted Rand index of the kept pairs, against fine or broad causes."""
    told = [labels[index] for index in kept]
    fine = [pairs[index]["causes"][0] for index in kept]
    broad = [(pairs[index].get("broad") or pairs[index]["causes"])[0] for index in kept]
    return float(max(adjusted_rand_score(fine, told), adjusted_rand_score(broad, told)))


def row_of(commit: str, pairs: Sequence[Pair], folder: Path) -> dict[str, Any]:
    """What one commit's pairs give."""
    answers = [measure(folder / pair["before"], folder / pair["after"]) for pair in pairs]
    plain = labels_of(answers)
    named = labels_of(answers, [pair["path"] for pair in pairs])
    seen = [index for index, pair in enumerate(pairs) if pair["visible"] == "yes"]
    return {
        "commit": commit[:9],
        "repository": pairs[0]["repo"],
        "pairs": len(pairs),
        "visible": len(seen),
        "causes": len({pairs[index]["causes"][0] for index in seen}),
        "groups": len({plain[index] for index in seen}),
        "ARI": fit_of(pairs, plain, seen) if seen else None,
        "ARI, with names": fit_of(pairs, named, seen) if seen else None,
        "ARI, all pairs": fit_of(pairs, plain, range(len(pairs))),
    }


def alone(folder: Path) -> list[dict[str, Any]]:
    """A row a size of batch: the part of the pairs of as many commits that stays alone."""
    commits: dict[str, list[Measured]] = defaultdict(list)
    for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        if pair["visible_change"] == "yes":
            answer = measure(folder / pair["before"], folder / pair["after"])
            if answer.changed:
                commits[pair["commit"]].append(answer)
    rng = np.random.default_rng(SEED)
    names = sorted(commits)
    rows = []
    for size, times in BATCHES.items():
        shares = []
        for _ in range(times):
            chosen = [commits[names[k]] for k in rng.choice(len(names), size, replace=False)]
            counts = Counter(labels_of([pairs[rng.integers(len(pairs))] for pairs in chosen]))
            shares.append(sum(count == 1 for count in counts.values()) / size)
        rows.append({"commit": f"{size} commits, {times} batches", "alone": float(np.mean(shares))})
    return rows


def main() -> None:
    """Prints a row for each commit and the means, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--unrelated", type=Path)
    add_record_option(parser, "screen_causes")
    options = parser.parse_args()
    by_commit: dict[str, list[Pair]] = defaultdict(list)
    for line in (options.folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        by_commit[pair["commit"]].append(pair)
    with Watch() as watch:
        rows = [row_of(commit, pairs, options.folder) for commit, pairs in by_commit.items()]
        means = {
            name: float(np.mean([row[name] for row in rows if row[name] is not None]))
            for name in ("ARI", "ARI, with names", "ARI, all pairs")
        }
        rows.append({"commit": "mean", **means})
        rows += alone(options.unrelated) if options.unrelated else []
    for row in rows:
        print(row)
    if options.record:
        decimals = {**dict.fromkeys(means, 2), "alone": 3}
        figures = {"rows": rows, "decimals": decimals, "looks": LOOKS}
        write_result(options.record, "rows", figures, watch=watch, seeds={"batches": SEED})


if __name__ == "__main__":
    main()
