"""Copies weights that a paper's authors published, and reads the vocabulary beside them.

A method's loader gives the file's tensors our names (``Renamed``). This module compares them with the recipe
and copies them. The ids are those of the authors' vocabulary, so its file must lie beside the weights. A run
that starts from such a file uses the authors' words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.training.vision.base import TorchModule
from whatchanged.vocabulary import SPECIALS, Vocabulary

NEVER = -1e4
"""The bias of a mark that the authors' vocabulary lacks: e to this power is 0."""


@dataclass(frozen=True)
class CopiedWeights:
    """The result of copying a weights file.

    used, unused: names of the file. missing, mismatched: our names of tensors that the file lacks, or has in
    another shape; the latter with both shapes. learned: the tasks that the weights have learned; None: not
    known.
    """

    used: tuple[str, ...]
    unused: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    mismatched: tuple[str, ...] = ()
    learned: frozenset[str] | None = None

    def __str__(self) -> str:
        parts = [f"{len(self.used)} tensors used"]
        for name in ("unused", "missing", "mismatched"):
            results: tuple[str, ...] = getattr(self, name)
            parts += [f"{len(results)} {name}: " + ", ".join(results)] if results else []
        return "; ".join(parts)


@dataclass(frozen=True)
class Renamed:
    """A file's tensors under our names.

    tensors: by our names. sources: our name -> the file's. sizes: key of the recipe -> the value that the
    tensors' shapes imply. own_start: prefixes of our names that may keep their initial values. learned: the
    tasks that the weights have learned.
    """

    tensors: Mapping[str, Tensor]
    sources: Mapping[str, str]
    sizes: Mapping[str, Any]
    own_start: tuple[str, ...]
    learned: frozenset[str]
    unused: Sequence[str] = field(default=())


class ChecksSizes(TorchModule, Protocol):
    """A method with the settings of its recipe."""

    config: Any
    vision: Any


def copy_published(method: ChecksSizes, renamed: Renamed, path: Path) -> CopiedWeights:
    """Copy a file's tensors into ``method``.

    Raises RecipeError where sizes, names or shapes do not fit the recipe; ``method`` then stays unchanged.
    """
    _check_sizes(method, renamed.sizes, path)
    own = method.state_dict()
    learnt = {name for name, _ in method.named_parameters()}
    kept = ("vision.", *renamed.own_start)
    missing = sorted(name for name in learnt - renamed.tensors.keys() if not name.startswith(kept))
    strange = sorted(renamed.tensors.keys() - own.keys())
    mismatched = [
        f"{name} (got {tuple(tensor.shape)}, wanted {tuple(own[name].shape)})"
        for name, tensor in sorted(renamed.tensors.items())
        if name in own and own[name].shape != tensor.shape
    ]
    unused = (*renamed.unused, *(renamed.sources[name] for name in strange))
    used = tuple(renamed.sources[name] for name in renamed.tensors if name in own)
    report = CopiedWeights(used, unused, tuple(missing), tuple(mismatched), renamed.learned)
    if missing or mismatched:
        raise RecipeError(
            f"{path}: these weights do not fit the recipe. {report}. Use the authors' recipe of that data"
            " set."
        )
    method.load_state_dict(
        {name: renamed.tensors[name] for name in own if name in renamed.tensors}, strict=False
    )
    return report


def check_preset(method: ChecksSizes, path: Path) -> None:
    """Raises RecipeError where the recipe uses the paper's preset instead of the authors' code."""
    if method.config.preset != "authors":
        raise RecipeError(
            f"{path}: these weights are of the authors' code, and the recipe computes as the paper says. Use"
            ' an "authors" recipe, or --set method.preset=authors'
        )


def layers_in(names: Iterable[str], prefix: str) -> int:
    """Return how many numbered parts there are: PREFIX0., PREFIX1. ..."""
    numbers = {name.removeprefix(prefix).partition(".")[0] for name in names if name.startswith(prefix)}
    return len([number for number in numbers if number.isdecimal()])


