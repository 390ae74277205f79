"""The published n-gram metrics, overall and for every subset that the papers report.

Document frequencies are those of the subset, as in the benchmark's own scripts, so the CIDEr-D of subsets
does not average to the whole's.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation import ngrams
from whatchanged.evaluation.bleu import bleu, statistics
from whatchanged.evaluation.cider import cider_d
from whatchanged.evaluation.rouge import rouge_l
from whatchanged.evaluation.tokenisers import tokenise
from whatchanged.records import CHANGE_TYPES, PairRecord

Subsets = dict[str, NDArray[np.int64]]


def subsets(records: Sequence[PairRecord]) -> Subsets:
    """Name to positions, empty ones left out: overall, semantic, distractor, and the types of change."""
    members: dict[str, list[bool]] = {
        "overall": [True] * len(records),
        "semantic": [r.changed is True for r in records],
        "distractor": [r.changed is False for r in records],
        **{kind: [r.change_type == kind for r in records] for kind in CHANGE_TYPES if kind != "none"},
    }
    return {name: np.flatnonzero(chosen) for name, chosen in members.items() if any(chosen)}


def score(
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    chosen: Mapping[str, NDArray[np.int64]],
    tokenizer: str = "ptb",
) -> dict[str, dict[str, float]]:
    """BLEU-1..4, ROUGE-L and CIDEr-D of each subset, times 100, unrounded.

    ``references[i]``: the sentences that ``captions[i]`` is held against, at least one. ``chosen``: subset
    name to positions, each a corpus of its own.
    """
    candidates, tokenised = tokenise(captions, references, tokenizer)
    corpus = ngrams.count(candidates, tokenised)
    counts, longest = statistics(corpus), rouge_l(corpus)
    scores = {}
    for name, pairs in chosen.items():
        precision = bleu(counts[pairs].sum(axis=0))
        scores[name] = {
            **{f"BLEU-{n}": 100 * float(precision[n - 1]) for n in range(1, ngrams.ORDERS + 1)},
            "ROUGE-L": 100 * float(longest[pairs].mean()),
            "CIDEr-D": 100 * float(cider_d(corpus, pairs).mean()),
        }
    return scores
