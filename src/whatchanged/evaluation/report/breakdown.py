"""The published metrics of every subset that the papers report, each as sums over its pairs.

Document frequencies are those of the subset, as in the benchmark's own scripts, so the CIDEr-D of subsets
does not average to the whole's; or, when asked, those of all pairs scored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import MetricUnavailable
from whatchanged.evaluation.metrics import ngrams
from whatchanged.evaluation.metrics.additive import Additive, joined, mean
from whatchanged.evaluation.metrics.bleu import bleu, statistics
from whatchanged.evaluation.metrics.cider import cider_d
from whatchanged.evaluation.metrics.rouge import rouge_l
from whatchanged.evaluation.metrics.tokenisers import tokenise
from whatchanged.records import CHANGE_TYPES, PairRecord

Subsets = dict[str, NDArray[np.int64]]
Program = Callable[[Sequence[str], Sequence[Sequence[str]]], Additive]
"""Tokenised candidates and references to a metric that an outside program computes, as sums over pairs."""

METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE")
OVERLAPS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
"""Edges of the viewpoint bins; a bin holds its lower edge, the last one both."""
HARDEST, HARDEST_SHARE = "hardest 25 %", 0.25
_BIN = "IoU "


def subsets(records: Sequence[PairRecord]) -> Subsets:
    """Name to positions, empty ones left out: overall, semantic, distractor, types, viewpoints.

    Viewpoints are of the changed pairs whose overlap is known: bins, and the hardest 25 %, the int(n / 4)
    pairs of least overlap, of equal ones the earlier, as in the benchmark's script.
    """
    members: dict[str, list[bool]] = {
        "overall": [True] * len(records),
        "semantic": [r.changed is True for r in records],
        "distractor": [r.changed is False for r in records],
        **{kind: [r.change_type == kind for r in records] for kind in CHANGE_TYPES if kind != "none"},
    }
    found = {name: np.flatnonzero(chosen) for name, chosen in members.items()}
    overlap = np.array(
        [np.nan if r.viewpoint_iou is None or not r.changed else r.viewpoint_iou for r in records], float
    )
    known = np.flatnonzero(~np.isnan(overlap))
    found[HARDEST] = np.sort(
        known[np.argsort(overlap[known], kind="stable")][: int(HARDEST_SHARE * len(known))]
    )
    at = np.clip(np.searchsorted(OVERLAPS, overlap[known], side="right") - 1, 0, len(OVERLAPS) - 2)
    for k in range(len(OVERLAPS) - 1):
        found[f"{_BIN}{OVERLAPS[k]:.1f}-{OVERLAPS[k + 1]:.1f}"] = known[at == k]
    return {name: positions for name, positions in found.items() if len(positions)}


def viewpoints(chosen: Subsets) -> Subsets:
    """The subsets by viewpoint alone."""
    return {name: pairs for name, pairs in chosen.items() if placed(name)[0] == "overlap"}


def placed(name: str) -> tuple[str, ...]:
    """Where a subset stands in a report: ("overall",), ("types", "color"), ("overlap", "IoU 0.3-0.4")."""
    if name in CHANGE_TYPES:
        return ("types", name)
    if name == HARDEST or name.startswith(_BIN):
        return ("overlap", name)
    return (name,)


def nested(values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Values by their places, as dicts in dicts."""
    tree: dict[str, Any] = {}
    for (*path, last), value in values.items():
        node = tree
        for step in path:
            node = node.setdefault(step, {})
        node[last] = value
    return tree


@dataclass(frozen=True)
class Scored:
    """Captions held against their references once, for any subset."""

    corpus: ngrams.Corpus
    added: tuple[Additive, ...]
    """Of all pairs: the metrics whose statistics of a pair do not depend on the other pairs."""
    frequencies: str = "subset"
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Metrics without a value, and why."""

    def of(self, pairs: NDArray[np.int64]) -> Additive:
        """All metrics of the chosen pairs as a corpus of their own, times 100.

        CIDEr-D adds up the pairs' own scores under the document frequencies of these very pairs (or of the
        whole corpus), and keeps them in every resample: frequencies of each draw would mean a full scoring a
        draw. Tried on 200 and 1,000 pairs, both ways give the same spread within a tenth, but for
        distractors, whose few sentences make their own weights: there fixed ones give 10 to 20 % more.
        """
        if self.frequencies == "subset":
            consensus = cider_d(self.corpus, pairs)
        else:
            consensus = cider_d(self.corpus)[pairs]
        return joined([*(part.take(pairs) for part in self.added), mean("CIDEr-D", consensus)])


def score(
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenizer: str = "ptb",
    frequencies: str = "subset",
    programs: Mapping[str, Program] | None = None,
) -> Scored:
    """Tokenise and count everything once.

    ``references[i]``: the sentences that ``captions[i]`` is held against, at least one. ``programs``: further
    metrics by name; one that raises MetricUnavailable has no value, and the reason is kept.
    """
    candidates, tokenised = tokenise(captions, references, tokenizer)
    corpus = ngrams.count(candidates, tokenised)
    added = [
        Additive(METRICS[: ngrams.ORDERS], statistics(corpus), lambda sums: 100 * bleu(sums)),
        mean("ROUGE-L", rouge_l(corpus)),
    ]
    unavailable = {}
    for name, program in (programs or {}).items():
        try:
            added.append(program(candidates, tokenised))
        except MetricUnavailable as error:
            unavailable[name] = str(error)
    return Scored(corpus, tuple(added), frequencies, unavailable)
