"""ROUGE-L, with the values of the COCO caption evaluation."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.ngrams import Corpus, spread

BETA = 1.2
_BITS = 64
Ints = NDArray[np.int64]


def rouge_l(corpus: Corpus) -> NDArray[np.float64]:
    """Return the score of each pair (P,), in 0..1; the score of a corpus is their mean.

        P = max_j lcs(c, r_j) / |c|,   R = max_j lcs(c, r_j) / |r_j|   (perhaps of different references)
        F = (1 + beta^2) P R / (R + beta^2 P),  beta = 1.2;  0 where P or R is 0

    Words are separated by single blanks, as in the COCO code. A double blank therefore makes an empty word,
    and the empty caption is one empty word, so an empty candidate scores 1 against an empty reference.
    """
    words, length = corpus.spaced
    common = common_lengths(words, length, *corpus.combinations)[corpus.combination]  # (R,)
    first = np.searchsorted(corpus.owner, np.arange(len(corpus)))
    precision = np.maximum.reduceat(common, first) / length[corpus.candidate]
    recall = np.maximum.reduceat(common / length[corpus.reference], first)
    above = (1 + BETA**2) * precision * recall
    below = recall + BETA**2 * precision
    return np.divide(above, below, out=np.zeros(len(corpus)), where=below > 0)


def common_lengths(words: Ints, length: Ints, a: Ints, b: Ints) -> Ints:
    """Return the length of the longest common subsequence of captions a[m] and b[m], (M,).

    The captions are concatenated in ``words``, with ``length`` words each. All M are computed at once, one
    word of b at a
    time: a row of the dynamic programme is a bit string over the words of a, and a step is one addition
    (Crochemore et al., 2001).
    """
    start = np.concatenate([[0], np.cumsum(length)])
    if length[a].max() > _BITS:
        captions = [words[i:j].tolist() for i, j in pairwise(start)]
        return np.array([_long_common(captions[i], captions[j]) for i, j in zip(a, b, strict=True)])
    # For each caption of a and each of its words: the bits at which the word stands.
    which = np.unique(a)
    row, at = spread(start, which)
    scale = int(words.max(initial=0)) + 1
    key = which[row] * scale + words[at]
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    places = np.bitwise_or.reduceat(np.uint64(1) << (at - start[which[row]]).astype(np.uint64)[order], first)
    # For each word of b: the bits at which it stands in a, one row of ``steps`` for each place in b.
    member, at = spread(start, b)
    sought = a[member] * scale + words[at]
    found = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    here = np.where(keys[found] == sought, places[found], np.uint64(0))
    steps = np.zeros((int(length[b].max()), len(b)), np.uint64)
    steps[at - start[b[member]], member] = here
    rows = np.full(len(b), np.iinfo(np.uint64).max)
    for step in steps:
        rows = (rows + (rows & step)) | (rows & ~step)
    # Each zero bit is one word of the common subsequence.
    zeros = np.unpackbits(~rows.view(np.uint8).reshape(-1, 8), axis=1)
    result: Ints = zeros.sum(axis=1, dtype=np.int64)
    return result


def _long_common(a: list[int], b: list[int]) -> int:
    """Return the same for two captions of any length: the bit string is one Python integer."""
    places: dict[int, int] = {}
    for i, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << i
    row = every = (1 << len(a)) - 1
    for word in b:
        here = row & places.get(word, 0)
        row = ((row + here) | (row - here)) & every
    return len(a) - row.bit_count()
