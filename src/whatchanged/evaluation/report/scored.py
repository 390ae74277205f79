"""One system's captions with all their scores: the record from which table, JSON and page are made.

Every score is computed here, once. Reports only sum, select and print.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.maps import AttentionMaps
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.caption_metrics import CaptionScores, FurtherMetric, caption_scores
from whatchanged.evaluation.metrics.pointing import Shot, play
from whatchanged.evaluation.metrics.subsets import SubsetPath, Subsets, subsets, viewpoints
from whatchanged.evaluation.metrics.truth import Judged, Truths, judged
from whatchanged.evaluation.statistics.resampling import Sample
from whatchanged.records import PairRecord
from whatchanged.worlds import Verdict, world_of

MOST_CHARACTERS = 5_000
"""Limit on the characters of a caption. The field's longest has some hundreds; time grows with the square of
the length.
"""
FREQUENCIES = ("subset", "corpus")
"""The source of CIDEr-D's document frequencies: each subset (as in the benchmark), or the whole corpus."""


@dataclass(frozen=True)
class ReportSettings:
    """The settings of a report; its signature names them all."""

    tokenizer: str = "ptb"
    """``ptb``, as in the COCO evaluation, or ``plain``, split at blanks."""
    frequencies: str = "subset"
    """One of ``FREQUENCIES``."""
    threshold: float = 0.5
    """A pair with at least this no-change probability is classified as unchanged."""
    resamples: int = 1000
    """Resamples of the bootstrap, and rounds of the paired test; 0: no intervals."""
    seed: int = 0
    """Of the resamples."""
    further_metrics: Mapping[str, FurtherMetric] = field(default_factory=dict)
    """METEOR and SPICE, if they are to be computed."""
    picture_size: tuple[int, int] | None = None
    """Width and height in pixels of every picture, for the pointing game; None: each picture's own."""


@dataclass(frozen=True)
class Scored:
    """P pairs, their predictions, and all scores of these; ``predictions[i]`` belongs to ``records[i]``."""

    records: Sequence[PairRecord]
    predictions: Sequence[Prediction]
    settings: ReportSettings
    captions: CaptionScores
    """All metrics against the references, for each pair."""
    subsets: Subsets
    """The subsets that are scored against the references."""
    against_references: Mapping[SubsetPath, Sample]
    """The metrics of these subsets."""
    judged: Judged | None
    """The verdict on each caption; None where no truth is known."""
    truth_subsets: Subsets
    """The subsets that are judged by the truth."""
    against_truth: Mapping[SubsetPath, Sample]
    """The shares of right captions of these subsets."""
    maps: AttentionMaps | None
    """The attention map of each caption, where maps were given."""
    shots: Sequence[Sequence[Shot]]
    """The results of the pointing game of each pair, where there are maps."""

    @property
    def samples(self) -> dict[SubsetPath, Sample]:
        """Return every number by which two systems can be compared, at its path in a report."""
        graded = {("scene", *path): sample for path, sample in self.against_truth.items()}
        return {**self.against_references, **graded}

    @property
    def verdicts(self) -> Sequence[Verdict | None]:
        """Return the verdict on each caption; None where the pair's truth is unknown."""
        return (None,) * len(self.records) if self.judged is None else self.judged.verdicts

    @property
    def failed(self) -> int:
        """Return how many pairs could not be captioned; they count as empty captions."""
        return sum(prediction.error is not None for prediction in self.predictions)


def score(
    records: Sequence[PairRecord],
    predictions: Sequence[Prediction],
    settings: ReportSettings,
    truths: Truths | None = None,
    maps: AttentionMaps | None = None,
) -> Scored:
    """Compute every score once. ``predictions[i]`` belongs to ``records[i]``, which has references.

    A failed prediction counts as the empty caption. Raises PredictionsError for a caption of more than
    ``MOST_CHARACTERS`` and for a box that leaves its picture, ImageError for a picture that the pointing game
    needs and that cannot be opened.
    """
    _check_lengths(records, predictions)
    # The pointing game first: it fails on files that do not fit, and METEOR takes minutes.
    shots = (
        []
        if maps is None
        else [play(record, maps.of.get(record.pair_id), settings.picture_size) for record in records]
    )
    texts = [prediction.caption for prediction in predictions]
    captions = caption_scores(
        texts,
        [record.captions for record in records],
        settings.tokenizer,
        settings.frequencies,
        settings.further_metrics,
    )
    world = world_of(records[0].dataset) if truths is None else truths.world
    chosen = subsets(records, () if world is None else world.breakdown.kinds)
    groups = _number_groups(records)
    verdicts = None
    by_truth: Subsets = {}
    against_truth = {}
    if truths is not None and any(record.pair_id in truths.by_id for record in records):
        verdicts = judged(records, texts, truths)
        by_truth = verdicts.subsets(viewpoints(chosen))
        against_truth = {p: Sample(verdicts.of(pairs), groups[pairs]) for p, pairs in by_truth.items()}
    return Scored(
        records=records,
        predictions=predictions,
        settings=settings,
        captions=captions,
        subsets=chosen,
        against_references={p: Sample(captions.of(pairs), groups[pairs]) for p, pairs in chosen.items()},
        judged=verdicts,
        truth_subsets=by_truth,
        against_truth=against_truth,
        maps=maps,
        shots=shots,
    )


def _check_lengths(records: Sequence[PairRecord], predictions: Sequence[Prediction]) -> None:
    """Raise PredictionsError where a caption is too long to be scored in bounded time."""
    for record, prediction in zip(records, predictions, strict=True):
        for whose, sentence in [
            ("prediction", prediction.caption),
            *(("reference", c) for c in record.captions),
        ]:
            if len(sentence) > MOST_CHARACTERS:
                raise PredictionsError(
                    f"Pair {record.pair_id}: its {whose} has {len(sentence):,} characters; at most"
                    f" {MOST_CHARACTERS:,} are scored. Shorten it."
                )


def _number_groups(records: Sequence[PairRecord]) -> NDArray[np.int64]:
    """Return the number of each pair's scene (P,), in order of first appearance."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(record.group_id, len(numbers)) for record in records])
