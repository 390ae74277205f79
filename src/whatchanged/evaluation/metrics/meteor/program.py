"""Run METEOR 1.5's original Java program, to test the port: one run for all pairs."""

from collections.abc import Sequence

import numpy as np

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import java, ngrams
from whatchanged.evaluation.metrics.meteor.formula import STATISTICS, Floats, without_needless_chunks
from whatchanged.evaluation.metrics.meteor.words import one_line

PATIENCE = 300.0
"""Seconds to wait for the next reply; before the first, the paraphrase table is loaded (about 10 s)."""


def statistics(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """Return the statistics that METEOR sums over pairs, (P, 23), each with the pair's best-scoring
    reference.

    Columns: words of candidate and reference; function words of both; then for exact, stem, synonym and
    paraphrase matches: content words matched in candidate and reference, function words likewise; chunks;
    words matched in candidate and reference. A pair whose words all match in one chunk adds 0 chunks.

    Captions are tokenised as for the other metrics; the program also lower-cases them and separates
    punctuation. Each distinct (candidate, references) is sent once. Raises MetricUnavailable where the
    program cannot run.
    """
    ngrams.check(candidates, references)
    requests = [
        " ||| ".join(("SCORE", *map(one_line, own), one_line(candidate)))
        for candidate, own in zip(candidates, references, strict=True)
    ]
    number = {request: i for i, request in enumerate(dict.fromkeys(requests))}
    folder = java.reference_package("METEOR") / "meteor"
    arguments = ["-Xmx2G", "-jar", "meteor-1.5.jar", "-", "-", "-stdio", "-l", "en", "-norm"]
    replies = java.converse("METEOR", arguments, list(number), folder, PATIENCE)
    found = np.array([_numbers(reply) for reply in replies])[[number[request] for request in requests]]
    return without_needless_chunks(found)


def _numbers(reply: str) -> list[float]:
    try:
        numbers = [float(word) for word in reply.split()]
    except ValueError:
        numbers = []
    if len(numbers) != STATISTICS:
        raise MetricUnavailable(f"METEOR: the program answered {reply!r} instead of {STATISTICS} numbers.")
    return numbers
