"""Read predictions, and match them with the references: every pair has exactly one prediction.

The formats, recognised by their content:

    ours        JSON Lines {"id": "000123.png", "caption": "...", "no_change": 0.03}; a pair that failed:
                {"id": "...", "error": "..."}
    COCO        [{"image_id": "000123.png", "caption": "..."}, ...], as DUDA and CLIP4IDC write it
    SCORER      a folder with sc_results.json and nsc_results.json, both COCO (DUDA's likewise), or with one
    PCL         JSON Lines {"ImgId": "CLEVR_default_000123.png_CLEVR_semantic_000123.png",
                "candidates": ["..."]}
    by id       {"000123.png": "..."} or {"000123.png": ["..."]}, as pycocoevalcap and others (``by_id``)
    table       CSV with the columns id and caption
    text        NAME.txt, one sentence a line, in the order of the references

Ids may be spelled as in any of these formats, as long as they can mean only one pair (``spellings``).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whatchanged.datasets.reading import is_unicode
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.by_id import by_id, table_rows
from whatchanged.evaluation.io.documents import parse_document, pcl_id, read_text, short
from whatchanged.evaluation.io.spellings import Spellings
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.records import PairRecord

EXAMPLES = 3
TWO_FILES = ("sc_results.json", "nsc_results.json")
FORMATS = (
    'JSON Lines {"id": .., "caption": ..} as `whatchanged caption` writes them, '
    'COCO results [{"image_id": .., "caption": ..}], PCL\'s JSON Lines {"ImgId": .., "candidates": [..]}, '
    "an object {id: sentence} or {id: [sentence]}, CSV with the columns id and caption, NAME.txt with a "
    f"sentence a line in the order of the references, or a folder with {' and '.join(TWO_FILES)}"
)
NO_PREDICTION = "no prediction"
"""The error of a pair without a line in the file, where such pairs count as empty captions."""
REFERENCE_KEYS = ("captions", "sentences", "sents", "description", "annotations")
"""Keys that occur in references, in one format or another, and never in predictions."""


@dataclass(frozen=True)
class Prediction:
    """The caption of one pair and the probability that nothing changed; or the reason why captioning failed.

    answer: a model's name or "measured"; None where the file does not record it.
    """

    pair_id: str
    caption: str = ""
    no_change: float | None = None
    error: str | None = None
    answer: str | None = None


def read_predictions(path: str | Path, in_order: Sequence[str] | None = None) -> tuple[Prediction, ...]:
    """Read all predictions of a file, or of the folder of a SCORER run, in order.

    in_order: the ids of the pairs in the order of the lines of a plain text.

    Raises PredictionsError, with the line where there is one, for a file that is unreadable, empty,
    malformed, of no known format or evidently references, and for ids that occur more than once.
    """
    path = Path(path) if isinstance(path, str) else path
    predictions = [p for file in _files(path) for p in _read_file(file, in_order, file.parent == path)]
    twice = [pair_id for pair_id, count in Counter(p.pair_id for p in predictions).items() if count > 1]
    if twice:
        raise PredictionsError(f"{path}: {_named(twice, 'id')}: more than one line. Keep one line a pair.")
    return tuple(predictions)


def made_by(path: Path, predictions: Sequence[Prediction] = ()) -> dict[str, Any] | None:
    """Return the metadata that `whatchanged caption` wrote beside its captions: the model, its threshold and
    the beams.

    If several models answered, it names the one that wrote all ``predictions``. If several of them wrote
    some, it has all their names and no threshold. None without readable metadata: captions of other programs
    have none.
    """
    try:
        noted = read_json(read_regular_text(path.with_name(path.name + ".meta.json")))
        if "models" in noted:
            noted = {**noted, **_who_answered(noted, predictions)}
        model = {key: value for key, value in noted["model"].items() if isinstance(value, str)}
        beams = int(noted["beams"])
        threshold = float(noted["threshold"]) if "threshold" in noted else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    if "name" not in model or "version" not in model:
        return None
    if threshold is not None and not 0 <= threshold <= 1:
        return None
    return {"model": model, "beams": beams, "threshold": threshold}


def _who_answered(noted: Mapping[str, Any], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Return the one model that answered, and its threshold; or the names of all that did."""
    answers = sorted({p.answer for p in predictions if p.answer is not None})
    models = {model["name"]: model for model in noted["models"]}
    if len(answers) == 1:
        name = answers[0]
        measured = {"name": name, "version": noted["whatchanged"]}
        return {"model": models.get(name, measured), "threshold": noted["thresholds"][name]}
    return {"model": {"name": " and ".join(answers), "version": noted["whatchanged"]}}


