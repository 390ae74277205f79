"""What a report's numbers depend on, and what a reader should be warned of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import whatchanged
from whatchanged.evaluation.metrics.caption_metrics import METRICS
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.statistics.resampling import LEVEL

FORMAT = 1
"""Of the report in JSON; a key that changes its meaning makes it 2."""
METEOR = "METEOR 1.5 in Python, the statistics of meteor-1.5.jar (-l en -norm)"
FEW_PAIRS = 50
FEW_GROUPS = 30
FEW_SEEDS = 3


@dataclass(frozen=True)
class Origin:
    """Where the predictions come from, as far as it is known."""

    split: str = "all"
    """The split of the data set that is scored."""
    set_aside: int = 0
    """How many predictions are of other splits."""
    made_by: Mapping[str, Any] | None = None
    """What `whatchanged caption` noted about the predictions."""
    others: Sequence[Mapping[str, Any]] = ()
    """File and maker of each other system's predictions."""
    same_twice: bool = False
    """Whether the same predictions were given for two systems."""


def make_signature(scored: Scored, origin: Origin) -> dict[str, Any]:
    """Which implementation and settings the numbers are of, and what was counted."""
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
        "pairs": {place[-1]: len(pairs) for place, pairs in scored.subsets.items()},
        "groups": {place[-1]: len(set(sample.groups)) for place, sample in scored.against_references.items()},
        "intervals": {
            "level": LEVEL,
            "method": "percentile bootstrap of groups (a scene with its pairs), document frequencies fixed",
            "resamples": settings.resamples,
            "seed": settings.seed,
        },
        "not_computed": {
            name: scored.captions.unavailable.get(name, "not asked for")
            for name in METRICS
            if name not in computed
        },
        "split": origin.split,
        "failed_as_empty": scored.failed,
        "set_aside": origin.set_aside,
        "made_by": origin.made_by,
        "others": list(origin.others),
    }


def make_warnings(
    signature: Mapping[str, Any], scored: Scored, other: Scored | None, seeds: Sequence[Scored]
) -> list[str]:
    """Sentences for whoever reads the numbers: small samples, other systems that lack something."""
    found = [*_of_small_samples(signature), *_of_few_seeds(1 + len(seeds))]
    others = [*([other] if other is not None else []), *seeds]
    for each in others:
        found += [
            f"{name} is not compared: it could not be computed for the other predictions ({reason})"
            for name, reason in each.captions.unavailable.items()
            if name not in scored.captions.unavailable
        ]
    failed = sum(each.failed for each in others)
    if failed:
        found.append(f"{failed} failed pairs of the other predictions count as empty sentences.")
    return found


def _of_small_samples(signature: Mapping[str, Any]) -> list[str]:
    found = []
    pairs = signature["pairs"]
    if signature["document_frequencies"] == "corpus":
        pairs = {"overall": pairs["overall"]}
    few = [f"{name} {count}" for name, count in pairs.items() if count < FEW_PAIRS]
    if few:
        found.append(
            f"CIDEr-D weighs words by the pairs of the {signature['document_frequencies']}: with fewer than "
            f"{FEW_PAIRS} ({', '.join(few)}) it compares only with numbers taken on the same pairs, and a "
            "single pair scores 0."
        )
    scarce = [name for name, count in signature["groups"].items() if count < FEW_GROUPS]
    if scarce and signature["intervals"]["resamples"]:
        found.append(
            f"Intervals of fewer than {FEW_GROUPS} scenes ({', '.join(scarce)}) come out too narrow."
        )
    return found


def _of_few_seeds(seeds: int) -> list[str]:
    if seeds == 1 or seeds >= FEW_SEEDS:
        return []
    return [f"{seeds} seeds say little about the spread of training: take {FEW_SEEDS} or more."]
