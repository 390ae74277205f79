"""Read and write similarities of pairs and texts: a NumPy matrix, with the names of its rows and columns
beside it.
"""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.arrays import mapped_array
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.documents import read_document
from whatchanged.files import write_output


@dataclass(frozen=True)
class Similarity:
    """A matrix (pairs, texts), the ids of its pairs, and each text with the index of its pair."""

    matrix: NDArray[np.floating[Any]]
    pairs: tuple[str, ...]
    texts: tuple[str, ...]
    owner: NDArray[np.int64]


def write_similarity(path: Path, similarity: Similarity) -> None:
    """Write ``path`` and the names beside it, as ``read_similarity`` reads them; the matrix comes last."""
    texts = [
        [similarity.pairs[owner], text]
        for text, owner in zip(similarity.texts, similarity.owner, strict=True)
    ]
    names = json.dumps({"pairs": similarity.pairs, "texts": texts}, ensure_ascii=False)
    matrix = io.BytesIO()
    np.save(matrix, similarity.matrix)
    write_output(path.with_suffix(".json"), names)
    write_output(path, matrix.getvalue())


def read_similarity(path: str | Path) -> Similarity:
    """Read ``NAME.npy``, real numbers (pairs, texts), and ``NAME.json`` beside it:

        {"pairs": ["000000.png", ...], "texts": [["000000.png", "the cube moved"], ...]}

    for its rows and columns, in order. Raises PredictionsError where the shapes differ, where an id occurs
    twice, or where a pair has no text or a text no pair.
    """
    path = Path(path)
    beside = path.with_suffix(".json")
    try:
        matrix = mapped_array(path)
    except ValueError as error:
        raise PredictionsError(f"{path}: not a NumPy array of plain numbers ({error}).") from error
    pairs, texts = _read_names(beside)
    if matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise PredictionsError(f"{path}: a matrix of real numbers (pairs, texts) is wanted.")
    if matrix.shape != (len(pairs), len(texts)):
        raise PredictionsError(
            f"{path}: its shape is {matrix.shape}; {beside.name} names {len(pairs):,} pairs and "
            f"{len(texts):,} texts."
        )
    number = _number_pairs(beside, pairs, texts)
    owner = np.array([number[pair] for pair, _ in texts], np.int64)
    return Similarity(matrix, tuple(pairs), tuple(text for _, text in texts), owner)


def is_names(path: Path) -> bool:
    """Return whether this file names pairs and texts; without its matrix, it is from a killed command."""
    try:
        return bool(_read_names(path)[0])
    except PredictionsError:
        return False


def _read_names(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the ids of the pairs, and each text with the id of its pair."""
    names = read_document(path).whole
    pairs, texts = (names.get("pairs"), names.get("texts")) if isinstance(names, dict) else (None, None)
    if not isinstance(pairs, list) or not all(isinstance(pair, str) for pair in pairs):
        raise _not_names(path)
    if not isinstance(texts, list) or not all(_is_named_text(text) for text in texts):
        raise _not_names(path)
    return pairs, [(pair, text) for pair, text in texts]


def _is_named_text(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _not_names(path: Path) -> PredictionsError:
    return PredictionsError(f'{path}: {{"pairs": [id, ..], "texts": [[id, text], ..]}} is wanted.')


def _number_pairs(path: Path, pairs: list[str], texts: list[tuple[str, str]]) -> dict[str, int]:
    """Return the row of each pair."""
    number = {pair: i for i, pair in enumerate(pairs)}
    without_pair = [pair for pair, _ in texts if pair not in number]
    without_text = sorted(set(pairs) - {pair for pair, _ in texts})
    for wrong, why in (
        (without_pair, "texts belong to no pair of the matrix"),
        (without_text, "pairs have no text"),
        (pairs[len(number) :], "pairs are named twice"),
    ):
        if wrong:
            raise PredictionsError(f"{path}: {len(wrong):,} {why} (such as {wrong[0]}).")
    if not pairs:
        raise PredictionsError(f"{path}: it names no pairs.")
    return number
