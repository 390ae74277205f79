"""Retrieval: does a caption find its pair among all pairs, and a pair its captions?

Ranks count from 0. S sentences, P pairs. Source: metrics.py of sushizixin/CLIP4IDC for both directions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import ShapeError

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
