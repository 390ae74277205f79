"""METEOR 1.5 for English, in the form in which the COCO caption evaluation calls it (``-l en -norm``).

``words`` cuts sentences, ``matching`` says which words agree, ``alignment`` chooses among the matches, and
``tables`` reads what METEOR knows of English from the package that holds it. No Java is needed; ``program``
runs the original, against which all of this is checked.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import ngrams
from whatchanged.evaluation.metrics.meteor.alignment import Match, align, chunks
from whatchanged.evaluation.metrics.meteor.formula import Row, meteor, score, without_needless_chunks
from whatchanged.evaluation.metrics.meteor.matching import Matcher, Words
from whatchanged.evaluation.metrics.meteor.tables import read_tables
from whatchanged.evaluation.metrics.meteor.words import one_line, words

Floats = NDArray[np.float64]

__all__ = ["MOST_WORDS", "meteor", "statistics"]

MOST_WORDS = 400
"""Of a sentence: the time of an alignment grows with the product of both lengths, and with the beam."""


def statistics(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """What METEOR adds up over pairs, (P, 23), each against the pair's best-scoring reference.

    Columns: words of candidate and reference; function words of both; then for exact, stem, synonym and
    paraphrase matches: content words matched in candidate and reference, function words likewise; chunks;
    words matched in candidate and reference. A pair matched whole in one chunk adds 0 chunks.

    Captions come tokenised as for the other metrics; METEOR lower-cases them and splits off punctuation as
    well. Raises MetricUnavailable where its tables are not installed, and for a sentence above MOST_WORDS.
    """
    ngrams.check(candidates, references)
    tables = read_tables()

    @cache
    def cut(sentence: str) -> Words:
        own = tuple(words(one_line(sentence), tables.abbreviations))
        if len(own) > MOST_WORDS:
            raise MetricUnavailable(
                f"METEOR: a sentence has {len(own):,} words, and at most {MOST_WORDS} are aligned. "
                f"It begins: {sentence[:60]}"
            )
        return own

    pairs = [
        (cut(candidate), [cut(reference) for reference in own])
        for candidate, own in zip(candidates, references, strict=True)
    ]
    matcher = Matcher(tables, (each for candidate, own in pairs for each in (candidate, *own)))
    aligned: dict[tuple[tuple[Match, ...], ...], list[Match]] = {}

    @cache
    def row(candidate: Words, reference: Words) -> Row:
        matches = tuple(map(tuple, matcher.matches(candidate, reference)))
        if matches not in aligned:
            aligned[matches] = align(matches)
        return _row(candidate, reference, aligned[matches], tables.function_words)

    # The first of equally good references counts, as in the program.
    best = [max((row(candidate, reference) for reference in own), key=score) for candidate, own in pairs]
    return without_needless_chunks(np.array(best, float))


def _row(candidate: Words, reference: Words, matches: Sequence[Match], function_words: frozenset[str]) -> Row:
    """The 23 statistics of an alignment."""
    matched = [0] * 16  # kind, content or function, side
    for match in matches:
        for word in candidate[match.start : match.end]:
            matched[4 * match.kind + 2 * (word in function_words)] += 1
        for word in reference[match.at : match.at + match.width]:
            matched[4 * match.kind + 2 * (word in function_words) + 1] += 1
    return (
        len(candidate),
        len(reference),
        sum(word in function_words for word in candidate),
        sum(word in function_words for word in reference),
        *matched,
        chunks(matches),
        sum(matched[0::2]),
        sum(matched[1::2]),
    )
