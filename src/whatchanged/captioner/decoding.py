"""Greedy search and beam search with any step function, in NumPy.

A step predicts one word. It takes the previous ids (B,), the position of the word (1 for the first) and the
cache. It returns the log-probabilities (B, V), the word's attention (B, ...) or None, and the next cache. The
attention may have any shape behind the batch axis, because the search only selects its rows.

The values of the cache, the encoder's memory among them, have the batch axis first. The search only selects
rows of these values with ``value[rows]``, so NumPy arrays and torch tensors both work.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.vocabulary import BOS, EOS

GraphCache = Mapping[str, Any]
Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
Step = Callable[[Ids, int, GraphCache], tuple[Any, Any, GraphCache]]
Skips = Callable[[Sequence[int]], bool]
"""A function that returns whether beam search must skip a sentence that begins with these ids (without BOS).
"""


@dataclass(frozen=True, eq=False)
class Decoded:
    """The decoded words of one row."""

    ids: tuple[int, ...]
    """The token ids after BOS, up to EOS (included) or up to the length limit."""
    log_probability: float
    """The sum over ``ids``."""
    attention: Floats | None
    """The attention of each id, (len(ids), ...)."""


def greedy(step: Step, cache: GraphCache, batch: int, max_length: int) -> list[Decoded]:
    """Return the most probable word at each position (the first of equals), for ``batch`` rows at once.

    A row has at most ``max_length`` ids, BOS included, so at most ``max_length - 1`` steps run. The search
    stops as soon as every row has reached EOS. Ids after a row's EOS are cut off.
    """
    previous: Ids = np.full(batch, BOS, np.int64)
    ended = np.zeros(batch, bool)
    total = np.zeros(batch)
    words: list[Ids] = []
    maps: list[Floats] = []
    for position in range(1, max_length):
        scores, attention, cache = step(previous, position, cache)
        scores = np.asarray(scores)
        previous = scores.argmax(axis=1)
        total += np.where(ended, 0.0, scores[np.arange(batch), previous])
        ended |= previous == EOS
        words.append(previous)
        if attention is not None:
            maps.append(np.asarray(attention))
        if ended.all():
            break
    ids = np.stack(words, axis=1) if words else np.zeros((batch, 0), np.int64)  # (B, T)
    looked = np.stack(maps, axis=1) if maps else None  # (B, T, ...)
    return [
        _decoded(ids[row], float(total[row]), None if looked is None else looked[row]) for row in range(batch)
    ]


def beam(
    step: Step, cache: GraphCache, batch: int, max_length: int, beams: int, skips: Skips | None = None
) -> list[Decoded]:
    """Return the best of the ``beams`` hypotheses that are kept for each row; a score is the sum of
    log-probabilities.

    A hypothesis that has ended keeps its rank and its score. Scores only fall, so a row is done when its best
    hypothesis has ended. Equal sums are ordered by the log-probability of their last word, then by beam and
    id, so that one beam gives the same result as greedy search, rounding included. skips: a hypothesis for
    which ``skips`` returns true is dropped.
    """
    cache = _take(cache, np.repeat(np.arange(batch), beams))
    words: Ids = np.full((batch, beams), BOS, np.int64)
    ended = np.zeros((batch, beams), bool)
    total = np.full((batch, beams), -np.inf)
    total[:, 0] = 0.0  # at the start all beams of a row are equal, so only one of them may count
    ids: Ids = np.zeros((batch, beams, 0), np.int64)
    maps: Floats | None = None
    for position in range(1, max_length):
        scores, attention, cache = step(words.reshape(-1), position, cache)
        scores = np.array(scores, np.float64).reshape(batch, beams, -1)  # (B, beams, V)
        size = scores.shape[2]
        scores[ended] = -np.inf
        scores[ended, EOS] = 0.0
        flat = scores.reshape(batch, -1)  # (B, beams * V)
        sums = (total[:, :, None] + scores).reshape(batch, -1)
        best = best_candidates(sums, flat, beams)  # (B, beams)
        while skips is not None and (left_out := _skipped(best, sums, ids, ended, skips)):
            sums[tuple(np.transpose(left_out))] = -np.inf
            best = best_candidates(sums, flat, beams)
        parent = best // size
        words = best % size
        total = np.take_along_axis(sums, best, axis=1)
        ended = np.take_along_axis(ended, parent, axis=1) | (words == EOS)
        ids = np.concatenate([_reorder(ids, parent), words[:, :, None]], axis=2)
        if attention is not None:
            now = np.asarray(attention).reshape(batch, beams, 1, *np.shape(attention)[1:])
            past = now[:, :, :0] if maps is None else maps
            maps = np.concatenate([_reorder(past, parent), _reorder(now, parent)], axis=2)
        if ended[:, 0].all():
            break
        cache = _take(cache, (parent + beams * np.arange(batch)[:, None]).reshape(-1))
    return [
        _decoded(ids[row, 0], float(total[row, 0]), None if maps is None else maps[row, 0])
        for row in range(batch)
    ]


def best_candidates(sums: NDArray[np.float64], flat: NDArray[np.float64], beams: int) -> Ids:
    """Return the first ``beams`` candidates of each row, ordered by ``sums``, then ``flat``, then number.

    Only these candidates are sorted, except in a row where further candidates equal the last of these
    candidates.
    """
    beams = min(beams, sums.shape[1])
    last = -np.partition(-sums, beams - 1, axis=1)[:, beams - 1 : beams]  # (B, 1)
    reached = sums >= last  # (B, beams * V)
    equals = reached.sum(axis=1) > beams
    best = np.empty((len(sums), beams), np.int64)
    chosen = np.nonzero(reached[~equals])[1].reshape(-1, beams)  # in the order of their numbers
    keys = [-np.take_along_axis(values[~equals], chosen, axis=1) for values in (flat, sums)]
    best[~equals] = np.take_along_axis(chosen, np.lexsort(keys, axis=1), axis=1)
    best[equals] = np.lexsort((-flat[equals], -sums[equals]), axis=1)[:, :beams]
    return best


def _skipped(
    best: Ids, sums: NDArray[np.float64], ids: Ids, ended: NDArray[np.bool_], skips: Skips
) -> list[tuple[int, int]]:
    """Return which of the candidates ``best`` (B, beams), numbered by beam and word, are skipped: row and
    number.

    sums: (B, beams * V), their scores; candidates without a chance are not tested. ids: (B, beams, length),
    the words before. ended: (B, beams).
    """
    size = sums.shape[1] // ids.shape[1]
    return [
        (row, int(one))
        for row in range(len(best))
        for one in best[row]
        if np.isfinite(sums[row, one])
        and not ended[row, one // size]
        and skips([*ids[row, one // size].tolist(), int(one % size)])
    ]


def _take(cache: GraphCache, rows: Ids) -> GraphCache:
    """Return the cache of ``rows``, in this order. Returns the cache object itself where the order does not
    change.
    """
    if all(len(value) == len(rows) for value in cache.values()) and np.array_equal(
        rows, np.arange(len(rows))
    ):
        return cache
    return {name: value[rows] for name, value in cache.items()}


def _reorder(history: NDArray[Any], parent: Ids) -> NDArray[Any]:
    """Return ``history`` (batch, beams, ...) with the past of each beam's parent."""
    taken: NDArray[Any] = history[np.arange(len(history))[:, None], parent]
    return taken


def _decoded(ids: Sequence[int] | Ids, log_probability: float, maps: Floats | None) -> Decoded:
    """Return a row, cut behind its first EOS."""
    row = [int(i) for i in ids]
    length = row.index(EOS) + 1 if EOS in row else len(row)
    return Decoded(tuple(row[:length]), log_probability, None if maps is None else maps[:length])
