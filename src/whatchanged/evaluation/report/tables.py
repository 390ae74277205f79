"""A report to read: tables for a terminal and in Markdown, and the report itself as JSON."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whatchanged.evaluation.metrics import pointing
from whatchanged.evaluation.report.breakdown import HARDEST
from whatchanged.evaluation.report.report import Report
from whatchanged.evaluation.statistics.intervals import with_ends

Rows = list[list[str]]
"""The first row is the head, the first column names the rows."""

PLAIN = ("BLEU-1", "BLEU-2", "BLEU-3")
"""Metrics shown without their intervals, which the JSON holds."""
PAIRED = (
    "Paired comparison: A these predictions, B the others"
    " (p: exchange test, not corrected; Holm: corrected for the metrics of the same pairs)"
)
SHOWN = ("BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE")
GRADES = {
    "type_right": "type right",
    "value_right": "new value right",
    "fits": "phrase fits",
    "fits_alone": "phrase fits alone",
    "true": "wholly true",
    "called_none": "called no change",
}
DECIDED = {
    "recall": "recall",
    "false_alarms": "false alarms",
    "accuracy": "accuracy",
    "AUC": "AUC",
    "Brier": "Brier",
    "ECE": "ECE",
    "ECE_if_calibrated": "ECE if calibrated, at most",
}
MAIN = ("overall", "semantic", "distractor")
NESTED = ("types", "overlap")
HEADLINE = {"types": ("CIDEr-D", "true"), "overlap": ("CIDEr-D", "true")}
"""What of nested blocks is shown of several systems; of the viewpoints only the hardest. The JSON has all."""


def as_text(report: Report) -> str:
    """Tables for a terminal."""
    return "\n\n".join(aligned_table(title, rows) for title, rows in tables(report)) + "\n\n" + footer(report)


def as_markdown(report: Report) -> str:
    """The same tables in Markdown."""
    parts = [markdown_table(title, rows) for title, rows in tables(report)]
    return "\n\n".join(parts) + "\n\n" + html.escape(footer(report), quote=False).replace("\n", "\n\n") + "\n"


def as_json(report: Report) -> str:
    """The report itself."""
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def tables(report: Report) -> Iterator[tuple[str, Rows]]:
    """Title and rows of each table."""
    yield "Against the references (x 100, 95 % interval)", _score_rows(report)
    if "scene" in report:
        yield "Against the scene (%, 95 % interval)", _scene_rows(report["scene"])
    if report.get("pointing") is not None:
        yield pointing.table(report["pointing"])
    if "no_change" in report:
        found, ends = report["no_change"], report["intervals"]["no_change"]
        pairs = found["pairs"]["changed"] + found["pairs"]["unchanged"]
        yield (
            f"Changed or not (%, 95 % interval), unchanged from a probability of {found['threshold']:g} on",
            [
                ["", "pairs", *DECIDED.values()],
                [
                    "overall",
                    f"{pairs:,}",
                    *(with_ends(found.get(key), ends.get(key)) for key in DECIDED),
                ],
            ],
        )
    if "comparison" in report:
        yield PAIRED, _compared_rows(report["comparison"])
    if "seeds" in report:
        count = report["seeds"]["count"]
        yield (
            f"Over {count} seeds: other seeds, same pairs; same seeds, other scenes",
            _seed_rows(report["seeds"]),
        )


def _score_rows(report: Report) -> Rows:
    shown = [m for m in SHOWN if report["overall"][m] is not None]
    rows = [["", "pairs", *PLAIN, *shown]]
    counts = report["signature"]["pairs"]
    intervals = dict(_blocks(report["intervals"]))
    for place, block in _blocks(report):
        ends = intervals.get(place, {})
        rows.append(
            [
                place[-1],
                f"{counts[place[-1]]:,}",
                *(with_ends(block[m]) for m in PLAIN),
                *(with_ends(block[m], ends.get(m)) for m in shown),
            ]
        )
    return rows


def _scene_rows(scene: Mapping[str, Any]) -> Rows:
    rows = [["", "pairs", *GRADES.values()]]
    for place, block in _blocks(scene):
        of = block["called_none"]["of"]
        rows.append([place[-1], f"{of:,}", *(_share(block.get(key)) for key in GRADES)])
    return rows


def _compared_rows(comparison: Mapping[str, Any]) -> Rows:
    rows = [["", "metric", "A", "B", "A - B", "95 % interval", "p", "p, Holm"]]
    for place, name, cell in _headline(comparison):
        gap = "-" if cell["difference"] is None else f"{round(cell['difference'], 1) + 0:+.1f}"
        rows.append(
            [
                place[-1],
                name,
                with_ends(cell["a"]),
                with_ends(cell["b"]),
                gap,
                _span(cell["low"], cell["high"]),
                *("-" if cell[key] is None else f"{cell[key]:.3f}" for key in ("p", "p_holm")),
            ]
        )
    return rows


def _seed_rows(seeds: Mapping[str, Any]) -> Rows:
    rows = [["", "metric", "mean", "sd of seeds", "95 %, seeds", "sd of sampling", "95 %, scenes"]]
    for place, name, cell in _headline(seeds):
        kinds = []
        for prefix in ("", "sampling_"):
            spread = cell.get(f"{prefix}sd")
            kinds += [
                "-" if spread is None else f"{spread:.2f}",
                _span(cell.get(f"{prefix}low"), cell.get(f"{prefix}high")),
            ]
        rows.append([place[-1], name, with_ends(cell["mean"]), *kinds])
    return rows


def _headline(block: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str, Mapping[str, Any]]]:
    """(place, name, cell) of what is shown of several systems."""
    for tree, names in ((block, SHOWN), (block.get("scene", {}), tuple(GRADES))):
        for place, cells in _blocks(tree):
            if place[0] == "overlap" and place[-1] != HARDEST:
                continue
            for name in HEADLINE.get(place[0], names):
                if name in cells:
                    yield place, GRADES.get(name, name), cells[name]


def _blocks(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The blocks of numbers of a report in reading order, each with its place."""
    for name in MAIN:
        if name in tree:
            yield (name,), tree[name]
    for group in NESTED:
        for name, block in tree.get(group, {}).items():
            yield (group, name), block


