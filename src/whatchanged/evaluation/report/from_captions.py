"""Score captions in memory, from Python: for example in a training loop."""

from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Literal

from whatchanged.datasets import Dataset
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.by_id import sentences_of
from whatchanged.evaluation.io.predictions import Prediction, aligned
from whatchanged.evaluation.io.references import records_of
from whatchanged.evaluation.metrics.caption_metrics import TOKENISERS
from whatchanged.evaluation.metrics.further_metrics import further_metrics
from whatchanged.evaluation.metrics.truth import read_truths
from whatchanged.evaluation.report.report import Report, make_report
from whatchanged.evaluation.report.scored import FREQUENCIES, ReportSettings, score
from whatchanged.evaluation.report.signature import Origin
from whatchanged.records import PairRecord

MEMORY = "memory"
"""The data set name in the signature of a report whose references are no data set."""

ReferencesLike = Dataset | Sequence[PairRecord] | Mapping[Any, Any] | Sequence[Sequence[str]]


def evaluate(
    predictions: Mapping[Any, Any] | Sequence[str],
    references: ReferencesLike,
    *,
    no_change: Mapping[str, float] | Sequence[float] | None = None,
    threshold: float = 0.5,
    tokenizer: Literal["ptb", "plain"] = "ptb",
    document_frequencies: Literal["subset", "corpus"] = "subset",
    resamples: int = 1000,
    meteor: bool = False,
    java: bool = False,
) -> Report:
    """Score captions and return the report of `whatchanged evaluate`, without files.

    predictions: the caption of each pair, in the order of ``references`` or by the id of the pair.
    references: the reference captions of each pair, in order or by id; or a data set that ``open_dataset``
    opened, or its records. By id, both arguments may have pycocoevalcap's form, ``evaluate(res, gts)``: for
    each id a list of captions, or of ``{"caption": sentence}``. Records contain the change type of a pair, so
    the report has subsets. If a data set also contains the truth of its pairs, the predictions are judged by
    it.
    no_change: the probability of each pair that nothing changed, in order or by id.
    threshold: a pair with at least this probability is classified as unchanged.
    tokenizer: ``ptb``, as the COCO evaluation, or ``plain``, split at blanks.
    document_frequencies: CIDEr-D's word weights are computed on each ``subset`` or on the whole ``corpus``.
    resamples: the number of bootstrap resamples (of scenes) for the intervals; 0: no intervals.
    meteor: whether to compute METEOR, which needs the extra ``eval`` and takes some seconds.
    java: whether to compute SPICE, a Java program, and METEOR; both need the extra ``eval``.

    Raises PredictionsError where predictions and references do not fit each other: each pair needs one
    prediction and at least one reference.

    >>> captions = ["the small red cube moved", "nothing was changed"]
    >>> references = [
    ...     ["the red cube has moved", "someone moved the small red cube"],
    ...     ["nothing has changed", "there is no change"],
    ... ]
    >>> report = evaluate(captions, references)
    >>> round(report["overall"]["BLEU-4"], 1), round(report["overall"]["CIDEr-D"], 1)
    (57.5, 280.9)
    >>> low, high = report["intervals"]["overall"]["CIDEr-D"]
    >>> low <= report["overall"]["CIDEr-D"] <= high
    True

    By the ids of the pairs, in any order:

    >>> by_id = evaluate(
    ...     {"2": captions[1], "1": captions[0]}, {"1": references[0], "2": references[1]}, resamples=0
    ... )
    >>> by_id["overall"] == report["overall"]
    True
    """
    _check_settings(tokenizer, document_frequencies, threshold, resamples)
    further = further_metrics(with_meteor=meteor or java, with_spice=java)
    settings = ReportSettings(tokenizer, document_frequencies, threshold, resamples, further_metrics=further)
    records = _records(predictions, references)
    captions = _by_id("predictions", predictions, records)
    if isinstance(predictions, Mapping):
        captions = {pair_id: _one(own) for pair_id, own in captions.items()}
    probabilities = {} if no_change is None else _by_id("no_change", no_change, records)
    _check(captions, probabilities)
    made = [Prediction(pair_id, text, probabilities.get(pair_id)) for pair_id, text in captions.items()]
    truths = read_truths(references.root, records) if isinstance(references, Dataset) else None
    splits = {record.split for record in records if record.dataset != MEMORY}
    origin = Origin(
        split=splits.pop() if len(splits) == 1 else "all",
        protocol=references.name if isinstance(references, Dataset) else None,
    )
    return make_report(score(records, aligned(made, records), settings, truths), origin=origin)


