"""All metrics that compare captions with references: statistics are computed once, then summed over any
subset.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import ngrams
from whatchanged.evaluation.metrics.additive import Additive, Floats, joined, mean
from whatchanged.evaluation.metrics.bleu import bleu, statistics
from whatchanged.evaluation.metrics.cider import cider_d, weightless
from whatchanged.evaluation.metrics.ptb import ptb
from whatchanged.evaluation.metrics.rouge import rouge_l

METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE")
"""The metrics in the order of reports."""

FurtherMetric = Callable[[Sequence[str], Sequence[Sequence[str]]], Additive]
"""A function of tokenised candidates and references that computes a metric outside the base install."""


def plain(caption: str) -> str:
    """Return the caption as it is: PCL's authors score without a tokeniser, so that case and punctuation
    count.
    """
    return caption


TOKENISERS: dict[str, Callable[[str], str]] = {"ptb": ptb, "plain": plain}
"""The two tokenisers of published scores; every report names the one that it used."""


@dataclass(frozen=True)
class CaptionScores:
    """The scores of P captions; the scores of any subset follow from them."""

    corpus: ngrams.Corpus
    additive: tuple[Additive, ...]
    """The metrics whose statistics of a pair do not depend on the other pairs."""
    rouge: Floats
    """(P,) ROUGE-L of each pair, in 0..1."""
    cider: Floats
    """(P,) CIDEr-D of each pair, in 0..10, with the document frequencies of all P pairs."""
    frequencies: str = "subset"
    """The source of CIDEr-D's document frequencies for a subset: the ``subset`` itself, or the whole
    ``corpus``.
    """
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Metrics without a value, with the reason."""
    plugged_in: Mapping[str, Floats] = field(default_factory=dict)
    """Metrics of other packages: (P,) the score of each pair, in percent."""

    def of(self, pairs: NDArray[np.int64]) -> Additive:
        """Return all metrics of the chosen pairs as a corpus of their own, times 100.

        CIDEr-D is the mean of the scores of single pairs, with the document frequencies of these very pairs
        (or of the whole corpus). A bootstrap resample keeps these frequencies: new ones would require a full
        scoring of each draw. On 200 and 1,000 pairs both ways gave the same spread within a tenth, except for
        distractors: they have few different sentences, which determine their own weights, so fixed
        frequencies give 10 to 20 % more.
        """
        if self.frequencies == "corpus" or len(pairs) == len(self.corpus):
            cider = self.cider[pairs]
        else:
            cider = cider_d(self.corpus, pairs)
        return joined([*(part.take(pairs) for part in self.additive), mean("CIDEr-D", cider)])

    def weightless(self, pairs: NDArray[np.int64]) -> int:
        """Return how many of the chosen pairs have a CIDEr-D of 0 for any caption: their words have no
        weight.
        """
        if self.frequencies == "corpus":
            return int(weightless(self.corpus)[pairs].sum())
        return int(weightless(self.corpus, pairs).sum())


def caption_scores(
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenizer: str = "ptb",
    frequencies: str = "subset",
    further_metrics: Mapping[str, FurtherMetric] | None = None,
) -> CaptionScores:
    """Tokenise and count everything once.

    ``references[i]``: the references of ``captions[i]``, at least one. ``further_metrics``: other metrics by
    name; one that raises MetricUnavailable has no value, and the reason is kept.
    """
    candidates, tokenised = tokenise(captions, references, tokenizer)
    corpus = ngrams.count(candidates, tokenised)
    rouge = rouge_l(corpus)
    additive = [
        Additive(METRICS[: ngrams.ORDERS], statistics(corpus), lambda totals: 100 * bleu(totals)),
        mean("ROUGE-L", rouge),
    ]
    unavailable = {}
    plugged_in = {}
    for name, compute in (further_metrics or {}).items():
        try:
            found = compute(candidates, tokenised)
        except MetricUnavailable as error:
            unavailable[name] = str(error)
            continue
        additive.append(found)
        if name not in METRICS:
            plugged_in[name] = found.formula(found.rows)[:, 0]
    return CaptionScores(
        corpus, tuple(additive), rouge, cider_d(corpus), frequencies, unavailable, plugged_in
    )


def tokenise(
    captions: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str
) -> tuple[list[str], list[list[str]]]:
    """Return candidates and references tokenised, with words separated by blanks; each distinct sentence is
    tokenised once.
    """
    split = TOKENISERS[tokenizer]
    words = {text: split(text) for text in {*captions, *chain.from_iterable(references)}}
    return [words[text] for text in captions], [[words[text] for text in own] for own in references]
