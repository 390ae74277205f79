"""Greedy and beam search over any step function, in NumPy.

A step takes the previous ids (B,), the position of the word it is to say (1 for the first) and the cache; it
answers log-probabilities (B, V), the word's attention (B, 2, rows, columns) or None, and the next cache. Each
value of the cache (the encoder's memory among them) has the batch axis first and is only ever indexed with
``value[rows]``, so NumPy arrays and torch tensors serve alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.vocabulary import BOS, EOS

Cache = Mapping[str, Any]
Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
Step = Callable[[Ids, int, Cache], tuple[Any, Any, Cache]]


@dataclass(frozen=True, eq=False)
class Decoded:
    """One row's words: ids after BOS up to and including EOS (or the length limit), and what led to them.

    ``log_probability`` is the sum over ``ids``; ``attention`` is (len(ids), 2, rows, columns) or None.
    """

    ids: tuple[int, ...]
    log_probability: float
    attention: Floats | None


def greedy(step: Step, cache: Cache, batch: int, max_length: int) -> list[Decoded]:
    """The most probable word at each position, the first of equals; ``batch`` rows side by side.

    A row has at most ``max_length`` ids, BOS included, so at most ``max_length - 1`` steps run; they stop as
    soon as every row has said EOS. What follows a row's EOS is cut off.
    """
    previous: Ids = np.full(batch, BOS, np.int64)
    ended = np.zeros(batch, bool)
    total = np.zeros(batch)
    said: list[Ids] = []
    looked: list[Floats] = []
    for position in range(1, max_length):
        scores, attention, cache = step(previous, position, cache)
        scores = np.asarray(scores)
        previous = scores.argmax(axis=1)
        total += np.where(ended, 0.0, scores[np.arange(batch), previous])
        ended |= previous == EOS
        said.append(previous)
        if attention is not None:
            looked.append(np.asarray(attention))
        if ended.all():
            break
    ids = np.stack(said, axis=1) if said else np.zeros((batch, 0), np.int64)
    maps = np.stack(looked, axis=1) if looked else None
    return [
        _decoded(ids[row], float(total[row]), None if maps is None else maps[row]) for row in range(batch)
    ]


def beam(step: Step, cache: Cache, batch: int, max_length: int, beams: int) -> list[Decoded]:
    """The best of ``beams`` hypotheses kept per row; the score is the plain sum of log-probabilities.

    A hypothesis that has ended keeps its place and its score. As scores only fall, a row is done when its
    best hypothesis has ended. Equal sums are ordered by their last word's log-probability, then by beam and
    id, so that one beam is greedy search, rounding included.
    """
    k = beams
    cache = _take(cache, np.repeat(np.arange(batch), k))
    words: Ids = np.full((batch, k), BOS, np.int64)
    ended = np.zeros((batch, k), bool)
    total = np.full((batch, k), -np.inf)
    total[:, 0] = 0.0  # all beams start equal; only one of them counts
    ids: Ids = np.zeros((batch, k, 0), np.int64)
    maps: Floats | None = None
    for position in range(1, max_length):
        scores, attention, cache = step(words.reshape(-1), position, cache)
        scores = np.array(scores, np.float64).reshape(batch, k, -1)
        size = scores.shape[2]
        scores[ended] = -np.inf
        scores[ended, EOS] = 0.0
        flat = scores.reshape(batch, -1)
        sums = (total[:, :, None] + scores).reshape(batch, -1)
        best = np.lexsort((-flat, -sums), axis=1)[:, :k]
        parent, words = best // size, best % size
        total = np.take_along_axis(sums, best, axis=1)
        ended = np.take_along_axis(ended, parent, axis=1) | (words == EOS)
        ids = np.concatenate([_reorder(ids, parent), words[:, :, None]], axis=2)
        if attention is not None:
            now = np.asarray(attention).reshape(batch, k, 1, *np.shape(attention)[1:])
            past = now[:, :, :0] if maps is None else maps
            maps = np.concatenate([_reorder(past, parent), _reorder(now, parent)], axis=2)
        if ended[:, 0].all():
            break
        cache = _take(cache, (parent + k * np.arange(batch)[:, None]).reshape(-1))
    return [
        _decoded(ids[row, 0], float(total[row, 0]), None if maps is None else maps[row, 0])
        for row in range(batch)
    ]


def _take(cache: Cache, rows: Ids) -> Cache:
    """The cache of these rows, in this order; the very same where nothing moves."""
    if all(len(value) == len(rows) for value in cache.values()) and np.array_equal(
        rows, np.arange(len(rows))
    ):
        return cache
    return {name: value[rows] for name, value in cache.items()}


def _reorder(history: NDArray[Any], parent: Ids) -> NDArray[Any]:
    """History (batch, beams, ...) with each beam's past replaced by its parent's."""
    taken: NDArray[Any] = history[np.arange(len(history))[:, None], parent]
    return taken


def _decoded(ids: Sequence[int] | Ids, log_probability: float, maps: Floats | None) -> Decoded:
    """A row cut behind its first EOS."""
    row = [int(i) for i in ids]
    length = row.index(EOS) + 1 if EOS in row else len(row)
    return Decoded(tuple(row[:length]), log_probability, None if maps is None else maps[:length])
