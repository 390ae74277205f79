"""BLEU-1 to BLEU-4, with the values of the COCO caption evaluation."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.ngrams import ORDERS, Corpus, Order, spread

Floats = NDArray[np.float64]


def statistics(corpus: Corpus) -> Floats:
    """Return the statistics that BLEU sums over pairs, (P, 10).

    Columns: words of the candidate, words of the closest reference, guess_1..4, correct_1..4.

    guess_n = max(0, words - n + 1). correct_n counts each n-gram of the candidate, clipped to its largest
    count in any reference. The closest reference differs least in length; of two, the shorter one counts.
    """
    length = corpus.length[corpus.candidate]  # (P,)
    theirs = corpus.length[corpus.reference]  # (R,)
    difference = np.abs(theirs - length[corpus.owner])
    # One number that orders references by difference, then by length; the remainder gives the length back.
    scale = int(theirs.max()) + 1
    first = np.searchsorted(corpus.owner, np.arange(len(corpus)))
    nearest = np.minimum.reduceat(difference * scale + theirs, first) % scale  # (P,)
    guesses = [np.maximum(0, length - n) for n in range(ORDERS)]
    correct = [_correct(corpus, order) for order in corpus.orders]
    return np.stack([length, nearest, *guesses, *correct], axis=1).astype(float)


def bleu(totals: Floats) -> Floats:
    """Compute BLEU-1..4 (..., 4), in 0..1, from summed statistics (..., 10); those of one pair give its own
    BLEU.

        P_n = (correct_n + 1e-15) / (guess_n + 1e-9),  B_n = (P_1 ... P_n)^(1/n)
        q = (c + 1e-15) / (r + 1e-9);  if q < 1, every B_n is multiplied by exp(1 - 1/q)

    c and r are the words of candidates and nearest references. The two constants are the COCO code's: a
    perfect caption scores 0.9999999995. They do not smooth the score.
    """
    ratio = (totals[..., 0] + 1e-15) / (totals[..., 1] + 1e-9)
    precision = (totals[..., 6:10] + 1e-15) / (totals[..., 2:6] + 1e-9)
    score = np.cumprod(precision, axis=-1) ** (1 / np.arange(1, ORDERS + 1))
    brevity = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    result: Floats = score * brevity[..., None]
    return result


def _correct(corpus: Corpus, order: Order) -> NDArray[np.int64]:
    """Return the number of correct n-grams of each candidate (P,)."""
    pair, entry = spread(order.start, corpus.candidate)
    # The entries of all candidates stand end to end: entry e of a pair's caption is number e - offset.
    offset = order.start[corpus.candidate] - np.searchsorted(pair, np.arange(len(corpus)))
    combination, mine, theirs = order.shared
    start = np.searchsorted(combination, np.arange(len(corpus.combinations[0]) + 1))
    reference, shared = spread(start, corpus.combination)
    most = np.zeros(len(entry), np.int64)
    np.maximum.at(most, mine[shared] - offset[corpus.owner[reference]], order.count[theirs[shared]])
    return np.bincount(pair, np.minimum(most, order.count[entry]), len(corpus)).astype(np.int64)
