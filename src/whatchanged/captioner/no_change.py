"""How probable a decoder finds it that nothing changed: the share it gives to the sentences that say so."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.decoding import Cache, Ids, Step
from whatchanged.vocabulary import BOS, EOS, UNK, Vocabulary

ROWS = 32
"""Sentences read side by side, at least those of one pair: each brings a copy of its pair's memory."""


def sayable(sentences: Sequence[str], vocabulary: Vocabulary, max_length: int) -> list[list[int]]:
    """Ids of each sentence, EOS included and BOS not, but for those with a word outside the vocabulary."""
    found = (vocabulary.sentence(sentence)[1:] for sentence in sentences)
    return [ids for ids in found if UNK not in ids and len(ids) < max_length]


def sentences_probability(
    step: Step, cache: Cache, batch: int, sentences: Sequence[Sequence[int]]
) -> NDArray[np.float64]:
    """Per pair Σ_s Π_t P(w_st | w_s,<t, pair) over the sentences, (B,); 0 where there are none.

    sentences: ids after BOS, EOS included, as ``sayable`` gives them. ``step`` as in ``decoding``. A few
    pairs at a time, so that about ``ROWS`` rows run at once.
    """
    total = np.zeros(batch)
    at_once = max(1, ROWS // max(1, len(sentences)))
    for first in range(0, batch if sentences else 0, at_once):
        pairs = np.arange(first, min(first + at_once, batch))
        rows = np.repeat(pairs, len(sentences))
        part = {name: value[rows] for name, value in cache.items()}
        logs = _log_probabilities(step, part, list(sentences) * len(pairs))
        total[pairs] = np.exp(logs).reshape(len(pairs), -1).sum(1)
    return total


def _log_probabilities(step: Step, cache: Cache, rows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Sum of log-probabilities of each row's ids, word by word, all rows side by side."""
    longest = max(map(len, rows))
    ids: Ids = np.array([[*row, *[EOS] * (longest - len(row))] for row in rows], np.int64)
    lengths, total = np.array([len(row) for row in rows]), np.zeros(len(rows))
    previous: Ids = np.full(len(rows), BOS, np.int64)
    for position in range(1, longest + 1):
        scores, _, cache = step(previous, position, cache)
        previous = ids[:, position - 1]
        said = np.asarray(scores, np.float64)[np.arange(len(rows)), previous]
        total += np.where(position <= lengths, said, 0.0)
    return total