def _check_settings(tokenizer: str, frequencies: str, threshold: float, resamples: int) -> None:
    """Raise PredictionsError for an unknown setting."""
    for name, value, known in (
        ("tokenizer", tokenizer, tuple(TOKENISERS)),
        ("document_frequencies", frequencies, FREQUENCIES),
    ):
        if value not in known:
            raise PredictionsError(f"There is no {name} {value!r}. Known: {', '.join(known)}.")
    if not 0 <= threshold <= 1:
        raise PredictionsError(f"threshold should be a probability (0 to 1), not {threshold!r}.")
    if resamples < 0:
        raise PredictionsError(f"resamples should be 0 or more, not {resamples}.")


def _records(
    predictions: Mapping[str, Any] | Sequence[Any], references: ReferencesLike
) -> Sequence[PairRecord]:
    """Return the records to score against, with unique ids."""
    if isinstance(references, Dataset):
        return references.records
    if isinstance(references, Mapping):
        return _bare({str(pair_id): _listed(own) for pair_id, own in references.items()})
    given = list(references)
    if not given:
        raise PredictionsError("There are no pairs to score.")
    records = [each for each in given if isinstance(each, PairRecord)]
    if not records:
        if isinstance(predictions, Mapping):
            raise PredictionsError(
                "The predictions have ids and the references have none. Give both by id, or both in order."
            )
        return _bare({str(i): own for i, own in enumerate(given)})
    ids = Counter(record.pair_id for record in records)
    if len(ids) < len(given):
        raise PredictionsError("The references should be records of different pairs, and nothing else.")
    return records


def _bare(sentences: Mapping[str, Any]) -> list[PairRecord]:
    """Return records for reference captions by id, without pictures."""
    for pair_id, own in sentences.items():
        listed = isinstance(own, Sequence) and not isinstance(own, str)
        if not listed or not all(isinstance(sentence, str) for sentence in own):
            raise PredictionsError(
                f"The references of pair {pair_id} should be a list of sentences, not {own!r}."
            )
    return records_of(sentences, MEMORY, Path())


def _listed(own: Any) -> Any:
    """Return a pair's captions as texts, also from pycocoevalcap's form. Other values stay unchanged."""
    results = sentences_of(own)
    return own if results is None else results


def _one(own: Any) -> Any:
    """Return a prediction's single caption, given in one of these forms. Other values stay unchanged."""
    results = sentences_of(own)
    return results[0] if results is not None and len(results) == 1 else own


def _by_id(
    what: str, values: Mapping[str, Any] | Sequence[Any], records: Sequence[PairRecord]
) -> dict[str, Any]:
    """Return the values of pairs by id, whether they were given by id or in order."""
    if isinstance(values, Mapping):
        return {str(pair_id): value for pair_id, value in values.items()}
    if isinstance(values, str):
        raise PredictionsError(f"{what} should have one entry for each pair; this is one text.")
    values = list(values)
    if len(values) != len(records):
        raise PredictionsError(
            f"{len(values):,} {what} but {len(records):,} pairs in the references: give one for each pair."
        )
    return {record.pair_id: value for record, value in zip(records, values, strict=True)}


def _check(captions: Mapping[str, Any], probabilities: Mapping[str, Any]) -> None:
    """Raise PredictionsError unless captions are texts and probabilities, of the same pairs, are 0 to 1."""
    for pair_id, caption in captions.items():
        if not isinstance(caption, str):
            raise PredictionsError(f"The prediction of pair {pair_id} should be a sentence, not {caption!r}.")
    for pair_id, value in probabilities.items():
        if pair_id not in captions:
            raise PredictionsError(f"no_change is given for pair {pair_id}, which has no prediction.")
        if not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise PredictionsError(
                f"no_change of pair {pair_id} should be a probability (0 to 1), not {value!r}."
            )
