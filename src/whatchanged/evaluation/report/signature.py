"""The signature of a report, which lists everything that its numbers depend on, and the warnings for
readers.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import whatchanged
from whatchanged.evaluation.metrics.caption_metrics import METRICS
from whatchanged.evaluation.metrics.further_metrics import packages_of
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.statistics.resampling import LEVEL
from whatchanged.records import PairRecord

FORMAT = 1
"""The version of the JSON format; a key that changes its meaning makes it 2."""
METEOR = "METEOR 1.5 in Python, the statistics of meteor-1.5.jar (-l en -norm)"
HASH_DIGITS = 12
FEW_PAIRS = 50
FEW_GROUPS = 30
FEW_SEEDS = 3


@dataclass(frozen=True)
class Origin:
    """The origin of the predictions, as far as it is known."""

    split: str = "all"
    """The split of the data set that is scored."""
    set_aside: int = 0
    """How many predictions belong to other splits."""
    made_by: Mapping[str, Any] | None = None
    """The metadata that `whatchanged caption` wrote with the predictions."""
    others: Sequence[Mapping[str, Any]] = ()
    """File and model of each other system's predictions."""
    protocol: str | None = None
    """The name of the reader of the references; None: only the data set is known."""
    not_predicted: int | None = None
    """How many pairs without a prediction were left out on request; None where that was not requested."""
    notes: Sequence[str] = ()
    """Remarks on the files, for the warnings."""
    same_twice: bool = False
    """Whether the same predictions were given for two systems."""


def make_signature(scored: Scored, origin: Origin) -> dict[str, Any]:
    """Return the implementation, the settings and the counts behind the numbers."""
    settings = scored.settings
    counts = [len(record.captions) for record in scored.records]
    computed = scored.against_references[("overall",)].numbers.names
    return {
        "format": FORMAT,
        "whatchanged": whatchanged.__version__,
        "numpy": np.__version__,
        "metrics": "values of the COCO caption evaluation (pycocoevalcap 1.2), times 100",
        "meteor": METEOR if "METEOR" in computed else None,
        "dataset": scored.records[0].dataset,
        "tokenizer": settings.tokenizer,
        "document_frequencies": settings.frequencies,
        "references_per_pair": {"min": min(counts), "mean": sum(counts) / len(counts), "max": max(counts)},
        "pairs": {path[-1]: len(pairs) for path, pairs in scored.subsets.items()},
        "groups": {path[-1]: len(set(sample.groups)) for path, sample in scored.against_references.items()},
        "intervals": {
            "level": LEVEL,
            "method": "percentile bootstrap of groups (a scene with its pairs), document frequencies fixed",
            "resamples": settings.resamples,
            "seed": settings.seed,
        },
        "not_computed": {
            name: scored.captions.unavailable.get(name, "not asked for")
            for name in (*METRICS, *(n for n in scored.captions.unavailable if n not in METRICS))
            if name not in computed
        },
        "split": origin.split,
        "failed_as_empty": scored.failed,
        "set_aside": origin.set_aside,
        "made_by": origin.made_by,
        "others": list(origin.others),
        "protocol": origin.protocol or scored.records[0].dataset,
        "references_sha256": references_hash(scored.records),
        "only_predicted": origin.not_predicted,
        "plugin_metrics": packages_of(computed),
    }


def references_hash(records: Sequence[PairRecord]) -> str:
    """Return 12 hexadecimal digits of the SHA-256 of the references: of all ids with their captions.

    The hashed text is a line of JSON for each pair, ``["id", ["sentence", ..]]`` and a line feed, in UTF-8,
    without escapes, ", " between the values; pairs are sorted by id, the captions of a pair among themselves.
    The hash therefore does not depend on the order in a file, but on every caption, including repeated and
    empty ones.
    """
    digest = hashlib.sha256()
    for record in sorted(records, key=lambda record: record.pair_id):
        line = json.dumps([record.pair_id, sorted(record.captions)], ensure_ascii=False)
        digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:HASH_DIGITS]


def make_warnings(
    signature: Mapping[str, Any], scored: Scored, other: Scored | None, seeds: Sequence[Scored]
) -> list[str]:
    """Return warnings about the numbers: small samples, and results that other systems lack."""
    results = [
        *_of_pairs_left_out(signature),
        *_of_small_samples(signature),
        *_of_weightless_words(scored),
        *_of_few_seeds(1 + len(seeds)),
    ]
    others = [*([other] if other is not None else []), *seeds]
    for each in others:
        results += [
            f"{name} is not compared: it could not be computed for the other predictions ({reason})"
            for name, reason in each.captions.unavailable.items()
            if name not in scored.captions.unavailable
        ]
    failed = sum(each.failed for each in others)
    if failed:
        results.append(f"{failed} failed pairs of the other predictions count as empty sentences.")
    return results


def _of_pairs_left_out(signature: Mapping[str, Any]) -> list[str]:
    left_out, kept = signature["only_predicted"], signature["pairs"]["overall"]
    if not left_out:
        return []
    return [
        f"{left_out:,} of {left_out + kept:,} pairs of the references have no prediction and are left out "
        "(--only-predicted): where they are of this split, the scores may be too high."
    ]


def _of_weightless_words(scored: Scored) -> list[str]:
    """Return a warning where CIDEr-D is 0 because of the references alone."""
    results = []
    for path, pairs in scored.subsets.items():
        count = scored.captions.weightless(pairs)
        if count:
            results.append(f"{path[-1]} {count:,} of {len(pairs):,}")
    if not results:
        return []
    return [
        f"CIDEr-D of these pairs is 0 for any caption ({', '.join(results)}): every word of their "
        "references occurs in those of all pairs, so no word has a weight."
    ]


def _of_small_samples(signature: Mapping[str, Any]) -> list[str]:
    results = []
    pairs = signature["pairs"]
    if signature["document_frequencies"] == "corpus":
        pairs = {"overall": pairs["overall"]}
    few = [f"{name} {count}" for name, count in pairs.items() if count < FEW_PAIRS]
    if few:
        results.append(
            f"CIDEr-D weighs words by the pairs of the {signature['document_frequencies']}: with fewer than "
            f"{FEW_PAIRS} ({', '.join(few)}) it compares only with numbers taken on the same pairs, and a "
            "single pair scores 0."
        )
    scarce = [name for name, count in signature["groups"].items() if count < FEW_GROUPS]
    if scarce and signature["intervals"]["resamples"]:
        results.append(
            f"Intervals of fewer than {FEW_GROUPS} scenes ({', '.join(scarce)}) come out too narrow."
        )
    return results


def _of_few_seeds(seeds: int) -> list[str]:
    if seeds == 1 or seeds >= FEW_SEEDS:
        return []
    return [f"{seeds} seeds say little about the spread of training: take {FEW_SEEDS} or more."]
