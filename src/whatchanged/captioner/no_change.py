"""The probability that nothing changed, for a decoder without a head that computes it.

The probability is the sum of the probabilities of all no-change sentences.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.decoding import GraphCache, Ids, Step
from whatchanged.vocabulary import BOS, EOS, UNK, Vocabulary

ROWS = 32
"""The largest batch of sentences. Each needs a copy of its pair's memory."""


def sayable(sentences: Sequence[str], vocabulary: Vocabulary, max_length: int) -> list[list[int]]:
    """Return the token ids of the sentences that a decoder can write, without BOS and with EOS.

    A sentence with a word outside the vocabulary, or with too many words, is left out.
    """
    results = (vocabulary.sentence(sentence)[1:] for sentence in sentences)
    return [ids for ids in results if UNK not in ids and len(ids) < max_length]


def sentences_probability(
    step: Step, cache: GraphCache, batch: int, sentences: Sequence[Sequence[int]]
) -> NDArray[np.float64]:
    """Return for each pair Σ_s Π_t P(w_st | w_s,<t, pair), summed over the sentences s and their words t:
    (B,).

    The result is 0 where there are no sentences. step: as in ``decoding``. sentences: as ``sayable`` returns
    them. At most ``ROWS`` rows run at once: those of a few pairs, or a part of one pair's sentences.
    """
    total = np.zeros(batch)
    at_once = max(1, ROWS // max(1, len(sentences)))
    for first in range(0, batch, at_once):
        pairs = np.arange(first, min(first + at_once, batch))
        for start in range(0, len(sentences), ROWS):
            some = list(sentences[start : start + ROWS])
            rows = np.repeat(pairs, len(some))
            part = {name: value[rows] for name, value in cache.items()}
            logs = _log_probabilities(step, part, some * len(pairs))
            total[pairs] += np.exp(logs).reshape(len(pairs), -1).sum(1)
    return total


def _log_probabilities(step: Step, cache: GraphCache, rows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the sum of the log-probabilities of each row's ids; all rows run in one batch."""
    longest = max(map(len, rows))
    ids: Ids = np.array([[*row, *[EOS] * (longest - len(row))] for row in rows], np.int64)  # (R, longest)
    lengths = np.array([len(row) for row in rows])
    total = np.zeros(len(rows))
    previous: Ids = np.full(len(rows), BOS, np.int64)
    for position in range(1, longest + 1):
        scores, _, cache = step(previous, position, cache)
        previous = ids[:, position - 1]
        written = np.asarray(scores, np.float64)[np.arange(len(rows)), previous]  # (R,)
        total += np.where(position <= lengths, written, 0.0)
    return total
