"""METEOR's formula: scores from the statistics of pairs."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STATISTICS = 23
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""Weights of the four kinds of match: exact, stem, synonym, paraphrase. English defaults, like the next
line.
"""
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
CHUNKS = 20
CAPTION_MATCHES, REFERENCE_MATCHES = 21, 22
"""Places among the statistics."""

Row = tuple[int, ...]
"""The statistics of a caption and one reference."""


def meteor(totals: Floats) -> Floats:
    """Compute METEOR (...), in 0..1, from summed statistics (..., 23); those of one pair give its own score.

        P = sum_m w_m (delta content_m + (1 - delta) function_m) / (delta content + (1 - delta) function)
        F = P R / (alpha P + (1 - alpha) R),   fragmentation = chunks / mean of the words matched
        METEOR = F (1 - gamma fragmentation^beta);   0 where nothing matches

    w = 1, .6, .8, .6 over the kinds of match m, alpha = .85, beta = .2, gamma = .6, delta = .75; R is the
    formula of P with the reference's counts. The score of a corpus follows from its summed statistics; it is
    not the mean over its pairs. Source: Denkowski and Lavie, WMT 2014 (English, ranking task), in the form of
    the released program.
    """
    matched = totals[..., 4:20].reshape(*totals.shape[:-1], 4, 2, 2)  # kind, content or function, side
    weights = np.array(WEIGHTS)
    weighted = np.einsum("m,...mks,k->...s", weights, matched, np.array([DELTA, 1 - DELTA]))
    lengths, functions = totals[..., 0:2], totals[..., 2:4]
    length = DELTA * (lengths - functions) + (1 - DELTA) * functions
    precision, recall = np.moveaxis(_ratio(weighted, length), -1, 0)
    mean = _ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall)
    matched_words = totals[..., CAPTION_MATCHES : REFERENCE_MATCHES + 1].mean(axis=-1)
    fragmentation = _ratio(totals[..., CHUNKS], matched_words)
    result: Floats = mean * (1 - GAMMA * fragmentation**BETA)
    return result


def without_needless_chunks(statistics: Floats) -> Floats:
    """Return the statistics of pairs (P, 23), with 0 chunks for a pair whose words all match in one chunk."""
    found = statistics.copy()
    whole = found[:, [CAPTION_MATCHES, REFERENCE_MATCHES]] == found[:, :2]
    found[whole.all(axis=1) & (found[:, CHUNKS] == 1), CHUNKS] = 0
    return found


@lru_cache(maxsize=1 << 16)
def score(row: Row) -> float:
    """Return METEOR of a caption and one reference, rounded at each step as in the program: the rounding
    decides ties.
    """
    precision = _side(row, 0)
    recall = _side(row, 1)
    if not precision or not recall:
        return 0.0
    mean = 1 / ((1 - ALPHA) / precision + ALPHA / recall)
    matched = row[CAPTION_MATCHES], row[REFERENCE_MATCHES]
    whole = matched == row[:2] and row[CHUNKS] == 1
    fragmentation = 0.0 if whole else row[CHUNKS] / (sum(matched) / 2)
    return max(mean * (1 - GAMMA * math.pow(fragmentation, BETA)), 0.0)


def _side(row: Row, side: int) -> float:
    """Return precision (side 0) or recall (side 1)."""
    words_of_side, functions = row[side], row[2 + side]
    length = DELTA * (words_of_side - functions) + (1 - DELTA) * functions
    weighted = 0.0
    for kind, weight in enumerate(WEIGHTS):
        weighted += row[4 + 4 * kind + side] * weight * DELTA
    for kind, weight in enumerate(WEIGHTS):
        weighted += row[4 + 4 * kind + 2 + side] * weight * (1 - DELTA)
    return weighted / length if length else 0.0


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return ``above / below``, 0 where ``below`` is 0."""
    result: Floats = np.divide(above, below, out=np.zeros(np.shape(below)), where=below > 0)
    return result
