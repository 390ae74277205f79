"""The captions of several systems for the same pairs, as a page shows them side by side."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from whatchanged.evaluation.report.report import Report
from whatchanged.evaluation.report.scored import Scored
from whatchanged.page import SystemSentence

ORDER = "systems differ most first"


def systems_of(report: Report) -> list[tuple[str, Scored]]:
    """Return each system with its letter in the tables, A for the report's own; none where there is no other
    system.
    """
    if not report.others:
        return []
    files = [other.get("file") for other in report["signature"]["others"]]
    titles = ["A"]
    for i in range(len(report.others)):
        named = f" ({files[i]})" if i < len(files) and files[i] else ""
        titles.append(f"{letter_of(i + 1)}{named}")
    return list(zip(titles, (report.scored, *report.others), strict=True))


def letter_of(number: int) -> str:
    """A, B, .. Z, then numbers."""
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def system_captions(systems: Sequence[tuple[str, Scored]], i: int) -> list[SystemSentence]:
    """Return each system's caption of pair ``i``, words that not all systems use highlighted, with its
    scores.
    """
    captions = [scored.predictions[i].caption.split() for _, scored in systems]
    results = []
    for own, (title, scored) in zip(captions, systems, strict=True):
        facts = pair_scores(scored, i)
        error = scored.predictions[i].error
        parts = [(f"failed: {error}", False)] if error else marked(own, captions)
        results.append(SystemSentence(title, parts, facts))
    return results


def pair_scores(scored: Scored, i: int) -> list[str]:
    """Return the scores of one pair, those of other packages' metrics last."""
    captions = scored.captions
    others = [f"{name} {scores[i]:.1f}" for name, scores in captions.plugged_in.items()]
    return [f"ROUGE-L {100 * captions.rouge[i]:.1f}", f"CIDEr-D {100 * captions.cider[i]:.1f}", *others]


def marked(own: Sequence[str], every: Sequence[Sequence[str]]) -> list[tuple[str, bool]]:
    """Return a caption as runs of words, each with whether another caption lacks it at this position."""
    differs = np.zeros(len(own), bool)
    for other in every:
        for kind, start, end, _, _ in SequenceMatcher(None, own, other, autojunk=False).get_opcodes():
            if kind != "equal":
                differs[start:end] = True
    parts: list[tuple[str, bool]] = []
    for word, odd in zip(own, differs.tolist(), strict=True):
        if parts and parts[-1][1] == odd:
            parts[-1] = (f"{parts[-1][0]} {word}", odd)
        else:
            parts.append((word, odd))
    return parts


def order_by_difference(systems: Sequence[tuple[str, Scored]]) -> list[int]:
    """Return the indices of the pairs, those first whose scores differ most between the systems.

    The range of CIDEr-D decides, then that of ROUGE-L; of equal ones, pairs whose captions differ come first.
    """
    cider = _range([scored.captions.cider for _, scored in systems])
    rouge = _range([scored.captions.rouge for _, scored in systems])
    places = range(len(cider))
    sentences = [len({scored.predictions[i].caption for _, scored in systems}) for i in places]
    return sorted(places, key=lambda i: (-cider[i], -rouge[i], -sentences[i]))


def _range(scores: Sequence[Any]) -> Any:
    return np.ptp(np.stack(scores), axis=0)
