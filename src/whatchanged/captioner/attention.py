"""The attention of each word: the mean for heat maps, and the files of ``caption --attention``.

A file holds up to a thousand pairs of a model whose attention is a grid. Its format is safetensors: a JSON
head and plain numbers. Each pair has one tensor, named by the pair's id: (words, 2, rows, columns), float16,
before and after. The metadata has one key, ``whatchanged``, whose value is JSON:

    words    id -> the words of the sentence
    grid     [rows, columns]
    layer    the name of the model's attention layer
    model    name, version, fingerprint
    list     fingerprint of the list of pairs
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError
from whatchanged.json_values import read_json
from whatchanged.opening import regular

Floats = NDArray[np.float32]
WordMaps = Sequence[tuple[str, Floats]]
"""The words of a sentence, each with its maps (2, rows, columns)."""

PATTERN = "attention-*.safetensors"
KEY = "whatchanged"
"""The only key of a file's metadata."""
SAME = ("model", "list", "grid", "layer")
"""The metadata on which all files of one folder must agree."""
MOST_CELLS = 10_000
"""Limit on the rows and columns of a grid, as in a model's card."""

FUNCTION_WORDS = frozenset(
    {
        *("a", "an", "the", "this", "that", "these", "those", "there", "it", "its"),
        *("is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "do", "does", "did"),
        *("to", "of", "in", "on", "at", "by", "as", "and", "or", "with", "from", "than"),
    }
)
"""English function words; heat maps average over the other words, the content words."""


class MapsEntry(NamedTuple):
    """The file that holds the maps of a pair, and the words of these maps."""

    path: Path
    words: tuple[str, ...]


def words_with_maps(
    words: Sequence[tuple[str, Sequence[int]]], maps: Floats
) -> tuple[tuple[str, Floats], ...]:
    """Return the words of a decoded row, each with its attention maps (2, rows, columns).

    words: the words, each with the indices of its tokens, as ``Vocabulary.words`` returns. maps: the maps of
    all tokens, (L, 2, rows, columns). A word of several tokens has the mean of their maps.
    """
    return tuple((word, maps[list(at)].mean(axis=0)) for word, at in words)


def over_content(words: WordMaps, grid: tuple[int, int]) -> Floats:
    """Return the mean map (2, rows, columns) of the content words; of all words where none is a content word.

    Without any word, the map is zero on ``grid`` (rows, columns).
    """
    content = [maps for word, maps in words if word not in FUNCTION_WORDS]
    if not content:
        content = [maps for _, maps in words]
    return np.mean(content, axis=0) if content else np.zeros((2, *grid), np.float32)


def file_name(first: int) -> str:
    """Return the name of the file whose first pair has this index in the whole list."""
    return f"attention-{first:07d}.safetensors"


def pack(sentences: Mapping[str, WordMaps], about: Mapping[str, Any]) -> bytes:
    """Return the bytes of a file.

    sentences: pair id -> the words of its sentence with their maps, at least one word per sentence. about:
    the metadata with the keys of ``SAME``.
    """
    from safetensors.numpy import save  # imported here: only files of maps need it

    tensors = {
        pair_id: np.stack([maps for _, maps in words]).astype(np.float16)
        for pair_id, words in sentences.items()
    }
    named = {pair_id: [word for word, _ in words] for pair_id, words in sentences.items()}
    return save(tensors, {KEY: json.dumps({"words": named, **about}, ensure_ascii=False)})


def about_file(path: Path) -> dict[str, Any]:
    """Return the metadata of a file. Raises PredictionsError where it is no file of maps."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(regular(path), "numpy") as opened:
            found = read_json((opened.metadata() or {}).get(KEY, "null"))
            keys = set(opened.keys())
    except (OSError, SafetensorError, ValueError) as error:
        raise PredictionsError(f"{path}: no file of attention maps ({error}). Caption again.") from error
    if (
        not isinstance(found, dict)
        or not _are_words_of(found.get("words"), keys)
        or not _is_grid(found.get("grid"))
    ):
        raise PredictionsError(
            f"{path}: its metadata does not say which words and grid its maps belong to. Caption again."
        )
    return found


class AttentionFiles:
    """The maps of a folder by pair id, each read on demand. Raises PredictionsError."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._entries: dict[str, MapsEntry] = {}
        self._opened: tuple[Path, Any] | None = None
        self.about: dict[str, Any] = {}
        paths = sorted(self.folder.glob(PATTERN))
        if not paths:
            raise PredictionsError(
                f"{self.folder}: no attention maps ({PATTERN}) here. `whatchanged caption --attention` "
                "writes them."
            )
        for path in paths:
            self._add(path)
        rows, columns = self.about["grid"]
        self.grid: tuple[int, int] = (rows, columns)

    def __contains__(self, pair_id: object) -> bool:
        return pair_id in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def words(self, pair_id: str) -> tuple[str, ...]:
        """Return the words of a pair's sentence."""
        return self._entries[pair_id].words

    def read(self, pair_id: str) -> list[tuple[str, Floats]]:
        """Return the words of a pair's sentence, each with its maps (2, rows, columns)."""
        from safetensors import safe_open

        entry = self._entries[pair_id]
        if self._opened is None or self._opened[0] != entry.path:  # pairs are mostly read in order
            self._opened = entry.path, safe_open(regular(entry.path), "numpy")
        opened = self._opened[1]
        wanted = (len(entry.words), 2, *self.grid)
        stored = opened.get_slice(pair_id)  # its header alone: a tensor of a wrong shape is not read
        shape, kind = tuple(stored.get_shape()), stored.get_dtype()
        if shape != wanted or kind != "F16":
            raise _no_maps(entry.path, pair_id, wanted, f"{shape}, {kind}")
        maps = np.asarray(opened.get_tensor(pair_id), np.float32)
        if not np.isfinite(maps).all() or (maps < 0).any():
            raise _no_maps(entry.path, pair_id, wanted, "not all of that kind")
        return list(zip(entry.words, maps, strict=True))

    def heat(self, pair_id: str) -> Floats:
        """Return the maps of a pair (2, rows, columns), averaged over its content words."""
        return over_content(self.read(pair_id), self.grid)

    def _add(self, path: Path) -> None:
        results = about_file(path)
        about = {key: results.get(key) for key in SAME}
        if self.about and about != self.about:
            other = next(key for key in SAME if about[key] != self.about[key])
            raise PredictionsError(
                f"{path}: made with another {other} than the files before it. Keep one run's maps in one "
                "folder."
            )
        self.about = about
        twice = [pair_id for pair_id in results["words"] if pair_id in self._entries]
        if twice:
            raise PredictionsError(
                f"{path}: {len(twice):,} pairs have maps in another file too (first: {twice[0]}). Remove the "
                "files of one of the runs."
            )
        for pair_id, words in results["words"].items():
            self._entries[pair_id] = MapsEntry(path, tuple(words))


def _no_maps(path: Path, pair_id: str, wanted: tuple[int, ...], actual: str) -> PredictionsError:
    """Return the error for a tensor that does not hold the maps of its pair."""
    return PredictionsError(
        f"{path}: the maps of {pair_id} should be {wanted}, F16, finite and not negative; they are {actual}."
        " Caption again."
    )


def _are_words_of(value: Any, pair_ids: set[str]) -> bool:
    """Return whether the value maps exactly these pairs to lists of words, at least one each."""
    if not isinstance(value, dict) or set(value) != pair_ids:
        return False
    return all(
        isinstance(words, list) and words and all(isinstance(word, str) for word in words)
        for words in value.values()
    )


def _is_grid(value: Any) -> bool:
    """Return whether the value is [rows, columns]."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(type(count) is int and 0 < count <= MOST_CELLS for count in value)
