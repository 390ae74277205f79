"""CIDEr-D: what the COCO caption evaluation and all papers since print as "CIDEr"."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.ngrams import ORDERS, Corpus, Order

SIGMA = 6.0
Floats = NDArray[np.float64]


def cider_d(corpus: Corpus, pairs: NDArray[np.int64] | None = None) -> Floats:
    """The scores of the chosen pairs (None: all), as a corpus of their own: (len(pairs),), in 0..10.

        v_n(s)[g]   = count_s(g) (ln N - ln max(1, df(g)))
        sim_n(c, r) = sum_g min(v_c[g], v_r[g]) v_r[g] / (|v_c| |v_r|) · exp(-(L_c - L_r)^2 / (2·6^2))
        score       = 10 · mean_{n=1..4} mean_j sim_n(c, r_j);   a corpus scores the mean over its pairs

    N = number of chosen pairs; df(g) = how many of them have g in any reference; L = words - 1, at least 0;
    sim is 0 where a norm is. So the score of a pair depends on the other pairs: a single pair scores 0, and
    the scores of subsets do not average to the whole's. Papers print it times 100.
    Source: Vedantam et al., CVPR 2015, in the form of the COCO code (counts clipped, length penalty).
    """
    chosen = np.arange(len(corpus)) if pairs is None else np.asarray(pairs)
    select = np.zeros(len(corpus), bool)
    select[chosen] = True
    among = np.zeros(len(corpus.meetings[0]), bool)
    among[corpus.meeting[select[corpus.owner]]] = True
    mine, theirs = corpus.meetings
    length = np.maximum(corpus.length, 1)
    similarity = np.zeros(len(among))
    for order in corpus.orders:
        similarity += _similarity(order, corpus.meetings, select, among)
    similarity *= np.exp(-((length[mine] - length[theirs]) ** 2) / (2 * SIGMA**2)) / ORDERS
    similarity = similarity[corpus.meeting]
    mean = np.bincount(corpus.owner, similarity, len(corpus)) / np.bincount(
        corpus.owner, minlength=len(corpus)
    )
    result: Floats = 10 * mean[chosen]
    return result


def _similarity(
    order: Order,
    meetings: tuple[NDArray[np.int64], NDArray[np.int64]],
    select: NDArray[np.bool_],
    among: NDArray[np.bool_],
) -> Floats:
    """Clipped cosine of each meeting (M,), no length penalty yet; of those not ``among``, any value."""
    pair, gram = order.used
    frequency = np.bincount(gram[select[pair]], minlength=order.grams)
    weight = np.log(float(select.sum())) - np.log(np.maximum(1.0, frequency))
    value = order.count * weight[order.gram]
    square = np.bincount(
        np.repeat(np.arange(len(order.start) - 1), np.diff(order.start)), value**2, len(order.start) - 1
    )
    entries = np.flatnonzero(among[order.shared[0]])
    meeting, mine, theirs = (column[entries] for column in order.shared)
    overlap = np.bincount(meeting, np.minimum(value[mine], value[theirs]) * value[theirs], len(among))
    norm = np.sqrt(square[meetings[0]] * square[meetings[1]])
    result: Floats = np.divide(overlap, norm, out=np.zeros(len(among)), where=norm > 0)
    return result
