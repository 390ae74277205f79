"""Precision and recall of each measured attribute of a change, on drawn and on labelled real pairs.

    python -m benchmarks.screens.amounts DRAWN [--split val] [--record]
    python -m benchmarks.screens.amounts $UI_TRAIN --real [--split validation] [--record]

DRAWN is a folder that ``whatchanged synth screens`` drew: its truth names aspect, state and amounts.
$UI_TRAIN holds ``pairs.jsonl`` and ``images/`` of labelled real pairs, whose aspects are free words. Clear
words count as attributes (``REAL``); others are left out.

told       the first three statements with the attribute; precision: the share whose box touches a true
           change with the attribute in the same picture
true       the first two true changes with the attribute; recall: the share that such a statement touches
step       stated amounts of motion and growth; precision: the share within a pixel of the truth (drawn pairs
           only)
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.measured import Box, Statement, measure
from whatchanged.measured.pixels.boxes import gap

Record = Mapping[str, Any]

TOLD, TRUE = 3, 2
"""Statements, and changes of the truth, that count: the first ones."""
NEAR = 3
"""Pixels up to which two boxes touch: edges are seldom found to the pixel."""

ATTRIBUTES = (
    "weight",
    "text size",
    "slant",
    "decoration",
    "letter spacing",
    "outline",
    "radius",
    "shadow",
    "line width",
    "line style",
    "opacity",
    "fill",
    "ink",
    "state",
    "order",
    "alignment",
    "grid",
)
"""The attributes that are judged."""
DRAWN = {"border width": "outline", "border": "outline color"}
"""Words of drawn truths that are another attribute here."""
REAL: Mapping[tuple[str, str], str] = {
    ("restyled", "weight"): "weight",
    ("resized", "font size"): "text size",
    ("restyled", "font style"): "slant",
    ("restyled", "underline"): "decoration",
    ("added", "underline"): "decoration",
    ("removed", "underline"): "decoration",
    ("resized", "letter spacing"): "letter spacing",
    ("restyled", "border"): "outline",
    ("restyled", "outline"): "outline",
    ("added", "outline colour"): "outline",
    ("removed", "outline colour"): "outline",
    ("restyled", "radius"): "radius",
    ("restyled", "shadow"): "shadow",
    ("restyled", "line width"): "line width",
    ("recolored", "opacity"): "opacity",
    ("recolored", "fill"): "fill",
    ("recolored", "text colour"): "ink",
    ("moved", "order"): "order",
    ("moved", "alignment"): "alignment",
    ("added", "grid"): "grid",
    ("removed", "grid"): "grid",
}
"""Kind and free word of real labels, and the attribute that they name."""
STATES = ("checked", "unchecked", "on", "off")
"""States that are measured."""


def attribute_of_truth(change: Record, real: bool) -> str | None:
    """The attribute that a change of the truth has, by the words of its labels; None where it is none of
    ours."""
    values = change.get("values", {})
    state = change.get("state") if real else values.get("state")
    if state in STATES:
        return "state"
    if real:
        return REAL.get((change["kind"], change.get("aspect", "")))
    aspect = str(values.get("aspect", ""))
    name = DRAWN.get(aspect, aspect)
    return name if name in ATTRIBUTES else None


def attribute_of(statement: Statement) -> str | None:
    """The attribute that a statement tells; None where it tells none of ours."""
    values = statement.values
    if values.get("state") in STATES:
        return "state"
    if values.get("align_after"):
        return "alignment"
    aspect = str(values.get("aspect"))
    if aspect in ("fill", "ink"):
        return aspect if statement.kind == "recolored" and "color_after" in values else None
    if aspect == "weight" and "amount_after" not in values:
        return None
    name = DRAWN.get(aspect, aspect)
    return name if name in ATTRIBUTES else None


def touches(statement: Statement, change: Record) -> bool:
    """Whether a statement and a change of the truth have places that touch in one of the pictures."""
    pairs = ((statement.box_before, change["box_before"]), (statement.box_after, change["box_after"]))
    return any(one and other and gap(one, _box(other)) <= NEAR for one, other in pairs)


def _box(values: Sequence[int]) -> Box:
    left, top, right, bottom = values
    return left, top, right, bottom


def steps_right(statement: Statement, changes: Sequence[Record]) -> bool | None:
    """Whether a told step or growth is that of a change that it touches, within a pixel; None where none
    is told."""
    names = ("dx", "dy") if statement.kind == "moved" else ("dwidth", "dheight")
    values = statement.values
    if statement.kind == "resized":
        values = {"dwidth": values.get("dx", 0), "dheight": values.get("dy", 0), **values}
    if statement.kind not in ("moved", "resized") or not any(values.get(name) for name in names):
        return None
    near = [one for one in changes if one["kind"] == statement.kind and touches(statement, one)]
    known = [one["values"] for one in near if any(name in one["values"] for name in names)]
    if not known:
        return None
    return any(
        all(abs(float(values.get(name, 0)) - float(truth.get(name, 0))) <= 1 for name in names)
        for truth in known
    )


def count(statements: Sequence[Statement], changes: Sequence[Record], real: bool) -> Counter[tuple[str, str]]:
    """Of one pair, what is told and true of each attribute, and how much of it rightly."""
    counts: Counter[tuple[str, str]] = Counter()
    truths = [(attribute_of_truth(change, real), change) for change in changes]
    told = [(attribute_of(statement), statement) for statement in statements[:TOLD]]
    for name, statement in told:
        if name is not None:
            right = any(name == other and touches(statement, change) for other, change in truths)
            counts.update({(name, "told"): 1, (name, "told rightly"): int(right)})
        step = None if real else steps_right(statement, changes)
        if step is not None:
            counts.update({("step", "told"): 1, ("step", "told rightly"): int(step)})
    for name, change in truths[:TRUE]:
        if name is not None:
            found = any(name == other and touches(statement, change) for other, statement in told)
            counts.update({(name, "true"): 1, (name, "found"): int(found)})
    return counts


def read_pairs(folder: Path, split: str, real: bool) -> list[Record]:
    """The changed pairs of a split."""
    lines = (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    changed = [one for one in records if one["split"] == split and one["changes"]]
    return [one for one in changed if one["visible_change"] == "yes"] if real else changed


def figures(folder: Path, split: str, real: bool) -> dict[str, Any]:
    """Precision and recall of each attribute over a split, and seconds for a pair."""
    counts: Counter[tuple[str, str]] = Counter()
    records = read_pairs(folder, split, real)
    start = time.process_time()
    for record in records:
        answer = measure(folder / record["before"], folder / record["after"])
        counts.update(count(answer.statements, record["changes"], real))
    seconds = time.process_time() - start
    attributes = {}
    for name in (*ATTRIBUTES, "step"):
        told, true = counts[name, "told"], counts[name, "true"]
        attributes[name] = {
            "told": told,
            "precision": counts[name, "told rightly"] / told if told else None,
            "true": true,
            "recall": counts[name, "found"] / true if true else None,
        }
    return {
        "split": split,
        "real": real,
        "pairs": len(records),
        "attributes": attributes,
        "seconds_per_pair": seconds / max(1, len(records)),
    }


def shown(results: Mapping[str, Any]) -> list[str]:
    """The figures as lines of a table."""
    lines = [f"{'attribute':16s}{'told':>6s}{'precision':>11s}{'true':>6s}{'recall':>8s}"]
    for name, row in results["attributes"].items():
        rates = ["-" if row[key] is None else f"{100 * row[key]:.0f} %" for key in ("precision", "recall")]
        lines.append(f"{name:16s}{row['told']:6d}{rates[0]:>11s}{row['true']:6d}{rates[1]:>8s}")
    return lines


def main() -> None:
    """Measure, print, and record where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default=None)
    parser.add_argument("--real", action="store_true", help="labelled real pairs, not drawn ones")
    add_record_option(parser, "screen_amounts")
    arguments = parser.parse_args()
    split = arguments.split or ("validation" if arguments.real else "val")
    with Watch() as watch:
        results = figures(arguments.folder, split, arguments.real)
    print("\n".join(shown(results)))
    print(f"{results['pairs']} pairs, {results['seconds_per_pair']:.2f} s each")
    if arguments.record:
        rows = [{"attribute": name, **row} for name, row in results["attributes"].items()]
        write_result(arguments.record, "rows", {"rows": rows}, watch=watch)


if __name__ == "__main__":
    main()
