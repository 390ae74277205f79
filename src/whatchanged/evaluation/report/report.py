"""From records and predictions to one report.

A number travels with its signature: which implementation it equals, tokeniser, subset, references per pair,
where document frequencies come from, how intervals were made, and the version of this package.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import whatchanged
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.change_detection import change_detection
from whatchanged.evaluation.metrics.scene_grading import Truth, block
from whatchanged.evaluation.report.breakdown import METRICS, Program, nested, placed, viewpoints
from whatchanged.evaluation.statistics.comparison import Measured, compared, confidence, measure, over_seeds
from whatchanged.evaluation.statistics.resampling import LEVEL
from whatchanged.records import PairRecord

Report = dict[str, Any]

FORMAT = 1
"""Of the report in JSON; a key that changes its meaning makes it 2."""
FEW_PAIRS = 50
FEW_GROUPS = 30
FEW_SEEDS = 3


@dataclass(frozen=True)
class Settings:
    """What may be chosen about a report; all of it is named in the signature."""

    tokenizer: str = "ptb"
    frequencies: str = "subset"
    """CIDEr-D's document frequencies: of each ``subset`` (as the benchmark), or of the whole ``corpus``."""
    threshold: float = 0.5
    """No-change probabilities from here on call a pair unchanged."""
    resamples: int = 1000
    """Of the bootstrap, and rounds of the paired test; 0: no intervals."""
    seed: int = 0
    programs: Mapping[str, Program] = field(default_factory=dict)
    """METEOR and SPICE, where they are to be computed."""


def evaluate_records(
    records: Sequence[PairRecord],
    predictions: Sequence[Prediction],
    truths: Mapping[str, Truth],
    settings: Settings | None = None,
    split: str = "all",
    set_aside: int = 0,
    other: Sequence[Prediction] | None = None,
    seeds: Sequence[Sequence[Prediction]] = (),
) -> Report:
    """Scores in percent, unrounded. ``predictions[i]`` belongs to ``records[i]``, which has references.

        {"overall": {"BLEU-1": .., "CIDEr-D": .., "SPICE": null}, "semantic": {..}, "distractor": {..},
         "types": {"color": {..}, ..}, "overlap": {"hardest 25 %": {..}, "IoU 0.3-0.4": {..}, ..},
         "scene": {..} (where the truth is known), "no_change": {..} (where predictions tell it),
         "comparison": {..} (with ``other``), "seeds": {..} (with ``seeds``),
         "intervals": {"overall": {"CIDEr-D": [low, high]}, ..}, "signature": {..}, "warnings": [..]}

    A failed prediction counts as the empty sentence. ``set_aside``: how many predictions are of other splits.
    ``other``: another system's predictions of the same records; ``seeds``: those of the same method trained
    from other seeds.
    """
    settings = settings or Settings()

    def measured(own: Sequence[Prediction]) -> Measured:
        captions = [p.caption for p in own]
        return measure(records, captions, truths, settings.tokenizer, settings.frequencies, settings.programs)

    system = measured(predictions)
    resamples, seed = settings.resamples, settings.seed
    report: Report = nested({place: _values(system, place) for place in system.blocks if place[0] != "scene"})
    if system.graded is not None:
        report["scene"] = block(system.graded, viewpoints(system.chosen))
    intervals = confidence(system, resamples, seed) if resamples else {}
    told = _decision(records, predictions, settings)
    if told is not None:
        report["no_change"], intervals["no_change"] = told
    rest = []
    if other is not None:
        rest.append(measured(other))
        report["comparison"] = compared(system, rest[0], resamples, seed)
    if seeds:
        runs = [system, *(measured(own) for own in seeds)]
        rest += runs[1:]
        report["seeds"] = {"count": len(runs), **over_seeds(runs, resamples, seed)}
    report["intervals"] = intervals
    report["signature"] = _signature(records, system, settings) | {
        "split": split,
        "failed_as_empty": sum(p.error is not None for p in predictions),
        "set_aside": set_aside,
    }
    report["warnings"] = _warnings(report["signature"], 1 + len(seeds))
    for one in rest:
        report["warnings"] += [
            f"{name} is not compared: it could not be computed for the other predictions ({reason})"
            for name, reason in one.unavailable.items()
            if name not in system.unavailable
        ]
    failed = sum(p.error is not None for own in (other or (), *seeds) for p in own)
    if failed:
        report["warnings"].append(f"{failed} failed pairs of the other predictions count as empty sentences.")
    return report


def _values(system: Measured, place: tuple[str, ...]) -> dict[str, float | None]:
    """All metrics in their usual order, null where one has no value."""
    summed = system.blocks[place].summed
    found = dict(zip(summed.names, summed.of().tolist(), strict=True))
    return {name: found.get(name) for name in METRICS}


def _decision(
    records: Sequence[PairRecord], predictions: Sequence[Prediction], settings: Settings
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The block "no_change" and its intervals; None where no pair has both a probability and a truth."""
    told = [
        (p.no_change, r.changed, r.group_id)
        for r, p in zip(records, predictions, strict=True)
        if p.no_change is not None and r.changed is not None
    ]
    if not told:
        return None
    probabilities, changed, groups = zip(*told, strict=True)
    found, ends = change_detection(
        probabilities, changed, groups, settings.threshold, settings.resamples, settings.seed
    )
    found["pairs"]["left_out"] = len(records) - len(told)
    return found, ends


def _signature(records: Sequence[PairRecord], system: Measured, settings: Settings) -> dict[str, Any]:
    references = [len(r.captions) for r in records]
    computed = system.blocks[("overall",)].summed.names
    return {
        "format": FORMAT,
        "whatchanged": whatchanged.__version__,
        "numpy": np.__version__,
        "metrics": "values of the COCO caption evaluation (pycocoevalcap 1.2), times 100",
        "dataset": records[0].dataset,
        "tokenizer": settings.tokenizer,
        "document_frequencies": settings.frequencies,
        "references_per_pair": {
            "min": min(references),
            "mean": sum(references) / len(references),
            "max": max(references),
        },
        "pairs": {name: len(positions) for name, positions in system.chosen.items()},
        "groups": {name: len(set(system.blocks[placed(name)].groups)) for name in system.chosen},
        "intervals": {
            "level": LEVEL,
            "method": "percentile bootstrap of groups (a scene with its pairs), document frequencies fixed",
            "resamples": settings.resamples,
            "seed": settings.seed,
        },
        "not_computed": {
            name: system.unavailable.get(name, "not asked for") for name in METRICS if name not in computed
        },
    }


def _warnings(signature: Mapping[str, Any], seeds: int) -> list[str]:
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
    if 1 < seeds < FEW_SEEDS:
        found.append(f"{seeds} seeds say little about the spread of training: take {FEW_SEEDS} or more.")
    return found