def _span(low: float | None, high: float | None) -> str:
    # Adding 0 turns a rounded -0.0 into 0.0.
    return "-" if low is None or high is None else f"{round(low, 1) + 0:.1f} to {round(high, 1) + 0:.1f}"


def _share(value: Mapping[str, Any] | None) -> str:
    if value is None or value["percent"] is None:
        return "-"
    return with_ends(value["percent"], (value["low"], value["high"]))


def footer(report: Report) -> str:
    """What stands below the tables: what could not be read or computed, warnings, the signature."""
    signature, lines = report["signature"], []
    if "scene" in report:
        unparsable = report["scene"]["unparsable"]
        lines.append(f"Sentences that could not be read: {unparsable['count']} of {unparsable['of']:,}.")
        lines += [f"  {s['id']}: {s['caption']!r}" for s in unparsable["sentences"][:10]]
    lines += [f"{name}: not computed ({reason})." for name, reason in signature["not_computed"].items()]
    lines += [f"Warning: {warning}" for warning in report["warnings"]]
    references, intervals = signature["references_per_pair"], signature["intervals"]
    parts = [
        signature["dataset"],
        f"split {signature['split']}",
        f"{references['min']}-{references['max']} references a pair",
        f"tokenizer {signature['tokenizer']}",
        f"document frequencies of the {signature['document_frequencies']}",
        f"{intervals['resamples']:,} resamples of scenes, seed {intervals['seed']}",
        f"whatchanged {signature['whatchanged']}",
    ]
    maker = signature.get("made_by")
    if maker is not None:
        model = maker["model"]
        parts.append(f"{model['name']} {model['version']}, {maker['beams']} beam(s)")
        if model.get("preparation", "unknown") != "unknown":
            parts.append(f"trained on captions prepared as {model['preparation']!r}")
    if signature["failed_as_empty"]:
        parts.append(f"failed pairs as empty: {signature['failed_as_empty']}")
    if signature["set_aside"]:
        parts.append(f"predictions of other splits set aside: {signature['set_aside']}")
    return "\n".join([*lines, ", ".join(parts)])


def markdown_table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """A table for a Markdown page."""
    head, *body = rows
    lines = [f"### {title}", "", _row(head), _row(["---", *("---:" for _ in head[1:])]), *map(_row, body)]
    return "\n".join(lines)


def aligned_table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal."""
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
