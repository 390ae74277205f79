"""Captions by the id of the pair: as one JSON object, as a mapping in Python, or as a table.

{id: sentence}                  VisualRelationships' results
{id: [sentence, ..]}            pycocoevalcap's ``gts`` and ``res``, RSICC's and MCCFormers' files
{id: [{"caption": ..}, ..]}     what pycocoevalcap's tokeniser takes
CSV with the columns id (or image_id) and caption, one sentence a row
"""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from whatchanged.datasets.reading import is_unicode
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.documents import FileValues, pcl_id, short

NAMES = ("id", "image_id", "ImgId", "img1", "img_id", "uid", "caption", "captions", "error", "annotations")
"""Keys of the objects of other formats: an object with one of them is no mapping by id."""
RAW = "CLEVR_default_"
"""The beginning of the ids in CLEVR-Change's own files; two of these files use the same ids for different
pairs.
"""
ID_COLUMNS = ("id", "image_id")


def by_id(document: FileValues) -> dict[str, list[str]] | None:
    """Return id -> captions, in the order of the file; None where the file is no mapping by id.

    Raises PredictionsError for an id that occurs twice, and for a caption that cannot be written.
    """
    whole = document.whole
    if not isinstance(whole, dict) or not whole or any(name in whole for name in NAMES):
        return None
    if all(name.startswith(RAW) for name in whole):
        return None
    results = {name: sentences_of(value) for name, value in whole.items()}
    # A mapping of settings looks similar, {"model": "x"}; but captions have several words.
    if None in results.values() or not any(" " in text for own in results.values() for text in own or ()):
        return None
    if document.repeated:
        raise PredictionsError(
            f"{document.path}: the id {document.repeated[0]} occurs more than once. Put all sentences of a "
            "pair into one list."
        )
    return {pcl_id(name): _checked(f"{document.path}: {name}", own or []) for name, own in results.items()}


def sentences_of(value: Any) -> list[str] | None:
    """Return the captions of a pair in any of the three forms; None for any other value."""
    values = value if isinstance(value, list | tuple) else [value]
    texts = [v.get("caption") if isinstance(v, Mapping) and v is not value else v for v in values]
    sentences = [text for text in texts if isinstance(text, str)]
    return sentences if len(sentences) == len(texts) else None


def table_rows(text: str, where: str) -> Iterator[tuple[str, str, str]]:
    """Yield (place, id, caption) of each row of a CSV. Raises PredictionsError for any other table."""
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        columns = list(reader.fieldnames or ())
        key = next((name for name in ID_COLUMNS if name in columns), None)
        if key is None or "caption" not in columns:
            raise PredictionsError(
                f"{where}: a table of sentences has the columns id and caption; its first line names "
                f"{', '.join(columns) or 'nothing'}."
            )
        for row in reader:
            place = f"{where}, line {reader.line_num}"
            if None in row or row["caption"] is None or not row[key]:
                raise PredictionsError(
                    f"{place}: an id and a caption are wanted. Put quotes around a sentence with a comma."
                )
            yield place, row[key], _checked(place, [row["caption"]])[0]
    except csv.Error as error:
        raise PredictionsError(f"{where}, line {reader.line_num}: not a table in CSV ({error}).") from error


def is_table(text: str) -> bool:
    """Return whether the first line names the columns of a table of captions, and no pictures."""
    columns = next(csv.reader(io.StringIO(text.split("\n", 1)[0])), [])
    return "before" not in columns and "caption" in columns and any(name in columns for name in ID_COLUMNS)


def _checked(where: str, sentences: list[str]) -> list[str]:
    for sentence in sentences:
        if not is_unicode(sentence):
            raise PredictionsError(
                f"{where}: the caption contains half a surrogate pair, which is no character: "
                f"{short(sentence)}."
            )
    return sentences
