"""Retrieval: does a caption find its pair among all pairs, and a pair its captions?

Ranks count from 0. S sentences, P pairs. Source: metrics.py of sushizixin/CLIP4IDC for both directions.
"""

import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError, ShapeError

CUTS = (1, 5, 10)
Ties = Literal["optimistic", "authors"]


@dataclass(frozen=True)
class RetrievalScores:
    """Both directions: R@1, R@5, R@10 (x100), MdR and MeanR (ranks from 1)."""

    text_to_pair: Mapping[str, float]
    pair_to_text: Mapping[str, float]

    def flat(self) -> dict[str, float]:
        """One mapping, "text_to_pair/R@1" and so on."""
        both = {"text_to_pair": self.text_to_pair, "pair_to_text": self.pair_to_text}
        return {f"{side}/{name}": value for side, scores in both.items() for name, value in scores.items()}


def retrieval_scores(
    similarities: NDArray[Any], pair_of: NDArray[np.int64], ties: Ties = "optimistic"
) -> RetrievalScores:
    """Recall and rank of the right answer. similarities: (S, P); pair_of: (S,), the pair of each sentence.

    Text to pair: each sentence among all pairs; MdR is the lower median. Pair to text: each pair among the P
    groups of captions, a group standing for its best caption; MdR averages the two middle ranks.
    ties: "optimistic" ranks by the number of strictly larger similarities; "authors" counts, pair to text,
    one more entry for every similarity that equals the right one, as the released code does.
    Raises ShapeError where the shapes do not fit, a pair has no sentence, or a similarity is not a number.
    """
    similarities = np.asarray(similarities, np.float64)
    sentences, pairs = similarities.shape if similarities.ndim == 2 else (0, 0)
    if not sentences or pair_of.shape != (sentences,) or set(pair_of.tolist()) != set(range(pairs)):
        raise ShapeError(
            f"similarities {similarities.shape} for sentences of {len(set(pair_of.tolist()))} pairs: wanted"
            " (sentences, pairs), and for each sentence the number of its pair, each pair at least once"
        )
    if np.isnan(similarities).any():
        raise ShapeError("similarities hold NaN: nothing can be ranked. Check the model that made them.")
    own = similarities[np.arange(sentences), pair_of]
    by_text = (similarities > own[:, None]).sum(axis=1)
    groups = np.full((pairs, pairs), -np.inf)
    np.maximum.at(groups, pair_of, similarities)  # (group, pair): the group's best caption
    right = np.diag(groups)
    larger = (groups > right).sum(axis=0)
    if ties == "authors":
        equal = (groups == right).sum(axis=0)
        larger = np.concatenate([rank + np.arange(same) for rank, same in zip(larger, equal, strict=True)])
    return RetrievalScores(_scores(by_text, lower=True), _scores(larger, lower=False))


def _scores(ranks: NDArray[Any], lower: bool) -> dict[str, float]:
    recall = {f"R@{cut}": 100 * float((ranks < cut).mean()) for cut in CUTS}
    median = np.sort(ranks)[(len(ranks) - 1) // 2] if lower else np.median(ranks)
    return {**recall, "MdR": float(median) + 1, "MeanR": float(ranks.mean()) + 1}


@dataclass(frozen=True)
class Similarities:
    """What ``whatchanged retrieve`` writes: values (S, P), each sentence's pair number, the pairs' ids."""

    values: NDArray[np.float32]
    pair_of: NDArray[np.int64]
    ids: tuple[str, ...]

    def of(self, known: Mapping[str, int]) -> "Similarities":
        """Only the pairs that ``known`` names (id -> how many captions), ranked among themselves.

        Raises PredictionsError where none of them is here, or one has another number of captions.
        """
        counts = np.bincount(self.pair_of, minlength=len(self.ids))
        kept = [number for number, name in enumerate(self.ids) if name in known]
        wrong = [i for i in kept if counts[i] != known[self.ids[i]]]
        if not kept or wrong:
            what = "none of its pairs is among the references"
            if wrong:
                name = self.ids[wrong[0]]
                what = f"{name} has {counts[wrong[0]]} sentences, the references have {known[name]}"
            raise PredictionsError(f"similarities: {what}. Name the data set and split they were made of.")
        rows = np.isin(self.pair_of, kept)
        numbers = np.searchsorted(kept, self.pair_of[rows])
        return Similarities(self.values[rows][:, kept], numbers, tuple(self.ids[i] for i in kept))


def holds_similarities(path: Path) -> bool:
    """Whether a file is one of NumPy's archives, as ``whatchanged retrieve`` writes them."""
    return path.is_file() and zipfile.is_zipfile(path)


def read_similarities(path: Path) -> Similarities:
    """Raises PredictionsError where the archive is broken, packed, or holds something else."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist()):
                raise ValueError("its arrays are packed")  # a small file must not become a large one
        with np.load(path, allow_pickle=False) as arrays:
            found = Similarities(arrays["values"], arrays["pair_of"], tuple(map(str, arrays["ids"])))
        if found.values.shape != (len(found.pair_of), len(found.ids)) or len(set(found.ids)) != len(
            found.ids
        ):
            raise ValueError("its arrays do not fit each other")
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise PredictionsError(f"{path}: no similarities can be read ({error}). Write them again.") from error
    return found


def write_similarities(path: Path, similarities: Similarities) -> None:
    """The whole file or none of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("wb") as file:
        np.savez(
            file, values=similarities.values, pair_of=similarities.pair_of, ids=np.array(similarities.ids)
        )
    beside.replace(path)


def scores_as_text(scores: RetrievalScores, similarities: Similarities) -> str:
    """A table of both directions, and what was ranked among what."""
    head = f"{'':14}" + "".join(f"{name:>8}" for name in scores.text_to_pair)
    rows = (("text to pair", scores.text_to_pair), ("pair to text", scores.pair_to_text))
    lines = [f"{name:14}" + "".join(f"{value:8.2f}" for value in side.values()) for name, side in rows]
    sentences, pairs = similarities.values.shape
    return "\n".join([head, *lines, f"{sentences} sentences, {pairs} pairs; ties go to the right answer"])
