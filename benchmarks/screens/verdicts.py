"""The verdicts of readers who did not know which system had written a sentence, from
``benchmarks/readings``.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchmarks.record import ROOT
from benchmarks.screens.blind_reading import VERDICTS

READINGS = ROOT / "benchmarks" / "readings"
Counts = Mapping[str, Mapping[str, Counter[str]]]
"""State -> "changed" or "unchanged" pairs -> verdict -> how often."""


def verdicts(name: str = "screens") -> Counts:
    """The verdicts on one list of sentences. A sentence that two states share counts for both."""
    chosen = json.loads((READINGS / f"{name}.list.json").read_text(encoding="utf-8"))
    counts: dict[str, dict[str, Counter[str]]] = {}
    for one in _lines(f"{name}.verdicts.jsonl"):
        of = "changed" if one["id"] in chosen["changed"] else "unchanged"
        for state in one["states"]:
            counts.setdefault(state, {"changed": Counter(), "unchanged": Counter()})[of][one["verdict"]] += 1
    return counts


def verdict_rows(counts: Counts) -> list[list[str]]:
    """A row a state: verdicts on changed pairs with their shares, then on unchanged ones.

    "other" holds the unchanged pairs in which a reader saw a change, and judged the sentence by it.
    """
    rows = []
    for state, found in sorted(counts.items()):
        changed, unchanged = found["changed"], found["unchanged"]
        shares = [f"{changed[name]} ({100 * changed[name] / changed.total():.0f} %)" for name in VERDICTS[:4]]
        others = unchanged.total() - unchanged["right"] - unchanged["false alarm"]
        rows.append([state, *shares, *map(str, (unchanged["right"], unchanged["false alarm"], others))])
    return rows


def shares(counts: Counts) -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    """State -> "changed" or "unchanged" pairs -> verdict -> how often ("count"), of how many ("of").

    "wrong" is what is partly wrong or false.
    """
    return {
        state: {
            of: {
                name: {"count": number, "of": found.total()}
                for name, number in {**found, "wrong": found["partly"] + found["false"]}.items()
            }
            for of, found in sides.items()
        }
        for state, sides in counts.items()
    }


def preferences(name: str = "screens") -> dict[str, Counter[str]]:
    """State -> how often it was preferred, and each verdict on it; "neither" -> how often none was."""
    counts: dict[str, Counter[str]] = {}
    for one in _lines(f"{name}.preferences.jsonl"):
        better = one["states"].get(one["better"], "neither")
        counts.setdefault(better, Counter())["preferred"] += 1
        for which in ("one", "two"):
            counts.setdefault(one["states"][which], Counter())[one[which]] += 1
    return counts


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (READINGS / name).read_text(encoding="utf-8").splitlines()]
