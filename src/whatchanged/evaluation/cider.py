"""CIDEr-D: what the COCO caption evaluation and all papers since print as "CIDEr"."""

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.ngrams import ORDERS, Corpus, Order

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
    excess = np.maximum(corpus.reference_length, 1) - np.maximum(corpus.candidate_length, 1)[corpus.owner]
    similarity = np.zeros(len(corpus.owner))
    for order in corpus.orders:
        similarity += _similarity(order, corpus.owner, select)
    similarity *= np.exp(-(excess**2) / (2 * SIGMA**2)) / ORDERS
    mean = np.bincount(corpus.owner, similarity, len(corpus)) / np.bincount(
        corpus.owner, minlength=len(corpus)
    )
    result: Floats = 10 * mean[chosen]
    return result


def _similarity(order: Order, owner: NDArray[np.int64], select: NDArray[np.bool_]) -> Floats:
    """Clipped cosine of each reference (R,) with its candidate, no length penalty yet; 0 if not selected."""
    pair, gram = order.used
    frequency = np.bincount(gram[select[pair]], minlength=order.grams)
    weight = np.log(float(select.sum())) - np.log(np.maximum(1.0, frequency))
    candidate, reference = order.candidate, order.reference
    mine = candidate.count * weight[candidate.gram]
    entries = np.flatnonzero(select[owner[reference.row]])
    row, match = reference.row[entries], order.match[entries]
    theirs = reference.count[entries] * weight[reference.gram[entries]]
    hit = match >= 0
    overlap = np.bincount(row[hit], np.minimum(mine[match[hit]], theirs[hit]) * theirs[hit], len(owner))
    norm = np.sqrt(
        np.bincount(candidate.row, mine**2, len(select))[owner] * np.bincount(row, theirs**2, len(owner))
    )
    result: Floats = np.divide(overlap, norm, out=np.zeros(len(owner)), where=norm > 0)
    return result
