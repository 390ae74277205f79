"""Measures how well the measured answer locates changes in drawn pairs, and names their kind.

    python -m benchmarks.screens.proposals FOLDER [FOLDER ...] [--held] [--list] [--every 1]

``whatchanged synth screens`` draws a FOLDER. Only pairs with one change count. ``--held`` takes only the
held-out designs; without it only the other designs are used. ``--list`` prints a line for each pair whose
change is located wrongly.
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.screens.boxes import points_into
from benchmarks.screens.judged import place
from whatchanged.measured import Measured, measure
from whatchanged.measured.pixels.boxes import iou


def pairs_of(folder: Path, held: bool) -> list[dict[str, Any]]:
    """The pairs of one folder with one change, each with that change's kind, aspect and place."""
    lines = (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    results = []
    for pair in map(json.loads, lines):
        if len(pair["changes"]) == 1 and (pair["split"] != "train") == held:
            (change,) = pair["changes"]
            shown = change["box_after"] or change["box_before"]
            about = {"kind": change["kind"], "aspect": change["values"]["aspect"], "place": shown}
            results.append({**pair, **about, "alike": max(1, len(change["boxes"]))})
    return results


def judged(pair: dict[str, Any], answer: Measured) -> tuple[bool, bool, bool]:
    """Whether the first statement overlaps the change, points into it, and names its kind."""
    if not answer.statements:
        return False, False, False
    first = answer.statements[0]
    box = place(first)
    left, top, right, bottom = pair["place"]
    shown = left, top, right, bottom
    return iou(box, shown) >= 0.5, points_into(box, shown), first.kind == pair["kind"]


def main() -> None:
    """Prints the shares by kind, and what kinds were told."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    right: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    told: Counter[tuple[str, str]] = Counter()
    for folder in options.folders:
        for pair in pairs_of(folder, options.held)[:: options.every]:
            answer = measure(folder / pair["before"], folder / pair["after"])
            results = judged(pair, answer)
            kind = str(answer.statements[0].kind) if answer.statements else "nothing"
            right[pair["kind"]].append(results)
            told[pair["kind"], kind] += 1
            if options.list and not (results[0] and results[1]):
                boxes = [(one.kind, one.values.get("aspect"), place(one)) for one in answer.statements[:3]]
                print(pair["id"], pair["kind"], pair["aspect"], pair["alike"], pair["place"], *boxes)
    print(f"{'':>10} pairs  IoU>=.5 pointing kind")
    for kind, found_all in [*right.items(), ("all", [one for part in right.values() for one in part])]:
        shares = np.mean(found_all, axis=0)
        print(f"{kind:>10} {len(found_all):5} " + " ".join(f"{100 * share:8.1f}" for share in shares))
    for (kind, said), count in sorted(told.items()):
        print(f"{kind} told as {said}: {count}")


if __name__ == "__main__":
    main()
