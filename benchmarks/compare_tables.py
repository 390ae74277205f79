"""The tables of ``compare.py``: each row's scores with both spreads, by type of change, and its cost."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from whatchanged.evaluation.io.predictions import Prediction, aligned
from whatchanged.evaluation.metrics.truth import Truths
from whatchanged.evaluation.report.layout import markdown_table
from whatchanged.evaluation.report.report import Report, make_report
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.report.signature import Origin
from whatchanged.records import PairRecord

SCORES: Mapping[str, tuple[str, ...]] = {
    "BLEU-4": ("overall", "BLEU-4"),
    "ROUGE-L": ("overall", "ROUGE-L"),
    "CIDEr-D": ("overall", "CIDEr-D"),
    "CIDEr-D, changed": ("semantic", "CIDEr-D"),
    "type right": ("scene", "semantic", "type_right"),
    "wholly true": ("scene", "semantic", "true"),
    "no change told": ("scene", "distractor", "called_none"),
    "change missed": ("scene", "semantic", "called_none"),
}
TYPES = ("color", "material", "add", "drop", "move")
SPREAD = ("CIDEr-D", "wholly true")
"""Scores that are shown with their spreads, and of each type of change."""
KINDS = ("sd of seeds", "95 %, seeds", "sd of sampling", "95 %, scenes")


def cell(report: Report, *place: str) -> dict[str, float | None]:
    """A number with its spreads: over seeds (mean, sd, low, high) and over scenes (sampling_...)."""
    node: Any = report.get("seeds", report)
    for step in place:
        node = node.get(step, {})
    if "seeds" in report:
        return cast(dict[str, float | None], node)
    if isinstance(node, Mapping):  # a share of the scenes, with Wilson's interval
        return {"mean": node["percent"], "sampling_low": node["low"], "sampling_high": node["high"]}
    ends: Any = report["intervals"]
    for step in place:
        ends = (ends or {}).get(step)
    low, high = ends or (None, None)
    return {"mean": node, "sampling_low": low, "sampling_high": high}


def row_of(
    name: str,
    own: Sequence[tuple[Mapping[str, Any], Sequence[Prediction]]],
    records: Sequence[PairRecord],
    truths: Truths | None,
    resamples: int,
) -> dict[str, Any]:
    """One row with all that is known of it. own: each seed's result (what it cost) and predictions."""
    settings = ReportSettings(resamples=resamples)
    first, *rest = (score(records, aligned(said, records), settings, truths) for _, said in own)
    report = make_report(first, seeds=rest, origin=Origin(split="test"))
    results: dict[str, Any] = {"name": name, "seeds": len(own), "runs": [dict(result) for result, _ in own]}
    results["scores"] = {title: cell(report, *path) for title, path in SCORES.items()}
    results["types"] = {
        kind: {
            "CIDEr-D": cell(report, "types", kind, "CIDEr-D"),
            "wholly true": cell(report, "scene", "types", kind, "true"),
        }
        for kind in TYPES
    }
    for key in ("parameters", "pairs", "train_seconds", "train_seconds_per_pair", "caption_seconds_per_pair"):
        values = [result[key] for result, _ in own if key in result]
        results[key] = float(np.mean(values)) if values else None
    return results


def as_markdown(title: str, head: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """``head``, then four tables: scores, their two spreads, types of change, and what it cost."""
    parts: Mapping[str, tuple[Sequence[str], Callable[[Mapping[str, Any]], Sequence[str]]]] = {
        "scores": (tuple(SCORES), lambda row: [_mean(row["scores"][name]) for name in SCORES]),
        "spread of seeds beside spread of scenes": (
            [f"{score}: {kind}" for score in SPREAD for kind in KINDS],
            _spread_columns,
        ),
        "by type of change": (
            [f"{kind} {'CIDEr-D' if score == 'CIDEr-D' else 'true'}" for score in SPREAD for kind in TYPES],
            lambda row: [_mean(row["types"][kind][score]) for score in SPREAD for kind in TYPES],
        ),
        "cost": (("parameters", "pairs", "train s", "train ms/pair", "caption ms/pair"), _cost_columns),
    }
    tables = []
    for part, (columns, cells) in parts.items():
        body = [[f"{row['group']}: {row['name']}", str(row["seeds"]), *cells(row)] for row in rows]
        tables.append(markdown_table(f"{title}: {part}", [["row", "seeds", *columns], *body]))
    said = [
        f"The one sentence for all: {run['sentence']}" for r in rows for run in r["runs"] if "sentence" in run
    ]
    return "\n\n".join([head, *tables, *said]) + "\n"


def _spread_columns(row: Mapping[str, Any]) -> list[str]:
    """``KINDS`` of each score of ``SPREAD``."""
    cells = [row["scores"][score] for score in SPREAD]
    return [
        text
        for c in cells
        for text in (_one(c, "sd"), _ends(c, ""), _one(c, "sampling_sd"), _ends(c, "sampling_"))
    ]


def _cost_columns(row: Mapping[str, Any]) -> list[str]:
    whole = [
        None if row[key] is None else f"{row[key]:,.0f}" for key in ("parameters", "pairs", "train_seconds")
    ]
    each = [row[f"{what}_seconds_per_pair"] for what in ("train", "caption")]
    return [text or "-" for text in whole] + ["-" if s is None else f"{1000 * s:.2f}" for s in each]


def _mean(value: Mapping[str, float | None]) -> str:
    mean, sd = value.get("mean"), value.get("sd")
    return "-" if mean is None else f"{mean:.1f}" + ("" if sd is None else f" ± {sd:.1f}")


def _one(value: Mapping[str, float | None], key: str) -> str:
    found = value.get(key)
    return "-" if found is None else f"{found:.1f}"


def _ends(value: Mapping[str, float | None], prefix: str) -> str:
    low, high = value.get(f"{prefix}low"), value.get(f"{prefix}high")
    return "-" if low is None or high is None else f"{low + 0:.1f} to {high + 0:.1f}"
