"""The tables of a report, for a terminal and in Markdown, and the lines below them."""

import html
from collections.abc import Iterator, Mapping
from typing import Any

from whatchanged.errors import escaped
from whatchanged.evaluation.metrics.subsets import HARDEST, SubsetPath
from whatchanged.evaluation.report.layout import (
    Rows,
    Table,
    aligned_table,
    blocks_in_order,
    markdown_table,
    span,
    with_ends,
)
from whatchanged.evaluation.report.no_change_block import no_change_table
from whatchanged.evaluation.report.pointing_block import pointing_table
from whatchanged.evaluation.report.scene_block import grade_titles, read_table, scene_table, unread_sentences

WITHOUT_INTERVALS = ("BLEU-1", "BLEU-2", "BLEU-3")
"""Metrics shown without their intervals, which are in the JSON."""
WITH_INTERVALS = ("BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE")
COMPARISON = (
    "Paired comparison: A these predictions, B the others"
    " (p: exchange test, not corrected; Holm: corrected for the metrics of the same pairs)"
)
HEADLINE = {"types": ("CIDEr-D", "true"), "overlap": ("CIDEr-D", "true")}
"""The numbers of these blocks that are shown for several systems; of the viewpoints only the hardest. The
JSON has all.
"""


def as_text(report: Mapping[str, Any]) -> str:
    """Return the tables for a terminal."""
    below = footer(report)
    parts = [aligned_table(title, rows) for title, rows in tables(report)]
    return "\n\n".join([*parts, below])


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the same tables in Markdown."""
    parts = [markdown_table(title, rows) for title, rows in tables(report)]
    below = html.escape(footer(report), quote=False).replace("\n", "\n\n")
    return "\n\n".join([*parts, below]) + "\n"


def tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """Return all tables of a report, or of its JSON."""
    titles = grade_titles(report)
    yield "Against the references (x 100, 95 % interval)", _score_rows(report)
    if "scene" in report:
        yield scene_table(report["scene"], titles)
        of_read = read_table(report["scene"], titles)
        if of_read is not None:
            yield of_read
    if report.get("pointing") is not None:
        yield pointing_table(report["pointing"])
    if "no_change" in report:
        yield no_change_table(report["no_change"], report["intervals"]["no_change"])
    if "comparison" in report:
        yield COMPARISON, _comparison_rows(report["comparison"], titles)
    if "seeds" in report:
        count = report["seeds"]["count"]
        title = f"Over {count} seeds: other seeds, same pairs; same seeds, other scenes"
        yield title, _seed_rows(report["seeds"], titles)


def footer(report: Mapping[str, Any]) -> str:
    """Return the lines below the tables: captions not parsed, metrics not computed, warnings, and the
    signature.
    """
    signature = report["signature"]
    lines = unread_sentences(report["scene"]) if "scene" in report else []
    for name, reason in signature["not_computed"].items():
        reason = reason.removeprefix(f"{name}: ").removesuffix(".")
        lines.append(f"{name}: not computed ({reason}).")
    lines += [f"Warning: {warning}" for warning in report["warnings"]]
    return "\n".join(map(escaped, [*lines, ", ".join(_signature_parts(signature))]))


def _score_rows(report: Mapping[str, Any]) -> Rows:
    shown = [name for name in _with_intervals(report["overall"]) if report["overall"][name] is not None]
    rows = [["", "pairs", *WITHOUT_INTERVALS, *shown]]
    counts = report["signature"]["pairs"]
    intervals = dict(blocks_in_order(report["intervals"]))
    for path, block in blocks_in_order(report):
        ends = intervals.get(path, {})
        rows.append(
            [
                path[-1],
                f"{counts[path[-1]]:,}",
                *(with_ends(block[name]) for name in WITHOUT_INTERVALS),
                *(with_ends(block[name], ends.get(name)) for name in shown),
            ]
        )
    return rows


def _with_intervals(overall: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the metrics that are shown with their intervals: the usual ones, then those of other
    packages.
    """
    return (*WITH_INTERVALS, *(n for n in overall if n not in (*WITH_INTERVALS, *WITHOUT_INTERVALS)))


def _comparison_rows(comparison: Mapping[str, Any], titles: Mapping[str, str]) -> Rows:
    rows = [["", "metric", "A", "B", "A - B", "95 % interval", "p", "p, Holm"]]
    for path, title, cell in _headline(comparison, titles):
        difference = cell["difference"]
        rows.append(
            [
                path[-1],
                title,
                with_ends(cell["a"]),
                with_ends(cell["b"]),
                # Adding 0 turns a rounded -0.0 into 0.0.
                "-" if difference is None else f"{round(difference, 1) + 0:+.1f}",
                span(cell["low"], cell["high"]),
                *("-" if cell[key] is None else f"{cell[key]:.3f}" for key in ("p", "p_holm")),
            ]
        )
    return rows


def _seed_rows(seeds: Mapping[str, Any], titles: Mapping[str, str]) -> Rows:
    rows = [["", "metric", "mean", "sd of seeds", "95 %, seeds", "sd of sampling", "95 %, scenes"]]
    for path, title, cell in _headline(seeds, titles):
        spreads = []
        for prefix in ("", "sampling_"):
            deviation = cell.get(f"{prefix}sd")
            spreads.append("-" if deviation is None else f"{deviation:.2f}")
            spreads.append(span(cell.get(f"{prefix}low"), cell.get(f"{prefix}high")))
        rows.append([path[-1], title, with_ends(cell["mean"]), *spreads])
    return rows


def _headline(
    block: Mapping[str, Any], titles: Mapping[str, str]
) -> Iterator[tuple[SubsetPath, str, Mapping[str, float | None]]]:
    """Return (path, title, cell) of each number that is shown for several systems."""
    for tree, names in (
        (block, _with_intervals(block.get("overall", {}))),
        (block.get("scene", {}), tuple(titles)),
    ):
        for path, cells in blocks_in_order(tree):
            if path[0] == "overlap" and path[-1] != HARDEST:
                continue
            for name in HEADLINE.get(path[0], names):
                if name in cells:
                    yield path, titles.get(name, name), cells[name]


def _signature_parts(signature: Mapping[str, Any]) -> list[str]:
    references, intervals = signature["references_per_pair"], signature["intervals"]
    # Reports of earlier versions have no hash and no protocol.
    hashed = f" ({signature['references_sha256']})" if "references_sha256" in signature else ""
    parts = [
        signature.get("protocol", signature["dataset"]),
        f"split {signature['split']}",
        f"{references['min']}-{references['max']} references a pair{hashed}",
        f"tokenizer {signature['tokenizer']}",
        f"document frequencies of the {signature['document_frequencies']}",
        f"{intervals['resamples']:,} resamples of scenes, seed {intervals['seed']}",
        f"whatchanged {signature['whatchanged']}",
    ]
    if signature["made_by"] is not None:
        parts += _maker_parts(signature["made_by"])
    if signature["failed_as_empty"]:
        parts.append(f"failed pairs as empty: {signature['failed_as_empty']}")
    if signature.get("only_predicted") is not None:
        parts.append(f"pairs without prediction left out: {signature['only_predicted']}")
    if signature["set_aside"]:
        parts.append(f"predictions of other splits set aside: {signature['set_aside']}")
    return parts


def _maker_parts(made_by: Mapping[str, Any]) -> list[str]:
    model = made_by["model"]
    parts = [f"{model['name']} {model['version']}, {made_by['beams']} beam(s)"]
    if model.get("preparation", "unknown") != "unknown":
        parts.append(f"trained on captions prepared as {model['preparation']!r}")
    return parts
