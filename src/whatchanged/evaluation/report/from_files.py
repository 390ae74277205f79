"""Make a report from files: read predictions and references, match them, and score."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whatchanged.datasets import Dataset, dataset_names
from whatchanged.errors import DatasetError, PredictionsError
from whatchanged.evaluation.io.maps import read_maps
from whatchanged.evaluation.io.predictions import (
    NO_PREDICTION,
    TWO_FILES,
    Prediction,
    aligned,
    lacking_file,
    made_by,
    predicted,
    read_predictions,
)
from whatchanged.evaluation.io.references import DISTRACTOR, open_references
from whatchanged.evaluation.metrics.truth import read_truths
from whatchanged.evaluation.report.report import Report, make_report
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.report.signature import Origin
from whatchanged.records import PairRecord

PROTOCOLS = "spot_the_diff"
"""Several readers read the same files in different ways. Their names begin with one of these prefixes."""
_SEED = re.compile(r"[-_. ]*(?:seed|run|rep|s)?[-_. =]*\d+[-_. ]*|[-_. ]*seed[-_. ]*")
"""The parts in which the names of one method's runs differ."""


@dataclass(frozen=True)
class References:
    """A data set or a file of captions, and the split to score against."""

    path: Path
    split: str = "all"
    dataset: str | None = None
    """The name of the data set; recognised if None."""
    skip_missing: bool = False
    """Whether pairs whose pictures are missing are left out."""

    def open(self, split: str | None = None) -> Dataset:
        """Return the pairs of the chosen split, or of another split."""
        return open_references(self.path, split or self.split, self.dataset, self.skip_missing)


@dataclass(frozen=True)
class Systems:
    """The files of predictions: those of one system, and those of others to compare it with."""

    own: Path
    compare: Path | None = None
    """The predictions of another system, for a paired comparison."""
    seeds: Sequence[Path] = ()
    """The predictions of the same method, trained from other seeds."""
    attention: Path | None = None
    """The folder of the attention maps of ``own``."""
    failed_as_empty: bool = False
    """Whether pairs that failed or have no prediction count as empty captions; otherwise they raise an
    error.
    """
    only_predicted: bool = False
    """Whether pairs of the references without a prediction of ``own`` are left out."""

    @property
    def others(self) -> list[Path]:
        """Return the files of the other systems."""
        return [*([] if self.compare is None else [self.compare]), *self.seeds]


def report_from_files(
    systems: Systems, references: References, settings: ReportSettings, threshold: float | None = None
) -> Report:
    """Read, match and score.

    threshold: a pair with at least this no-change probability is classified as unchanged. None: the threshold
    of the model that wrote the captions, where their metadata contains it, or else 0.5.

    Raises PredictionsError or DatasetError for files that cannot be read or do not fit each other, and what
    ``score`` raises.
    """
    opened = references.open()
    files = [systems.own, *systems.others]
    ids = [record.pair_id for record in opened.records]
    read = [read_predictions(path, ids) for path in files]
    every = opened if references.split == "all" else references.open("all")
    chosen, notes = _without_lacking_files(files, opened)
    not_predicted = None
    if systems.only_predicted:
        before = len(chosen.records)
        chosen = _only_predicted(systems.own, read[0], chosen, every)
        not_predicted = before - len(chosen.records)
    try:
        own, *rest = _match(files, read, chosen, every, systems.failed_as_empty)
    except PredictionsError as error:
        fitting = "" if systems.only_predicted else _other_protocols(read[0], references, every)
        raise PredictionsError(f"{error}{fitting}") from error
    makers = [made_by(path, predictions) for path, predictions in zip(files, read, strict=True)]
    maker = makers[0]
    if threshold is None:
        threshold = _noted_threshold(maker)
    settings = replace(settings, threshold=threshold)
    maps = None if systems.attention is None else read_maps(systems.attention, chosen.records, own)
    truths = read_truths(chosen.root, chosen.records)
    scored = score(chosen.records, own, settings, truths, maps)
    others = [score(chosen.records, predictions, settings, truths) for predictions in rest]
    origin = Origin(
        split=references.split,
        set_aside=len(read[0]) - sum(prediction.error != NO_PREDICTION for prediction in own),
        protocol=chosen.name,
        not_predicted=not_predicted,
        notes=[*notes, *_of_other_methods(systems, makers)],
        made_by=maker,
        others=[
            {"file": path.name, "made_by": made}
            for path, made in zip(systems.others, makers[1:], strict=True)
        ],
        same_twice=len({path.resolve() for path in files}) < len(files),
    )
    if systems.compare is not None:
        return make_report(scored, other=others[0], origin=origin)
    return make_report(scored, seeds=others, origin=origin)


