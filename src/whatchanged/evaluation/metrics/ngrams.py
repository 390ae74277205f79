"""Count the n-grams of candidates and references, once for all metrics that compare them.

Words and n-grams are numbered, and counting is done by sorting the numbers, so 8,000 pairs with six
references each take a fraction of a second. Corpora repeat sentences: each distinct sentence is counted once,
and each distinct combination of a candidate with a reference is compared once. Sentences are already
tokenised; blanks separate words.
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
"""A table is faster than sorting if the possible keys are at most this many times the keys."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Order:
    """All n-grams of one length. An entry is one n-gram of one caption."""

    grams: int
    """The number of distinct n-grams; their numbers are below it."""
    start: Ints
    """(D + 1,) Caption d has the entries start[d] to start[d + 1]."""
    gram: Ints
    """(E,) The n-gram of each entry."""
    count: Ints
    """(E,) How often the caption has it."""
    shared: tuple[Ints, Ints, Ints]
    """(combination, entry of its candidate, entry of its reference) for each n-gram that both contain, in the
    order of combinations.
    """
    used: tuple[Ints, Ints]
    """(pair, n-gram) of all n-grams in any of a pair's references, each once."""


@dataclass(frozen=True)
class Corpus:
    """P pairs with R references in all: D distinct captions in M distinct combinations."""

    candidate: Ints
    """(P,) The caption index of each pair's candidate."""
    reference: Ints
    """(R,) The caption index of each reference."""
    owner: Ints
    """(R,) The pair of each reference, ascending."""
    length: Ints
    """(D,) The number of words of each caption, separated by any white space."""
    spaced: tuple[Ints, Ints]
    """The words of all captions, concatenated, and the number of words of each, separated by single
    blanks.
    """
    combination: Ints
    """(R,) The combination of each reference with its candidate."""
    combinations: tuple[Ints, Ints]
    """(M,) twice: the caption indices of the candidate and of the reference of each combination."""
    orders: tuple[Order, ...]

    def __len__(self) -> int:
        return len(self.candidate)


def count(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus:
    """Return the ``Corpus`` of tokenised candidates (P) and the tokenised references of each, at least
    one.
    """
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
    """Raise PredictionsError unless there are candidates, each with at least one reference."""
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
    """Return (position in ``chosen``, entry) of all entries of the chosen rows; row i: start[i] to start[i +
    1].
    """
    size = start[chosen + 1] - start[chosen]
    position = np.repeat(np.arange(len(chosen)), size)
    first = start[chosen] - (np.cumsum(size) - size)
    return position, first[position] + np.arange(len(position))


def _words(texts: Sequence[str]) -> tuple[tuple[Ints, Ints], Ints, Ints]:
    """Return ``Corpus.spaced``; then the words of all texts, concatenated, and the number of each, by any
    white space.
    """
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
    """Return the words between single blanks as numbers, concatenated; the number of words of each text; each
    number's word.
    """
    words = " ".join(texts).split(" ")
    known: defaultdict[str, int] = defaultdict(counter().__next__)
    encoded = np.fromiter(map(known.__getitem__, words), np.int64, len(words))
    return encoded, np.array([text.count(" ") + 1 for text in texts]), list(known)


def _number(keys: Ints, below: int) -> tuple[Ints, Ints]:
    """Return keys (each >= 0 and < ``below``) renumbered without gaps, and the key of each number,
    ascending.
    """
    if below > _DENSE * len(keys):
        different, numbers = np.unique(keys, return_inverse=True)
        return numbers, different
    seen = np.zeros(below, bool)
    seen[keys] = True
    return (np.cumsum(seen) - 1)[keys], np.flatnonzero(seen)


def _different(keys: Ints, below: int) -> Ints:
    """Return the distinct keys, ascending."""
    if below > _DENSE * len(keys):
        keys = np.sort(_narrow(keys, below))
        return keys[np.flatnonzero(np.diff(keys, prepend=-1))].astype(np.int64)
    seen = np.zeros(below, bool)
    seen[keys] = True
    return np.flatnonzero(seen)


def _narrow(keys: Ints, below: int) -> NDArray[np.int32] | Ints:
    """Return the same numbers in half the memory where they fit: sorting and searching take half the time."""
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
    """Count occurrences (row, gram), and find the n-grams that candidates and references share."""
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
