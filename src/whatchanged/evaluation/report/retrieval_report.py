"""Retrieval between pairs and captions: its report and its table.

The bootstrap intervals resample the queries by scene; the items that are ranked stay the same.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.similarity import Similarity, read_similarity
from whatchanged.evaluation.metrics.retrieval import CUTOFFS, NUMBERS, Ranks, rank_both, summary, weighted
from whatchanged.evaluation.report.layout import Table, with_ends
from whatchanged.evaluation.statistics.resampling import LEVEL, intervals
from whatchanged.records import PairRecord

RULES = ("own_pair", "equal_texts")
"""The pairs that count as right for a text; each rule has a table."""


def retrieval_report(
    path: Path, records: Sequence[PairRecord], resamples: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """Score a file of similarities by both rules for identical texts, and return the report with its
    coverage.

    Raises PredictionsError for pairs that are not among ``records`` and for texts that are not among their
    captions: the numbers would belong to another benchmark.
    """
    found = read_similarity(path)
    _check_fit(path, found, records)
    scene = {record.pair_id: record.group_id for record in records}
    scenes = [scene[pair] for pair in found.pairs]
    return {
        "own_pair": retrieval(found, False, scenes, resamples, seed),
        "equal_texts": retrieval(found, True, scenes, resamples, seed),
        "not_in_the_matrix": len(scene) - len(found.pairs),
        "sampling": {
            "level": LEVEL,
            "method": "percentile bootstrap of scenes: their queries, among the same items",
            "resamples": resamples,
            "seed": seed,
        },
    }


def retrieval(
    similarity: Similarity,
    equal_texts: bool = False,
    scenes: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Score retrieval in both directions.

        text_to_pair    every text searches its pair
        pair_to_text    every pair searches its texts; a pair's texts are one item, with the score of the best

    ``equal_texts``: a pair with the identical text is right, too (captions repeat in the benchmarks, mostly
    those of "no change"); otherwise only the text's own pair is. scenes: the scene of each pair; if given,
    each direction has ``intervals`` (``spread``).
    """
    by_text, by_pair = rank_both(
        similarity.matrix, similarity.owner, similarity.texts if equal_texts else None
    )
    blocks = {"text_to_pair": summary(by_text, of_texts=True), "pair_to_text": summary(by_pair)}
    if scenes is not None and resamples:
        of_texts = [scenes[owner] for owner in similarity.owner]
        blocks["text_to_pair"]["intervals"] = spread(by_text, of_texts, resamples, seed, of_texts=True)
        blocks["pair_to_text"]["intervals"] = spread(by_pair, scenes, resamples, seed)
    return {
        **blocks,
        "pairs": len(similarity.pairs),
        "texts": len(similarity.texts),
        "equal_texts_count": equal_texts,
    }


def spread(
    ranks: Ranks, scenes: Sequence[str], resamples: int, seed: int = 0, of_texts: bool = False
) -> dict[str, dict[str, list[float] | None]]:
    """Return the 95 % interval [low, high] of each number of ``summary``, by ties, except those of
    ``authors``.

    scenes: the scene of each query. None where all queries are from one scene.
    """
    return {
        ties: dict(zip(NUMBERS, intervals(numbers, scenes, resamples, seed), strict=True))
        for ties, numbers in weighted(ranks, of_texts).items()
    }


def retrieval_tables(report: Mapping[str, Any]) -> list[Table]:
    """Return a table for each rule."""
    return [retrieval_table(report[rule]) for rule in RULES]


def retrieval_table(report: Mapping[str, Any]) -> Table:
    """Return a table of both directions, with a row for each way to count ties."""
    rows = [["", "queries", "ties", *(f"R@{k}" for k in CUTOFFS), "MdR", "MnR"]]
    for direction in ("text_to_pair", "pair_to_text"):
        block = report[direction]
        for ties in (name for name in ("optimistic", "expected", "authors") if name in block):
            ends = block.get("intervals", {}).get(ties, {})
            numbers = [with_ends(value, ends.get(name)) for name, value in block[ties].items()]
            rows.append([direction.replace("_", " "), f"{block['queries']:,}", ties, *numbers])
    right = "equal texts of other pairs count" if report["equal_texts_count"] else "only the own pair counts"
    return f"Retrieval ({report['pairs']:,} pairs, {report['texts']:,} texts; {right})", rows


def as_json(report: Mapping[str, Any]) -> str:
    """Return the report as `whatchanged evaluate --json` writes it."""
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _check_fit(path: Path, similarity: Similarity, records: Sequence[PairRecord]) -> None:
    """Check that every pair and every text of the matrix is one of the records'."""
    captions = {record.pair_id: set(record.captions) for record in records}
    unknown = [pair for pair in similarity.pairs if pair not in captions]
    if unknown:
        raise PredictionsError(
            f"{path}: {len(unknown):,} of its pairs are not in the references (first: {unknown[0]}). Same "
            "data set and --split?"
        )
    owners = [similarity.pairs[owner] for owner in similarity.owner]
    foreign = [
        (pair, text)
        for pair, text in zip(owners, similarity.texts, strict=True)
        if text not in captions[pair]
    ]
    if foreign:
        raise PredictionsError(
            f"{path}: {len(foreign):,} of its texts are not among their pair's references (first: "
            f"{foreign[0][0]}, {foreign[0][1]!r})."
        )
