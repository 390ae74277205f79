"""METEOR 1.5 for English, in the form in which the COCO caption evaluation calls it (``-l en -norm``).

``words`` tokenises sentences, ``matching`` finds the words that match, ``alignment`` chooses among the
matches, and ``tables`` reads METEOR's language data for English from the installed reference package. No Java
is needed; ``program`` runs the original, against which this port is tested.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import ngrams
from whatchanged.evaluation.metrics.meteor.alignment import Match, align, chunks
from whatchanged.evaluation.metrics.meteor.formula import WEIGHTS, Row, meteor, score, without_needless_chunks
from whatchanged.evaluation.metrics.meteor.matching import Matcher, Words
from whatchanged.evaluation.metrics.meteor.tables import read_tables
from whatchanged.evaluation.metrics.meteor.words import one_line, words

Floats = NDArray[np.float64]

__all__ = ["MOST_WORDS", "meteor", "statistics"]

MOST_WORDS = 400
"""The largest number of words of a sentence: alignment time grows with the product of both lengths, and with
the beam.
"""
REFERENCE_WORDS = sum(1 << 2 * i for i in range(MOST_WORDS))
CAPTION_WORDS = REFERENCE_WORDS << 1
"""The bits of ``Match.words`` for the words of the reference and of the candidate."""
BEST_FIRST = sorted(range(len(WEIGHTS)), key=WEIGHTS.__getitem__, reverse=True)
ROUNDING = 1e-9
"""A tolerance for rounding errors of a score, with a wide margin."""
MatchesByWord = tuple[tuple[Match, ...], ...]
"""All matches of two sentences, by the word of the reference at which they begin."""


@contextmanager
def _without_collection() -> Iterator[None]:
    """Disable garbage collection: nothing here is cyclic, and the collector would visit millions of tuples
    repeatedly.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_without_collection()
def statistics(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """Return the statistics that METEOR sums over pairs, (P, 23), each with the pair's best-scoring
    reference.

    Columns: words of candidate and reference; function words of both; then for exact, stem, synonym and
    paraphrase matches: content words matched in candidate and reference, function words likewise; chunks;
    words matched in candidate and reference. A pair whose words all match in one chunk adds 0 chunks.

    Captions are tokenised as for the other metrics; METEOR also lower-cases them and separates punctuation.
    Raises MetricUnavailable where its tables are not installed, and for a sentence of more than MOST_WORDS
    words.
    """
    ngrams.check(candidates, references)
    tables = read_tables()

    @cache
    def tokenise(sentence: str) -> Words:
        own = tuple(words(one_line(sentence), tables.abbreviations))
        if len(own) > MOST_WORDS:
            raise MetricUnavailable(
                f"METEOR: a sentence has {len(own):,} words, and at most {MOST_WORDS} are aligned. "
                f"It begins: {sentence[:60]}"
            )
        return own

    pairs = [
        (tokenise(candidate), [tokenise(reference) for reference in own])
        for candidate, own in zip(candidates, references, strict=True)
    ]
    matcher = Matcher(tables, (each for candidate, own in pairs for each in (candidate, *own)))
    aligned: dict[MatchesByWord, list[Match]] = {}

    @cache
    def functions(sentence: Words) -> int:
        return sum(1 << 2 * i for i, word in enumerate(sentence) if word in tables.function_words)

    @cache
    def possible(candidate: Words, reference: Words) -> tuple[float, MatchesByWord]:
        """Return an upper bound on the score of any alignment: each word with its best match, in one
        chunk.
        """
        matches = tuple(map(tuple, matcher.matches(candidate, reference)))
        kinds = [0] * len(WEIGHTS)
        for match in chain.from_iterable(matches):
            kinds[match.kind] |= match.words
        taken = 0
        for kind in BEST_FIRST:
            kinds[kind] &= ~taken
            taken |= kinds[kind]
        marked = functions(reference) | functions(candidate) << 1
        most = score(_row(candidate, reference, kinds, marked, 1 if taken else 0))
        return most * (1 + ROUNDING), matches

    @cache
    def row(candidate: Words, reference: Words) -> Row:
        matches = possible(candidate, reference)[1]
        if matches not in aligned:
            aligned[matches] = align(matches)
        kinds = [0] * len(WEIGHTS)
        for match in aligned[matches]:
            kinds[match.kind] |= match.words
        marked = functions(reference) | functions(candidate) << 1
        return _row(candidate, reference, kinds, marked, chunks(aligned[matches]))

    def best(candidate: Words, references: Sequence[Words]) -> Row:
        """Return the statistics for the best reference, the first of equals, as in the program. Hopeless ones
        are skipped.
        """
        most = [possible(candidate, reference)[0] for reference in references]
        results: dict[int, float] = {}
        for i in sorted(range(len(references)), key=most.__getitem__, reverse=True):
            if results and most[i] < max(results.values()):
                break
            results[i] = score(row(candidate, references[i]))
        reached = max(results.values())
        return row(candidate, references[min(i for i, own in results.items() if own == reached)])

    return without_needless_chunks(np.array([best(candidate, own) for candidate, own in pairs], float))


def _row(candidate: Words, reference: Words, kinds: Sequence[int], functions: int, chunks: int) -> Row:
    """Return the 23 statistics of an alignment.

    kinds: for each kind of match the words matched, as ``Match.words``; functions: the function words.
    """
    matched: list[int] = []
    for kind in kinds:
        if not kind:
            matched += (0, 0, 0, 0)
            continue
        for own in (kind & ~functions, kind & functions):
            matched += ((own & CAPTION_WORDS).bit_count(), (own & REFERENCE_WORDS).bit_count())
    return (
        len(candidate),
        len(reference),
        (functions & CAPTION_WORDS).bit_count(),
        (functions & REFERENCE_WORDS).bit_count(),
        *matched,
        chunks,
        sum(matched[0::2]),
        sum(matched[1::2]),
    )
