"""From files to a report: predictions and references as they lie on disk, matched and scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whatchanged.datasets import Dataset
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.maps import read_maps
from whatchanged.evaluation.io.predictions import Prediction, aligned, made_by, read_predictions
from whatchanged.evaluation.io.references import open_references
from whatchanged.evaluation.metrics.truth import read_truths
from whatchanged.evaluation.report.report import Report, make_report
from whatchanged.evaluation.report.scored import ReportSettings, score
from whatchanged.evaluation.report.signature import Origin


@dataclass(frozen=True)
class References:
    """A data set or a file of sentences, and which of its pairs to score against."""

    path: Path
    split: str = "all"
    dataset: str | None = None
    """Which data set this is; recognised if None."""
    skip_missing: bool = False
    """Whether pairs whose pictures are missing are left out."""

    def open(self, split: str | None = None) -> Dataset:
        """The pairs of the chosen split, or of another one."""
        return open_references(self.path, split or self.split, self.dataset, self.skip_missing)


@dataclass(frozen=True)
class Systems:
    """The files of predictions: those of one system, and those of others to compare it with."""

    own: Path
    compare: Path | None = None
    """Those of another system, for a paired comparison."""
    seeds: Sequence[Path] = ()
    """Those of the same method, trained from other seeds."""
    attention: Path | None = None
    """The folder of the attention maps of ``own``."""
    failed_as_empty: bool = False
    """Whether failed pairs count as empty sentences; otherwise they are refused."""

    @property
    def others(self) -> list[Path]:
        """The files of the other systems."""
        return [*([] if self.compare is None else [self.compare]), *self.seeds]


def report_from_files(
    systems: Systems, references: References, settings: ReportSettings, threshold: float | None = None
) -> Report:
    """Read, match and score.

    threshold: the no-change probability from which a pair is called unchanged. None: that of the model that
    wrote the captions, where it is noted beside them, or else 0.5.

    Raises PredictionsError or DatasetError for files that cannot be read or do not fit each other, and what
    ``score`` raises.
    """
    chosen = references.open()
    files = [systems.own, *systems.others]
    ids = [record.pair_id for record in chosen.records]
    read = [read_predictions(path, ids) for path in files]
    every = chosen if references.split == "all" else references.open("all")
    own, *rest = _match(files, read, chosen, every, systems.failed_as_empty)
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
        set_aside=len(read[0]) - len(own),
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
    """Each file's predictions of the chosen pairs, in their order; an error names the file."""
    now = {record.pair_id for record in chosen.records}
    others = [record for record in every.records if record.pair_id not in now]
    matched = []
    for path, predictions in zip(files, read, strict=True):
        try:
            matched.append(aligned(predictions, chosen.records, others, failed_as_empty))
        except PredictionsError as error:
            raise PredictionsError(f"{path}: {error}") from error
    return matched


def _noted_threshold(maker: Mapping[str, Any] | None) -> float:
    """The threshold of the model that made the captions, where it is known."""
    if maker is None or maker["threshold"] is None:
        return ReportSettings.threshold
    return float(maker["threshold"])
