"""ROUGE-L with the values of the COCO caption evaluation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BETA = 1.2


def rouge_l(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """The score of each pair (P,), in 0..1; a corpus scores their mean.

        P = max_j lcs(c, r_j) / |c|,   R = max_j lcs(c, r_j) / |r_j|   (perhaps of different references)
        F = (1 + beta^2) P R / (R + beta^2 P),  beta = 1.2;  0 where P or R is 0

    Words are what single blanks separate, as in the COCO code: a double blank makes an empty word, and the
    empty caption is one empty word, so that an empty candidate scores 1 against an empty reference.
    """
    known: dict[str, dict[str, int]] = {}
    split: dict[str, list[str]] = {}
    scores = np.empty(len(candidates))
    for i, (candidate, own) in enumerate(zip(candidates, references, strict=True)):
        common = known.setdefault(candidate, {})
        new = [reference for reference in own if reference not in common]
        if new:
            for text in (candidate, *new):
                if text not in split:
                    split[text] = text.split(" ")
            common.update(zip(new, common_lengths(split[candidate], [split[r] for r in new]), strict=True))
        precision = max([common[r] for r in own]) / (candidate.count(" ") + 1)
        recall = max([common[r] / (r.count(" ") + 1) for r in own])
        scores[i] = _f(precision, recall)
    return scores


def _f(precision: float, recall: float) -> float:
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def common_lengths(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    """Length of the longest common subsequence with each reference.

    The dynamic programme's rows are bit strings: one addition a word (Crochemore et al., 2001).
    """
    places: dict[str, int] = {}
    for i, word in enumerate(candidate):
        places[word] = places.get(word, 0) | 1 << i
    every = (1 << len(candidate)) - 1
    lengths = []
    for reference in references:
        row = every
        for word in reference:
            here = row & places.get(word, 0)
            row = (row + here | row - here) & every
        lengths.append(len(candidate) - row.bit_count())
    return lengths
