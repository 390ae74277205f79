"""Candidates and references of the same pairs, their n-grams counted once for all metrics that compare them.

Words and n-grams are whole numbers and all counting is sorting, so that 8,000 pairs with six references each
take a fraction of a second. Corpora repeat sentences: each different sentence is counted once, and each
different combination of a candidate with a reference is compared once. Sentences come in tokenised; blanks
separate words.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from itertools import count as counter

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import PredictionsError

ORDERS = 4
_DENSE = 32
"""A table is faster than sorting where there are at most so many possible keys for each key."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Order:
    """All n-grams of one length. An entry is a caption with one of its n-grams."""

    grams: int
    """How many different n-grams there are: their numbers are below this."""
    start: Ints
    """(D + 1,) Caption d has the entries start[d] to start[d + 1]."""
    gram: Ints
    """(E,) The n-gram of each entry."""
    count: Ints
    """(E,) How often the caption has it."""
    shared: tuple[Ints, Ints, Ints]
    """(combination, its candidate's entry, its reference's entry) of each n-gram that both have, in the order
    of combinations."""
    used: tuple[Ints, Ints]
    """(pair, n-gram) of all n-grams in any of a pair's references, each once."""


@dataclass(frozen=True)
class Corpus:
    """P pairs with R references in all: D different captions in M different combinations."""

    candidate: Ints
    """(P,) The caption that is each pair's candidate."""
    reference: Ints
    """(R,) The caption that is each reference."""
    owner: Ints
    """(R,) The pair of each reference, ascending."""
    length: Ints
    """(D,) How many words each caption has, any blanks separating."""
    spaced: tuple[Ints, Ints]
    """The words of all captions, end to end, and how many each has, single blanks separating."""
    combination: Ints
    """(R,) The combination of each reference with its candidate."""
    combinations: tuple[Ints, Ints]
    """(M,) twice: the candidate and the reference of each combination, as captions."""
    orders: tuple[Order, ...]

    def __len__(self) -> int:
        return len(self.candidate)


