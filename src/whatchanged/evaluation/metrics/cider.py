"""CIDEr-D, which the COCO caption evaluation and later papers print as "CIDEr"."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.ngrams import ORDERS, Corpus, Order

SIGMA = 6.0
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def cider_d(corpus: Corpus, pairs: NDArray[np.int64] | None = None) -> Floats:
    """Return the scores of the chosen pairs (None: all), as a corpus of their own: (len(pairs),), in 0..10.

        v_n(s)[g]   = count_s(g) (ln N - ln max(1, df(g)))
        sim_n(c, r) = sum_g min(v_c[g], v_r[g]) v_r[g] / (|v_c| |v_r|) · exp(-(L_c - L_r)^2 / (2·6^2))
        score       = 10 · mean_{n=1..4} mean_j sim_n(c, r_j);   a corpus scores the mean over its pairs

    N = number of chosen pairs; df(g) = how many of them have the n-gram g in any reference; L = words - 1, at
    least 0; sim is 0 where a norm is 0. The score of a pair therefore depends on the other pairs: a single
    pair scores 0, and the score of a corpus is not the mean of its subsets' scores. Papers print it times
    100. Source: Vedantam et al., CVPR 2015, in the form of the COCO code (counts clipped, length penalty).
    """
    chosen = np.arange(len(corpus)) if pairs is None else np.asarray(pairs)
    is_chosen = np.zeros(len(corpus), bool)
    is_chosen[chosen] = True
    needed = np.zeros(len(corpus.combinations[0]), bool)  # (M,)
    needed[corpus.combination[is_chosen[corpus.owner]]] = True
    candidate, reference = corpus.combinations
    length = np.maximum(corpus.length, 1)
    similarity = np.zeros(len(needed))  # (M,)
    for order in corpus.orders:
        similarity += _similarity(order, corpus.combinations, is_chosen, needed)
    similarity *= np.exp(-((length[candidate] - length[reference]) ** 2) / (2 * SIGMA**2)) / ORDERS
    similarity = similarity[corpus.combination]  # (R,)
    references = np.bincount(corpus.owner, minlength=len(corpus))
    mean = np.bincount(corpus.owner, similarity, len(corpus)) / references  # (P,)
    result: Floats = 10 * mean[chosen]
    return result


def weightless(corpus: Corpus, pairs: NDArray[np.int64] | None = None) -> Flags:
    """Return which of the chosen pairs score 0 for any caption, as a corpus of their own: (len(pairs),).

    In such a pair's references, every n-gram has the weight 0, because it occurs in the references of every
    chosen pair: ln N - ln df = 0. Examples are a single pair, and pairs that all have the same references.
    """
    chosen = np.arange(len(corpus)) if pairs is None else np.asarray(pairs)
    is_chosen = np.zeros(len(corpus), bool)
    is_chosen[chosen] = True
    weighty = np.zeros(len(corpus), bool)
    spoken = np.zeros(len(corpus), bool)
    for order in corpus.orders:
        pair, gram = order.used
        frequency = np.bincount(gram[is_chosen[pair]], minlength=order.grams)  # (grams,)
        spoken[pair] = True
        weighty[pair[frequency[gram] < len(chosen)]] = True
    result: Flags = (spoken & ~weighty)[chosen]
    return result


def _similarity(
    order: Order,
    combinations: tuple[NDArray[np.int64], NDArray[np.int64]],
    is_chosen: Flags,
    needed: Flags,
) -> Floats:
    """Return the clipped cosine of each combination (M,), without length penalty; arbitrary where not
    ``needed``.
    """
    pair, gram = order.used
    frequency = np.bincount(gram[is_chosen[pair]], minlength=order.grams)  # (grams,)
    weight = np.log(float(is_chosen.sum())) - np.log(np.maximum(1.0, frequency))
    value = order.count * weight[order.gram]  # (E,)
    captions = len(order.start) - 1
    caption = np.repeat(np.arange(captions), np.diff(order.start))
    square = np.bincount(caption, value**2, captions)  # (D,)
    entries = np.flatnonzero(needed[order.shared[0]])
    combination, mine, theirs = (column[entries] for column in order.shared)
    product = np.minimum(value[mine], value[theirs]) * value[theirs]
    overlap = np.bincount(combination, product, len(needed))  # (M,)
    norm = np.sqrt(square[combinations[0]] * square[combinations[1]])
    result: Floats = np.divide(overlap, norm, out=np.zeros(len(needed)), where=norm > 0)
    return result
