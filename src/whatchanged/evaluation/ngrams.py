"""Candidates and references of the same pairs, their n-grams counted once for all metrics that compare them.

Words and n-grams are whole numbers and all counting is sorting, so that 8,000 pairs with six references each
take a fraction of a second. Strings come in tokenised; blanks separate words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError

ORDERS = 4
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """n-grams of one order: caption ``row[e]`` holds the n-gram ``gram[e]`` ``count[e]`` times. Sorted."""

    row: Ints
    gram: Ints
    count: Ints


@dataclass(frozen=True)
class Order:
    """All n-grams of one length."""

    grams: int
    """How many different ones there are: ids are below this."""
    candidate: Counts
    """Its rows are pairs: each has one candidate."""
    reference: Counts
    """Its rows are references: ``Corpus.owner`` says whose."""
    match: Ints
    """For each entry of ``reference``: the entry of ``candidate`` with the same pair and n-gram, or -1."""
    used: tuple[Ints, Ints]
    """(pair, n-gram) of all n-grams in any of a pair's references, each once."""


@dataclass(frozen=True)
class Corpus:
    """P candidates and their R references, counted."""

    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    owner: Ints
    """(R,) the pair of each reference."""
    candidate_length: Ints
    reference_length: Ints
    orders: tuple[Order, ...]

    def __len__(self) -> int:
        return len(self.candidates)


def count(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus:
    """Tokenised candidates (P) and each one's tokenised references (at least one) to a ``Corpus``."""
    check(candidates, references)
    pairs = len(candidates)
    owner = np.repeat(np.arange(pairs), [len(r) for r in references])
    words, length = _encode([*candidates, *chain.from_iterable(references)])
    row = np.repeat(np.arange(len(length)), length)
    rest = np.repeat(np.cumsum(length), length) - np.arange(
        len(words)
    )  # words left in the caption, this one too
    orders = []
    gram, start = words, np.arange(len(words))
    vocabulary = int(words.max(initial=-1)) + 1
    for n in range(1, ORDERS + 1):
        if n > 1:
            longer = rest[start] >= n
            start = start[longer]
            _, gram = np.unique(gram[longer] * vocabulary + words[start + n - 1], return_inverse=True)
        orders.append(_order(row[start], gram, pairs, owner))
    return Corpus(
        tuple(candidates),
        tuple(tuple(r) for r in references),
        owner,
        length[:pairs],
        length[pairs:],
        tuple(orders),
    )


def check(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Raises PredictionsError unless there are candidates, each with at least one reference."""
    if len(candidates) != len(references):
        raise PredictionsError(
            f"{len(candidates)} candidates but {len(references)} lists of references: one each."
        )
    if not candidates:
        raise PredictionsError("No pairs to score.")
    if not all(references):
        first = next(i for i, r in enumerate(references) if not r)
        raise PredictionsError(f"Pair {first} (counted from 0) has no references: it cannot be scored.")


def _encode(texts: Sequence[str]) -> tuple[Ints, Ints]:
    """All words of all texts as numbers, end to end, and the number of words of each text."""
    numbers: dict[str, int] = {}
    split = [text.split() for text in texts]
    words = [numbers.setdefault(word, len(numbers)) for text in split for word in text]
    return np.array(words, np.int64), np.array([len(text) for text in split], np.int64)


def _order(row: Ints, gram: Ints, pairs: int, owner: Ints) -> Order:
    """Occurrences (row, gram) to counts; the first ``pairs`` rows are the candidates."""
    grams = int(gram.max(initial=-1)) + 1
    keys, counts = np.unique(row * max(grams, 1) + gram, return_counts=True)
    row, gram = np.divmod(keys, max(grams, 1))
    split = int(np.searchsorted(row, pairs))
    candidate = Counts(row[:split], gram[:split], counts[:split])
    reference = Counts(row[split:] - pairs, gram[split:], counts[split:])
    wanted = owner[reference.row] * max(grams, 1) + reference.gram
    match = np.full(len(wanted), -1)
    if split:
        at = np.minimum(np.searchsorted(keys[:split], wanted), split - 1)
        match = np.where(keys[at] == wanted, at, -1)
    used = np.divmod(np.unique(wanted), max(grams, 1))
    return Order(grams, candidate, reference, match, used)