def count(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus:
    """Tokenised candidates (P) and each one's tokenised references (at least one) to a ``Corpus``."""
    check(candidates, references)
    texts = [*candidates, *chain.from_iterable(references)]
    known = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    caption = np.fromiter(map(known.__getitem__, texts), np.int64, len(texts))
    candidate = caption[: len(candidates)]  # (P,)
    reference = caption[len(candidates) :]  # (R,)
    owner = np.repeat(np.arange(len(candidates)), [len(own) for own in references])  # (R,)
    combination, keys = _number(candidate[owner] * len(known) + reference, len(known) ** 2)
    combinations = divmod(keys, len(known))
    spaced, words, length = _words(list(known))
    row = np.repeat(np.arange(len(length)), length)
    # How many words of the caption come from here on, this one included.
    rest = np.repeat(np.cumsum(length), length) - np.arange(len(words))
    vocabulary = int(words.max(initial=-1)) + 1
    orders = []
    at = np.arange(len(words))  # where the n-grams of the present length begin
    gram = words
    grams = vocabulary
    for n in range(1, ORDERS + 1):
        if n > 1:
            # An n-gram is one of n - 1 words and the word after it.
            longer = rest[at] >= n
            at = at[longer]
            gram, different = _number(gram[longer] * vocabulary + words[at + n - 1], grams * vocabulary)
            grams = len(different)
        orders.append(_order(row[at], gram, max(grams, 1), len(length), combinations, reference, owner))
    return Corpus(candidate, reference, owner, length, spaced, combination, combinations, tuple(orders))


def check(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Raises PredictionsError unless there are candidates, each with at least one reference."""
    if len(candidates) != len(references):
        raise PredictionsError(
            f"{len(candidates)} candidates but {len(references)} lists of references: one each."
        )
    if not candidates:
        raise PredictionsError("No pairs to score.")
    if not all(references):
        first = next(i for i, own in enumerate(references) if not own)
        raise PredictionsError(f"Pair {first} (counted from 0) has no references: it cannot be scored.")


def spread(start: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """(position in ``chosen``, entry) of all entries of the chosen rows; row i: start[i] to start[i + 1]."""
    size = start[chosen + 1] - start[chosen]
    position = np.repeat(np.arange(len(chosen)), size)
    first = start[chosen] - (np.cumsum(size) - size)
    return position, first[position] + np.arange(len(position))


def _words(texts: Sequence[str]) -> tuple[tuple[Ints, Ints], Ints, Ints]:
    """``Corpus.spaced``; then the words of all texts, end to end, and how many each has, of any blanks."""
    words, length, known = _encode(texts)
    spaced = words, length
    if any(word.split() != [word] for word in known):
        words, length, known = _encode([" ".join(text.split()) for text in texts])
        # The empty text has one word, the empty one, which does not count here.
        full = words != (known.index("") if "" in known else -1)
        row = np.repeat(np.arange(len(length)), length)
        words = words[full]
        length = np.bincount(row[full], minlength=len(length))
    return spaced, words, length


def _encode(texts: Sequence[str]) -> tuple[Ints, Ints, list[str]]:
    """What single blanks separate: as numbers, end to end; how many each text has; each number's word."""
    words = " ".join(texts).split(" ")
    known: defaultdict[str, int] = defaultdict(counter().__next__)
    encoded = np.fromiter(map(known.__getitem__, words), np.int64, len(words))
    return encoded, np.array([text.count(" ") + 1 for text in texts]), list(known)


def _number(keys: Ints, below: int) -> tuple[Ints, Ints]:
    """Keys (each >= 0 and < ``below``) as numbers without gaps, and the key of each number, ascending."""
    if below > _DENSE * len(keys):
        different, numbers = np.unique(keys, return_inverse=True)
        return numbers, different
    seen = np.zeros(below, bool)
    seen[keys] = True
    return (np.cumsum(seen) - 1)[keys], np.flatnonzero(seen)


def _different(keys: Ints, below: int) -> Ints:
    """The different keys, ascending."""
    if below > _DENSE * len(keys):
        keys = np.sort(_narrow(keys, below))
        return keys[np.flatnonzero(np.diff(keys, prepend=-1))].astype(np.int64)
    seen = np.zeros(below, bool)
    seen[keys] = True
    return np.flatnonzero(seen)


def _narrow(keys: Ints, below: int) -> NDArray[np.int32] | Ints:
    """The same numbers in half the memory where they fit: sorting and searching take half the time."""
    return keys.astype(np.int32) if below <= np.iinfo(np.int32).max else keys


def _order(
    row: Ints,
    gram: Ints,
    grams: int,
    captions: int,
    combinations: tuple[Ints, Ints],
    reference: Ints,
    owner: Ints,
) -> Order:
    """Occurrences (row, gram) to counts, and to what candidates and references share."""
    below = captions * grams
    occurrences = np.sort(_narrow(row * grams + gram, below))
    first = np.flatnonzero(np.diff(occurrences, prepend=-1))
    keys = occurrences[first]
    counts = np.diff(first, append=len(occurrences))
    row, gram = np.divmod(keys.astype(np.int64), grams)
    start = np.searchsorted(row, np.arange(captions + 1))
    combination, theirs = spread(start, combinations[1])
    # For each n-gram of a reference: where the candidate's entry of the same n-gram would be.
    sought = _narrow(combinations[0][combination] * grams + gram[theirs], below)
    mine = np.searchsorted(keys, sought)
    both = np.flatnonzero(keys[np.minimum(mine, len(keys) - 1)] == sought) if len(keys) else mine
    shared = (combination[both], mine[both], theirs[both])
    mentioned, entry = spread(start, reference)
    pairs = int(owner[-1]) + 1
    used = np.divmod(_different(owner[mentioned] * grams + gram[entry], pairs * grams), grams)
    return Order(grams, start, gram, counts, shared, used)
