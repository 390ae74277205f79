"""METEOR 1.5 by the original Java program: one run for all pairs and any number of subsets."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import java, ngrams

Floats = NDArray[np.float64]

STATISTICS = 23
_WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])
"""Of the four kinds of match: exact, stem, synonym, paraphrase. English defaults, like the next line."""
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
_CHUNKS = 20
PATIENCE = 300.0
"""Seconds to wait for the next reply; before the first, the paraphrase table is loaded (about 10 s)."""


def statistics(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """What METEOR adds up over pairs, (P, 23), each against the pair's best-scoring reference.

    Columns: words of candidate and reference; function words of both; then for exact, stem, synonym and
    paraphrase matches: content words matched in candidate and reference, function words likewise; chunks;
    words matched in candidate and reference. A pair matched whole in one chunk adds 0 chunks.

    Captions come tokenised as for the other metrics; the program lower-cases them and splits off punctuation
    as well. Each different (candidate, references) is sent once. Raises MetricUnavailable where the program
    cannot run.
    """
    ngrams.check(candidates, references)
    requests = [
        " ||| ".join(("SCORE", *map(_one_line, own), _one_line(candidate)))
        for candidate, own in zip(candidates, references, strict=True)
    ]
    number = {request: i for i, request in enumerate(dict.fromkeys(requests))}
    folder = java.reference_package("METEOR") / "meteor"
    arguments = ["-Xmx2G", "-jar", "meteor-1.5.jar", "-", "-", "-stdio", "-l", "en", "-norm"]
    replies = java.converse("METEOR", arguments, list(number), folder, PATIENCE)
    found = np.array([_numbers(reply) for reply in replies])[[number[request] for request in requests]]
    # A pair matched whole in one chunk has no fragmentation at all.
    whole = (found[:, 21] == found[:, 0]) & (found[:, 22] == found[:, 1]) & (found[:, _CHUNKS] == 1)
    found[whole, _CHUNKS] = 0
    return found


def meteor(totals: Floats) -> Floats:
    """Total statistics (..., 23) to METEOR (...), in 0..1. A pair's own statistics give its own score.

        P = sum_m w_m (delta content_m + (1 - delta) function_m) / (delta content + (1 - delta) function)
        F = P R / (alpha P + (1 - alpha) R),   fragmentation = chunks / mean of the words matched
        METEOR = F (1 - gamma fragmentation^beta);   0 where nothing matches

    w = 1, .6, .8, .6 over the kinds of match m, alpha = .85, beta = .2, gamma = .6, delta = .75; R is P with
    the reference's numbers. A corpus is scored by its total statistics, not by the mean of its pairs.
    Source: Denkowski and Lavie, WMT 2014 (English, ranking task), in the form of the released program.
    """
    matched = totals[..., 4:20].reshape(*totals.shape[:-1], 4, 2, 2)  # kind, content or function, side
    weighted = np.einsum("m,...mks,k->...s", _WEIGHTS, matched, np.array([DELTA, 1 - DELTA]))
    words, functions = totals[..., 0:2], totals[..., 2:4]
    length = DELTA * (words - functions) + (1 - DELTA) * functions
    precision, recall = np.moveaxis(_ratio(weighted, length), -1, 0)
    mean = _ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall)
    fragmentation = _ratio(totals[..., _CHUNKS], totals[..., 21:23].mean(axis=-1))
    result: Floats = mean * (1 - GAMMA * fragmentation**BETA)
    return result


def _ratio(above: Floats, below: Floats) -> Floats:
    """``above / below``, 0 where ``below`` is 0."""
    result: Floats = np.divide(above, below, out=np.zeros(np.shape(below)), where=below > 0)
    return result


def _one_line(caption: str) -> str:
    """The caption without what the protocol itself uses: bars of segments, line breaks, double blanks."""
    return " ".join(caption.replace("|||", "").split())


def _numbers(reply: str) -> list[float]:
    try:
        numbers = [float(word) for word in reply.split()]
    except ValueError:
        numbers = []
    if len(numbers) != STATISTICS:
        raise MetricUnavailable(f"METEOR: the program answered {reply!r} instead of {STATISTICS} numbers.")
    return numbers