def aligned(
    predictions: Sequence[Prediction],
    records: Sequence[PairRecord],
    others: Sequence[PairRecord] = (),
    failed_as_empty: bool = False,
) -> tuple[Prediction, ...]:
    """Return the prediction of each record, in the records' order, with the record's id.

    ``others``: pairs of the data set that are not scored, such as those of another split; their predictions
    are left out. Raises PredictionsError where a record has no prediction or no references, where a
    prediction matches no pair or several. With ``failed_as_empty``, pairs whose captioning failed, and pairs
    without a prediction, count as empty captions instead. No pair is dropped silently.
    """
    by_id = _by_meaning(predictions, records, others)
    known = {r.pair_id for r in (*records, *others)}
    unknown = [i for i in by_id if i not in known]
    if unknown:
        example = f"; the references' ids look like {records[0].pair_id}" if records else ""
        raise PredictionsError(
            f"{_named(unknown, 'prediction')}: no such id in the references{example}. Same data set?"
        )
    missing = [r.pair_id for r in records if r.pair_id not in by_id]
    if missing and not failed_as_empty:
        raise PredictionsError(
            f"{_named(missing, 'pair')}: no prediction. Caption all, choose a --split, or pass "
            "--only-predicted (leaves them out) or --failed-as-empty (counts them as empty sentences)."
        )
    bare = [r.pair_id for r in records if not r.captions]
    if bare:
        raise PredictionsError(f"{_named(bare, 'pair')}: no references to score against.")
    absent = {pair_id: Prediction(pair_id, error=NO_PREDICTION) for pair_id in missing}
    chosen = tuple((absent.get(r.pair_id) or by_id[r.pair_id]) for r in records)
    failed = [p.pair_id for p in chosen if p.error is not None]
    if failed and not failed_as_empty:
        raise PredictionsError(
            f"{_named(failed, 'pair')}: failed when captioned. Repair their pictures and caption again with "
            "--force, or pass --failed-as-empty."
        )
    return chosen


def predicted(
    predictions: Sequence[Prediction], records: Sequence[PairRecord], others: Sequence[PairRecord] = ()
) -> list[PairRecord]:
    """Return the records that have a prediction. Raises PredictionsError where an id may mean several."""
    by_id = _by_meaning(predictions, records, others)
    return [record for record in records if record.pair_id in by_id]


def _by_meaning(
    predictions: Sequence[Prediction], records: Sequence[PairRecord], others: Sequence[PairRecord]
) -> dict[str, Prediction]:
    """Return the predictions by the ids of the records that they mean; those of no record by their own ids.

    An id that may mean one of ``records`` and some of the ``others`` means the former.
    Raises PredictionsError where an id may mean several pairs, or two ids mean one.
    """
    spellings = Spellings([*records, *others])
    own = {record.pair_id for record in records}
    results: dict[str, Prediction] = {}
    spelled: dict[str, str] = {}
    for prediction in predictions:
        meant = sorted(spellings.meant(prediction.pair_id))
        meant = [pair_id for pair_id in meant if pair_id in own] or meant
        if len(meant) > 1:
            raise PredictionsError(
                f"The id {prediction.pair_id} may mean {' or '.join(meant[:EXAMPLES])}. Write the whole id."
            )
        pair_id = meant[0] if meant else prediction.pair_id
        if pair_id in results:
            raise PredictionsError(
                f"The ids {spelled[pair_id]} and {prediction.pair_id} both mean the pair {pair_id}. Keep one "
                "line a pair."
            )
        results[pair_id] = replace(prediction, pair_id=pair_id)
        spelled[pair_id] = prediction.pair_id
    return results


def _files(path: Path) -> list[Path]:
    """Return the file itself, or those of both files of a run that its folder has."""
    if not path.is_dir():
        return [path]
    there = [path / name for name in TWO_FILES if (path / name).is_file()]
    if not there:
        swapped = " It looks like a data set: the predictions come first, then the references."
        raise PredictionsError(
            f"{path}: a folder of predictions contains {' and '.join(TWO_FILES)}; this one does not."
            + (swapped if (path / "splits.json").is_file() else " Name the file.")
        )
    return there


def lacking_file(path: Path) -> str | None:
    """Return the one of a run's two files that its folder lacks; None where it has both, or is a file
    itself.
    """
    lacks = [name for name in TWO_FILES if path.is_dir() and not (path / name).is_file()]
    return lacks[0] if lacks else None


def _read_file(path: Path, in_order: Sequence[str] | None, of_changed: bool = False) -> list[Prediction]:
    """of_changed: the file contains changed pairs only, so that a bare number means the changed pair of the
    scene.
    """
    text = read_text(path)
    if path.suffix.lower() == ".csv" and text.strip():
        return [Prediction(pair_id, caption) for _, pair_id, caption in table_rows(text, str(path))]
    if path.suffix.lower() == ".txt" and text.strip() and text.lstrip()[0] not in "{[":
        return _read_lines(path, text, in_order)
    document = parse_document(path, text)
    captions = by_id(document)
    if captions is not None:
        return [_of_list(path, pair_id, own, captions) for pair_id, own in captions.items()]
    results = [_prediction(f"{path}, {where}", value) for where, value in document.values]
    if not of_changed:
        return results
    return [replace(p, pair_id=f"{p.pair_id}.png") if p.pair_id.isdecimal() else p for p in results]


