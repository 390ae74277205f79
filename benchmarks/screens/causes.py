"""How well groups of the measured answer follow the causes of changes in labelled commits.

    python -m benchmarks.screens.causes $UI_GROUPS [--record]

The adjusted Rand index of each commit's groups, against the labels' fine or broad causes, whichever fits
better; once for all pairs and once without those in which nothing is visible; with and without the files'
names. Nothing is fitted or chosen here.
"""

import argparse
import json
from collections import defaultdict
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
    " figures above.",
)
"""Each look at these pairs."""

Pair = dict[str, Any]


def labels_of(answers: Sequence[Measured], names: Sequence[str]) -> list[int]:
    """The group of each pair, -1 for none."""
    labels = [-1] * len(answers)
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
    plain = labels_of(answers, ())
    named = labels_of(answers, [pair["path"] for pair in pairs])
    seen = [index for index, pair in enumerate(pairs) if pair.get("visible", "yes") != "no"]
    everything = range(len(pairs))
    return {
        "commit": commit[:9],
        "repository": pairs[0]["repo"],
        "pairs": len(pairs),
        "causes": len({pair["causes"][0] for pair in pairs}),
        "groups": len(set(plain)),
        "ARI": fit_of(pairs, plain, everything),
        "ARI, visible": fit_of(pairs, plain, seen) if seen else None,
        "ARI, with names": fit_of(pairs, named, everything),
    }


def main() -> None:
    """Prints a row for each commit and the means, and records them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
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
        for name in ("ARI", "ARI, visible", "ARI, with names")
    }
    rows.append({"commit": "mean", **means})
    for row in rows:
        print(row)
    if options.record:
        decimals = dict.fromkeys(means, 2)
        write_result(
            options.record, "rows", {"rows": rows, "decimals": decimals, "looks": LOOKS}, watch=watch
        )


if __name__ == "__main__":
    main()
