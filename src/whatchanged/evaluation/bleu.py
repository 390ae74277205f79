"""BLEU-1..4 with the values of the COCO caption evaluation."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.ngrams import ORDERS, Corpus

Floats = NDArray[np.float64]


def statistics(corpus: Corpus) -> Floats:
    """What BLEU adds up over pairs, (P, 10).

    Columns: words of the candidate, words of the nearest reference, guess_1..4, correct_1..4.

    guess_n = max(0, words - n + 1); correct_n counts each n-gram of the candidate at most as often as that
    reference which has it most often. The nearest reference differs least in length; of two, the shorter.
    """
    pairs = len(corpus)
    length = corpus.candidate_length
    far = np.abs(corpus.reference_length - length[corpus.owner])
    scale = int(corpus.reference_length.max()) + 1
    first = np.searchsorted(corpus.owner, np.arange(pairs))
    nearest = np.minimum.reduceat(far * scale + corpus.reference_length, first) % scale
    columns = [length, nearest, *(np.maximum(0, length - n) for n in range(ORDERS))]
    for order in corpus.orders:
        most = np.zeros(len(order.candidate.count), np.int64)
        hit = order.match >= 0
        np.maximum.at(most, order.match[hit], order.reference.count[hit])
        correct = np.minimum(most, order.candidate.count)
        columns.append(np.bincount(order.candidate.row, correct, pairs))
    return np.stack(columns, axis=1).astype(float)


def bleu(sums: Floats) -> Floats:
    """Summed statistics (..., 10) to BLEU-1..4 (..., 4), in 0..1. A pair's own statistics give its own BLEU.

        P_n = (correct_n + 1e-15) / (guess_n + 1e-9),  B_n = (P_1 ... P_n)^(1/n)
        q = (c + 1e-15) / (r + 1e-9);  if q < 1, every B_n is multiplied by exp(1 - 1/q)

    The two constants are the COCO code's: a perfect caption scores 0.9999999995. They are no smoothing.
    """
    ratio = (sums[..., 0] + 1e-15) / (sums[..., 1] + 1e-9)
    precision = (sums[..., 6:10] + 1e-15) / (sums[..., 2:6] + 1e-9)
    score = np.cumprod(precision, axis=-1) ** (1 / np.arange(1, ORDERS + 1))
    brevity = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    result: Floats = score * brevity[..., None]
    return result