def words_beside(weights: Path, names: Sequence[str], marks: Mapping[str, str]) -> dict[str, int]:
    """Return the authors' vocabulary: our entry -> its row in their tables.

    The file beside the weights has one of the ``names`` and is JSON: word -> id. marks: their names of our
    special entries, which it must contain. Raises RecipeError where it is missing or not such a vocabulary.
    """
    path = next((file for name in names if (file := weights.parent / name).is_file()), None)
    if path is None:
        raise RecipeError(
            f"{weights}: the vocabulary that its ids are of must lie beside it, as {' or '.join(names)}. Copy"
            f" it to {weights.parent}."
        )
    try:
        ids = read_json(read_regular_text(path))
    except (OSError, ValueError) as error:
        raise RecipeError(f"{path}: no vocabulary can be read here ({error}).") from error
    whole = isinstance(ids, dict) and all(type(number) is int for number in ids.values())
    if not whole or sorted(ids.values()) != list(range(len(ids))) or not marks.keys() <= ids.keys():
        raise RecipeError(
            f"{path}: this is not the authors' vocabulary: wanted an object of words with their ids from 0"
            f" on, among them {', '.join(marks)}."
        )
    found = {marks.get(word, word): number for word, number in sorted(ids.items(), key=lambda item: item[1])}
    odd = [word for word in found if word not in SPECIALS and len(word.split()) != 1]
    if odd or len(found) != len(ids):
        raise RecipeError(
            f"{path}: {odd[0]!r} is not a word." if odd else f"{path}: two words stand for the same mark."
        )
    return found


def vocabulary_of(rows: Mapping[str, int]) -> Vocabulary:
    """Return our vocabulary with the authors' words, in their order."""
    return Vocabulary((*SPECIALS, *(word for word in rows if word not in SPECIALS)))


def by_word(
    table: Tensor, rows: Mapping[str, int], vocabulary: Vocabulary, fill: float, path: Path
) -> Tensor:
    """Return the authors' table (V', ...) in the order of ``vocabulary``; entries that the authors lack are
    ``fill``.

    Raises RecipeError where the words differ, or the table has another number of rows.
    """
    unknown = [word for word in vocabulary.entries if word not in rows and word not in SPECIALS]
    if unknown or len(vocabulary) < len(rows):
        shown = ", ".join(unknown[:5]) or "fewer words"
        raise RecipeError(f"{path}: the vocabulary beside it is not that of this model (which has {shown}).")
    if table.shape[0] != len(rows):
        raise RecipeError(
            f"{path}: its table has {table.shape[0]} rows, and the vocabulary beside it {len(rows)} words."
            " Give the vocabulary that it was trained with."
        )
    ours = table.new_full((len(vocabulary), *table.shape[1:]), fill)
    known = [(i, rows[word]) for i, word in enumerate(vocabulary.entries) if word in rows]
    places, numbers = (torch.tensor(part) for part in zip(*known, strict=True))
    ours[places] = table[numbers]
    return ours


def _check_sizes(method: ChecksSizes, sizes: Mapping[str, Any], path: Path) -> None:
    """Raises RecipeError where the recipe's sizes differ from those that the tensors' shapes imply."""
    wrong = []
    for key, value in sizes.items():
        table, _, name = key.partition(".")
        told = getattr(method.config if table == "method" else method.vision, _OF_VISION.get(name, name))
        if told != value:
            wrong.append((key, told, value))
    if wrong:
        shown = ", ".join(f"{key} {value} (the recipe says {told})" for key, told, value in wrong)
        cure = " ".join(f"--set {key}={value}" for key, _, value in wrong)
        raise RecipeError(f"{path}: the shapes of these weights say {shown}. Set them: {cure}")


_OF_VISION = {"feature_width": "raw_width"}
"""A key of ``vision`` -> what a vision calls it."""
