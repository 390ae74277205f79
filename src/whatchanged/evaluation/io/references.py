"""Read references: from a data set, or from a bare file of captions.

    data set     a folder or list that ``datasets`` knows
    COCO         {"annotations": [{"image_id": .., "caption": ".."}, ..]}, one entry a sentence
    JSON Lines   {"id": "..", "captions": [..]}, or PCL's {"img1": .., "img2": .., "sentences": [..]} (birds:
                 "description", a list of sentences, each a list of words)
    by id        {"..": ["..", ..]}, also one bare sentence a pair, or {"caption": ".."} for each (``by_id``)
    table        CSV with the columns id and caption, a sentence a row; with pictures it is a data set

A bare file has no pictures, no splits and no change types. There is one exception: pairs whose ids end in
``.png_n``, like those of CLEVR-Change's distractors, count as unchanged, and the other pairs of the file as
changed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.datasets import Dataset, DatasetReport, open_dataset
from whatchanged.datasets.reading import is_unicode
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.by_id import by_id, is_table, table_rows
from whatchanged.evaluation.io.documents import FileValues, pcl_id, read_document, read_text, short
from whatchanged.records import PairRecord

DISTRACTOR = ".png_n"
FORMATS = (
    'a data set folder, a CSV or JSONL list with captions, COCO {"annotations": [{"image_id": .., "caption": '
    '..}]}, an object {id: [sentence, ..]}, CSV with the columns id and caption, or JSON Lines {"id": .., '
    '"captions": [..]} or {"img1": .., "img2": .., "sentences": [..]}'
)


def open_references(
    path: str | Path, split: str = "all", name: str | None = None, skip_missing: bool = False
) -> Dataset:
    """Return the records to score against. Their pictures are checked only with ``skip_missing``.

    name: the name of the data set; recognised if None. skip_missing: leave out pairs whose pictures are
    missing.

    Raises DatasetError for a data set that cannot be read, PredictionsError for a file of references that is
    unreadable, empty, malformed, of no known format, evidently predictions, or that has no splits though one
    is requested.
    """
    path = Path(path)
    captions = None if name is not None or not path.is_file() else _read_captions(path)
    if captions is None:
        return open_dataset(path, name, split, skip_missing, pictures=skip_missing)
    if skip_missing:
        raise PredictionsError(
            f"{path}: a file of sentences knows no pictures to miss. Leave out --skip-missing."
        )
    if split != "all":
        raise PredictionsError(
            f"{path}: a file of sentences knows no splits. Give the data set's folder, or a file of split "
            f"{split!r} alone and no --split."
        )
    blank = [pair_id for pair_id, own in captions.items() if not own]
    if blank:
        raise PredictionsError(f"{path}: pair {blank[0]} has no sentence ({len(blank):,} such pairs).")
    return Dataset("file", path, tuple(records_of(captions, "file", path.parent)), DatasetReport())


def records_of(captions: Mapping[str, Sequence[str]], dataset: str, folder: Path) -> list[PairRecord]:
    """Return records for bare captions by id; their pictures are unknown, and their paths are in
    ``folder``.
    """
    paired = any(pair_id.endswith(DISTRACTOR) for pair_id in captions)
    records = []
    for pair_id, own in captions.items():
        unchanged = pair_id.endswith(DISTRACTOR)
        records.append(
            PairRecord(
                dataset=dataset,
                pair_id=pair_id,
                # Both pairs of a CLEVR-Change scene: 000123.png and 000123.png_n.
                group_id=pair_id.removesuffix("_n").removesuffix(".png") if paired else pair_id,
                split="test",
                kind="pair_caption",
                before=folder / "unknown",
                after=None,
                captions=tuple(own),
                changed=not unchanged if paired else None,
                change_type="none" if unchanged else None,
            )
        )
    return records


def _read_captions(path: Path) -> dict[str, list[str]] | None:
    """Return id -> captions of a bare file; None where it is a list of pairs with their pictures."""
    if path.suffix.lower() == ".csv":
        try:
            text = read_text(path)
        except PredictionsError:
            return None  # the reader of lists reports the fault
        if not is_table(text):
            return None
        captions: dict[str, list[str]] = {}
        for _, pair_id, sentence in table_rows(text, str(path)):
            captions.setdefault(pair_id, []).append(sentence)
        return captions
    document = read_document(path)
    first = document.values[0][1]
    if path.suffix.lower() == ".jsonl" and isinstance(first, dict) and {"before", "after"} & set(first):
        return None
    return _captions(document)


def _captions(document: FileValues) -> dict[str, list[str]]:
    """Return id -> captions, in the order of the file."""
    mapped = by_id(document)
    if mapped is not None:
        return mapped
    if isinstance(document.whole, dict) and "annotations" in document.whole:
        return _coco(document.path, document.whole["annotations"])
    captions: dict[str, list[str]] = {}
    for where, value in document.values:
        where = f"{document.path}, {where}"
        if not isinstance(value, dict):
            raise _unknown(where, value)
        if "img1" in value and "img2" in value:
            pair_id = pcl_id(f"{value['img1']}_{value['img2']}")
            own = _sentences(where, value.get("sentences", value.get("description")))
        elif isinstance(value.get("id"), str) and "captions" in value:
            pair_id, own = value["id"], _sentences(where, value["captions"])
        else:
            raise _unknown(where, value)
        if pair_id in captions:
            raise PredictionsError(
                f"{where}: a second line for {pair_id}. Put all sentences of a pair in one line."
            )
        captions[pair_id] = own
    return captions


def _coco(path: Path, annotations: Any) -> dict[str, list[str]]:
    if not isinstance(annotations, list) or not annotations:
        raise PredictionsError(f'{path}: "annotations" should be a list of image_id and caption, not empty.')
    captions: dict[str, list[str]] = {}
    for number, entry in enumerate(annotations, 1):
        where = f"{path}, annotation {number}"
        found = entry.get("image_id") if isinstance(entry, dict) else None
        if not isinstance(found, str) and type(found) is not int:
            raise PredictionsError(f"{where}: an object with image_id and caption is wanted: {short(entry)}.")
        captions.setdefault(str(found), []).extend(_sentences(where, [entry.get("caption")]))
    return captions


def _sentences(where: str, value: Any) -> list[str]:
    """Return captions as strings; a caption may be a list of words."""
    if not isinstance(value, list):
        raise PredictionsError(f"{where}: the sentences should be a list, not {short(value)}.")
    sentences = []
    for sentence in value:
        if isinstance(sentence, list) and all(isinstance(word, str) for word in sentence):
            sentence = " ".join(sentence)
        if not isinstance(sentence, str) or not is_unicode(sentence):
            raise PredictionsError(f"{where}: a sentence is wanted, this is {short(sentence)}.")
        sentences.append(sentence)
    return sentences


def _unknown(where: str, value: Any) -> PredictionsError:
    if isinstance(value, dict) and ("ImgId" in value or "caption" in value or "error" in value):
        advice = "these look like predictions. The predictions come first, then the references"
    else:
        advice = f"no known format of references. Known: {FORMATS}"
    return PredictionsError(f"{where}: {short(value)}: {advice}.")
