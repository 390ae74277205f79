"""A report as a page: the tables, then every pair with its caption, references and scores, worst first."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.report.report import Report
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.report.side_by_side import (
    ORDER,
    order_by_difference,
    pair_scores,
    system_captions,
    systems_of,
)
from whatchanged.evaluation.report.tables import footer, tables
from whatchanged.page import Badge, Page, Pair, SystemSentence
from whatchanged.records import corners
from whatchanged.worlds import Verdict

NOT_TRUE, UNREADABLE, TRUE = "not true", "unreadable", "true"
"""The possible judgements of a caption against the truth of its pair, worst first."""


def report_page(report: Report, title: str) -> Page:
    """Return the page of a report. All scores come from the report's record."""
    scored, systems = report.scored, systems_of(report)
    orders = _orders(scored)
    if systems:
        orders = {ORDER: order_by_difference(systems), **orders}
    pairs = [_pair(scored, i) for i in range(len(scored.records))]
    if systems:
        pairs = [_compared(pair, system_captions(systems, i)) for i, pair in enumerate(pairs)]
    return Page(
        title=title,
        pairs=pairs,
        tables=list(tables(report)),
        notes=footer(report).split("\n"),
        orders=orders,
    )


def _pair(scored: Scored, i: int) -> Pair:
    """Return one pair with its prediction, its scores and, where the truth is known, its errors."""
    record, prediction = scored.records[i], scored.predictions[i]
    verdict = scored.verdicts[i]
    facts = pair_scores(scored, i)
    if record.viewpoint_iou is not None and math.isfinite(record.viewpoint_iou):
        facts.append(f"overlap of the views {record.viewpoint_iou:.2f}")
    tags = {}
    if record.change_type:
        tags["type"] = record.change_type
    if verdict is not None:
        tags["truth"] = grade(verdict)
    return Pair(
        id=record.pair_id,
        before=None if record.after is None else record.before,
        after=record.after,
        line=_line(prediction),
        references=record.captions,
        boxes=(corners(record.boxes[0]), corners(record.boxes[1])),
        heatmaps=None if scored.maps is None else scored.maps.of.get(record.pair_id),
        words=_words(scored, record.pair_id),
        badges=_badges(record.change_type, verdict),
        facts=facts,
        tags=tags,
    )


def _words(scored: Scored, pair_id: str) -> list[tuple[str, NDArray[np.float16]]]:
    """Return each word of the prediction with its attention map, in the stored size to save space."""
    if scored.maps is None or scored.maps.files is None or pair_id not in scored.maps.of:
        return []
    return [(word, maps.astype(np.float16)) for word, maps in scored.maps.files.read(pair_id)]


def _compared(pair: Pair, captions: Sequence[SystemSentence]) -> Pair:
    """Return the pair with the captions of all systems; pages can be filtered by whether these agree."""
    sentences = {tuple(text for text, _ in each.parts) for each in captions}
    tags = {**pair.tags, "systems": "say the same" if len(sentences) == 1 else "differ"}
    own = captions[0].facts  # each system's scores stand with its sentence
    facts = [fact for fact in pair.facts if fact not in own]
    return replace(pair, captions=captions, tags=tags, facts=facts)


def grade(verdict: Verdict) -> str:
    """Return a verdict in a word or two."""
    if not verdict.parsed:
        return UNREADABLE
    return TRUE if verdict.true else NOT_TRUE


def _badges(change_type: str | None, verdict: Verdict | None) -> list[Badge]:
    """Return the change type, whether the caption is true, and its worst error."""
    badges = [Badge(change_type)] if change_type else []
    if verdict is None:
        return badges
    word = grade(verdict)
    if word == UNREADABLE:
        return [*badges, Badge(word, "doubt")]
    badges.append(Badge(word, "good" if word == TRUE else "bad"))
    if verdict.fault:
        badges.append(Badge(verdict.fault, "bad"))
    return badges


def _line(prediction: Prediction) -> dict[str, object]:
    """Return the prediction as a line of output."""
    return {
        "caption": prediction.caption,
        "error": prediction.error,
        "no_change": prediction.no_change,
    }


def _orders(scored: Scored) -> dict[str, Sequence[int]]:
    """Return the orders of the pairs, worst first, by each available measure."""
    rouge, cider = scored.captions.rouge, scored.captions.cider
    places = range(len(scored.records))
    orders: dict[str, Sequence[int]] = {
        "worst CIDEr-D first": sorted(places, key=lambda i: (cider[i], rouge[i])),
        "worst ROUGE-L first": sorted(places, key=lambda i: (rouge[i], cider[i])),
    }
    for name, scores in scored.captions.plugged_in.items():
        orders[f"worst {name} first"] = sorted(places, key=lambda i, s=scores: (s[i], cider[i]))  # type: ignore[misc]
    if any(verdict is not None for verdict in scored.verdicts):
        grades = (NOT_TRUE, UNREADABLE, TRUE)
        ranks = [3 if verdict is None else grades.index(grade(verdict)) for verdict in scored.verdicts]
        orders["not true first"] = sorted(places, key=lambda i: (ranks[i], cider[i]))
    return orders