def _match(
    files: Sequence[Path],
    read: Sequence[Sequence[Prediction]],
    chosen: Dataset,
    every: Dataset,
    failed_as_empty: bool,
) -> list[tuple[Prediction, ...]]:
    """Return each file's predictions for the chosen pairs, in the pairs' order. Errors name the file."""
    others = _others(chosen, every)
    matched = []
    for path, predictions in zip(files, read, strict=True):
        try:
            matched.append(aligned(predictions, chosen.records, others, failed_as_empty))
        except PredictionsError as error:
            raise PredictionsError(f"{path}: {error}") from error
    return matched


def _other_protocols(predictions: Sequence[Prediction], references: References, every: Dataset) -> str:
    """Return the end of a message that names other protocols of the same data set which fit the predictions;
    or "".
    """
    fits: list[str] = []
    pairs = 0
    if not every.name.startswith(PROTOCOLS):
        return ""
    for name in dataset_names():
        if name == every.name or not name.startswith(PROTOCOLS):
            continue
        try:
            other = replace(references, dataset=name)
            aligned(predictions, (opened := other.open()).records, other.open("all").records, True)
        except (PredictionsError, DatasetError):
            continue
        if len(opened.records) == len(predictions):
            fits.append(name)
            pairs = len(opened.records)
    if not fits:
        return ""
    return f" They fit --dataset {' or '.join(fits)} ({pairs:,} pairs), not {every.name}."


def _others(chosen: Dataset, every: Dataset) -> list[PairRecord]:
    """Return the pairs of the data set that are not chosen."""
    now = {record.pair_id for record in chosen.records}
    return [record for record in every.records if record.pair_id not in now]


def _without_lacking_files(files: Sequence[Path], opened: Dataset) -> tuple[Dataset, list[str]]:
    """Return the pairs of the kinds for which every run has a file, and a remark for each missing file."""
    records, notes = opened.records, []
    for path in files:
        lacks = lacking_file(path)
        if lacks is not None:
            unchanged = lacks == TWO_FILES[1]
            kept = tuple(r for r in records if r.pair_id.endswith(DISTRACTOR) != unchanged)
            notes.append(
                f"{path.name}: there is no {lacks}; its {len(records) - len(kept):,} pairs "
                f"({'without' if unchanged else 'with'} a change) are not scored."
            )
            records = kept
    if not records:
        raise PredictionsError(f"{files[0]}: no pairs are left to score. {' '.join(notes)}")
    return replace(opened, records=records), notes


def _of_other_methods(systems: Systems, makers: Sequence[Mapping[str, Any] | None]) -> list[str]:
    """Return a remark where the predictions given as several seeds of one method look like several methods.

    It compares the names of the models where each is recorded, else the names of the files, or of their
    folders where the files share one name; numbers and "seed" are ignored.
    """
    if not systems.seeds:
        return []
    files = [systems.own, *systems.seeds]
    names = [maker["model"]["name"] for maker in makers if maker is not None]
    if len(names) < len(files):
        names = [path.stem for path in files]
    if len(set(names)) == 1:
        names = [path.resolve().parent.name for path in files] if None in makers else names
    if len({_SEED.sub("", name.lower()) for name in names}) == 1:
        return []
    return [
        f"--seeds takes one method trained from several seeds; these look like different methods "
        f"({', '.join(dict.fromkeys(names))}): their spread is not that of training. Use --compare for those."
    ]


def _only_predicted(path: Path, read: Sequence[Prediction], chosen: Dataset, every: Dataset) -> Dataset:
    """Return the chosen pairs that have a prediction."""
    try:
        kept = predicted(read, chosen.records, _others(chosen, every))
    except PredictionsError as error:
        raise PredictionsError(f"{path}: {error}") from error
    if not kept:
        raise PredictionsError(
            f"{path}: no prediction is of any of the {len(chosen.records):,} pairs of the references, whose "
            f"ids look like {chosen.records[0].pair_id}. Same data set, same --split?"
        )
    return replace(chosen, records=tuple(kept))


def _noted_threshold(maker: Mapping[str, Any] | None) -> float:
    """Return the threshold of the model that wrote the captions, where it is known."""
    if maker is None or maker["threshold"] is None:
        return ReportSettings.threshold
    return float(maker["threshold"])
