"""From records and predictions to one report, and the report as text, Markdown or JSON.

A number travels with its signature: which implementation it equals, tokeniser, subset, references per pair,
where document frequencies come from, and the version of this package.
"""

import html
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import whatchanged
from whatchanged.errors import OutputError
from whatchanged.evaluation.breakdown import score, subsets
from whatchanged.evaluation.predictions import Prediction
from whatchanged.evaluation.scene_grading import Truth, grade
from whatchanged.records import CHANGE_TYPES, PairRecord

Report = dict[str, Any]

FEW_PAIRS = 50
SHOWN = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")
GRADES = {
    "type_right": "type right",
    "value_right": "new value right",
    "fits": "phrase fits",
    "fits_alone": "phrase fits alone",
    "true": "wholly true",
    "called_none": "called no change",
}


def evaluate_records(
    records: Sequence[PairRecord],
    predictions: Sequence[Prediction],
    truths: Mapping[str, Truth],
    tokenizer: str = "ptb",
    split: str = "all",
    set_aside: int = 0,
) -> Report:
    """Scores in percent, unrounded. ``predictions[i]`` belongs to ``records[i]``, which has references.

        {"overall": {"BLEU-1": .., "CIDEr-D": ..}, "semantic": {..}, "distractor": {..},
         "types": {"color": {..}, ..}, "scene": {..} (where the truth is known),
         "signature": {..}, "warnings": [..]}

    A failed prediction counts as the empty sentence. ``set_aside``: how many predictions are of other splits.
    """
    captions = [p.caption for p in predictions]
    chosen = subsets(records)
    scores = score(captions, [r.captions for r in records], chosen, tokenizer)
    report: Report = {name: scores[name] for name in ("overall", "semantic", "distractor") if name in scores}
    types = {kind: scores[kind] for kind in CHANGE_TYPES if kind in scores}
    if types:
        report["types"] = types
    if any(r.pair_id in truths for r in records):
        report["scene"] = grade(records, captions, truths)
    references = [len(r.captions) for r in records]
    pairs = {name: len(positions) for name, positions in chosen.items()}
    report["signature"] = {
        "whatchanged": whatchanged.__version__,
        "metrics": "values of the COCO caption evaluation (pycocoevalcap 1.2), times 100",
        "dataset": records[0].dataset,
        "split": split,
        "tokenizer": tokenizer,
        "document_frequencies": "subset",
        "references_per_pair": {
            "min": min(references),
            "mean": sum(references) / len(references),
            "max": max(references),
        },
        "pairs": pairs,
        "failed_as_empty": sum(p.error is not None for p in predictions),
        "set_aside": set_aside,
    }
    report["warnings"] = _warnings(pairs)
    return report


def as_text(report: Report) -> str:
    """Tables for a terminal."""
    return "\n\n".join(_aligned(title, rows) for title, rows in _tables(report)) + "\n\n" + _footer(report)


def as_markdown(report: Report) -> str:
    """The same tables in Markdown."""
    parts = []
    for title, (head, *rows) in _tables(report):
        lines = [f"### {title}", "", _row(head), _row(["---", *("---:" for _ in head[1:])]), *map(_row, rows)]
        parts.append("\n".join(lines))
    return (
        "\n\n".join(parts) + "\n\n" + html.escape(_footer(report), quote=False).replace("\n", "\n\n") + "\n"
    )


def as_json(report: Report) -> str:
    """The report itself."""
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def write(path: Path, text: str) -> None:
    """The whole file or none of it: written beside, then moved into place."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _warnings(pairs: Mapping[str, int]) -> list[str]:
    few = [f"{name} {count}" for name, count in pairs.items() if count < FEW_PAIRS]
    if not few:
        return []
    return [
        f"CIDEr-D weighs words by the pairs of the subset: with fewer than {FEW_PAIRS} ({', '.join(few)}) it "
        "compares only with numbers taken on the same pairs, and a single pair scores 0."
    ]


def _tables(report: Report) -> list[tuple[str, list[list[str]]]]:
    """(title, rows), the first row being the head."""
    blocks = {name: report[name] for name in ("overall", "semantic", "distractor") if name in report}
    blocks.update(report.get("types", {}))
    counts = report["signature"]["pairs"]
    rows = [["", "pairs", *SHOWN]]
    rows += [
        [name, f"{counts[name]:,}", *(f"{block[m]:.1f}" for m in SHOWN)] for name, block in blocks.items()
    ]
    tables = [("Against the references (x 100)", rows)]
    if "scene" in report:
        tables.append(("Against the scene (%, 95 % interval)", _scene_rows(report["scene"])))
    return tables


def _scene_rows(scene: Mapping[str, Any]) -> list[list[str]]:
    rows = [["", "pairs", *GRADES.values()]]
    for name, block in {**scene, **scene["types"]}.items():
        if name in ("semantic", "distractor", *scene["types"]):
            of = block["called_none"]["of"]
            rows.append([name, f"{of:,}", *(_share(block.get(key)) for key in GRADES)])
    return rows


def _share(value: Mapping[str, Any] | None) -> str:
    if value is None or value["percent"] is None:
        return "-"
    return f"{value['percent']:.1f} ({value['low']:.0f}-{value['high']:.0f})"


def _footer(report: Report) -> str:
    signature, lines = report["signature"], []
    if "scene" in report:
        unparsable = report["scene"]["unparsable"]
        lines.append(f"Sentences that could not be read: {unparsable['count']} of {unparsable['of']:,}.")
        lines += [f"  {s['id']}: {s['caption']!r}" for s in unparsable["sentences"][:10]]
    lines += [f"Warning: {warning}" for warning in report["warnings"]]
    references = signature["references_per_pair"]
    parts = [
        signature["dataset"],
        f"split {signature['split']}",
        f"{references['min']}-{references['max']} references a pair",
        f"tokenizer {signature['tokenizer']}",
        f"document frequencies of the {signature['document_frequencies']}",
        f"whatchanged {signature['whatchanged']}",
    ]
    if signature["failed_as_empty"]:
        parts.append(f"{signature['failed_as_empty']} failed pairs as empty")
    if signature["set_aside"]:
        parts.append(f"{signature['set_aside']} predictions of other splits set aside")
    return "\n".join([*lines, ", ".join(parts)])


def _aligned(title: str, rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    body = (
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
    return "\n".join([title, *body])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