def _read_lines(path: Path, text: str, in_order: Sequence[str] | None) -> list[Prediction]:
    """Read plain text, one caption for each line; an empty line is an empty caption."""
    if in_order is None:
        raise PredictionsError(f"{path}: a plain text names no pairs. Give predictions with ids.")
    lines = [line.strip() for line in text.removesuffix("\n").split("\n")]
    if len(lines) != len(in_order):
        raise PredictionsError(
            f"{path}: {len(lines):,} lines, but {len(in_order):,} pairs in the references. A plain text has "
            "one sentence a line, in the order of the references; choose their --split, or give ids."
        )
    return [Prediction(pair_id, line) for pair_id, line in zip(in_order, lines, strict=True)]


def _of_list(path: Path, pair_id: str, own: Sequence[str], every: Mapping[str, Sequence[str]]) -> Prediction:
    """Return the one caption of a pair in a mapping by id."""
    if len(own) == 1:
        return Prediction(pair_id, own[0])
    if not own:
        raise PredictionsError(
            f"{path}: pair {pair_id} has no sentence. Write an empty one for a failed pair."
        )
    several = sum(len(each) > 1 for each in every.values())
    raise PredictionsError(
        f"{path}: {several:,} of {len(every):,} pairs have several sentences (first: {pair_id}), where one "
        "is scored: these look like references. The predictions come first, then the references."
    )


def _prediction(where: str, value: Any) -> Prediction:
    if not isinstance(value, dict):
        raise PredictionsError(f"{where}: an object is wanted, this is {short(value)}. Known: {FORMATS}.")
    if "ImgId" in value:
        sentence = _candidate(where, value.get("candidates"))
        return Prediction(pcl_id(_id(where, value, "ImgId")), _checked(where, sentence))
    key = "id" if "id" in value else "image_id"
    if key not in value:
        raise PredictionsError(f"{where}: neither 'id', 'image_id' nor 'ImgId': {_not_predictions(value)}")
    pair_id = _id(where, value, key)
    if value.get("error") is not None:
        return Prediction(pair_id, error=str(value["error"]))
    caption, no_change = value.get("caption"), value.get("no_change")
    if not isinstance(caption, str):
        raise PredictionsError(
            f"{where}: pair {pair_id} has neither a caption nor an error: {_not_predictions(value)}"
        )
    if no_change is not None and not _is_probability(no_change):
        raise PredictionsError(
            f"{where}: no_change should be a probability (0 to 1) or null, not {short(no_change)}."
        )
    answer = value.get("answer")
    return Prediction(
        pair_id,
        _checked(where, caption),
        None if no_change is None else float(no_change),
        answer=answer if isinstance(answer, str) else None,
    )


def _not_predictions(value: Mapping[str, Any]) -> str:
    """Guess what an object is that is no prediction: references, or an unknown format."""
    lists = [v for v in value.values() if isinstance(v, list) and all(isinstance(s, str) for s in v)]
    raw = bool(value) and len(lists) == len(value)  # CLEVR-Change's own files: picture -> captions
    if raw or any(key in value for key in REFERENCE_KEYS):
        return (
            f"these look like references ({short(value)}). The predictions come first, then the references."
        )
    return f"this is {short(value)}. Known: {FORMATS}."


def _id(where: str, value: Mapping[str, Any], key: str) -> str:
    found = value[key]
    if type(found) is int:  # COCO's own ids are numbers
        return str(found)
    if not isinstance(found, str) or not found or not is_unicode(found):
        raise PredictionsError(f"{where}: {key!r} should be the id of a pair, not {short(found)}.")
    return found


def _candidate(where: str, value: Any) -> str:
    """Return PCL's ``candidates``: one caption, or one caption word by word (as in the authors'
    evaluation).
    """
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise PredictionsError(f"{where}: 'candidates' should be one sentence in a list: {short(value)}.")
    if any(" " in word for word in value):
        raise PredictionsError(
            f"{where}: {len(value)} candidates where one is scored: {short(value)}. Keep the first."
        )
    return " ".join(value)


def _checked(where: str, caption: str) -> str:
    if not is_unicode(caption):
        raise PredictionsError(
            f"{where}: the caption contains half a surrogate pair, which is no character: {caption!r}."
        )
    return caption


def _is_probability(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _named(ids: Sequence[str], what: str) -> str:
    first = ", ".join(name if name.isprintable() else ascii(name) for name in ids[:EXAMPLES])
    return f"{len(ids):,} {what}{'' if len(ids) == 1 else 's'} (first: {first})"
