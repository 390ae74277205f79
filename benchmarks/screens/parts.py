"""Results on real pairs of screens by type (in the labels' older words), group and size, with
sentences.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.screens.judged import Judged
from whatchanged.measured import Statement

SPACED = ("margin", "padding", "gap", "pushed in", "closed up")
"""Finer words of motion and size that the labels call spacing."""
SET = ("weight", "slant", "face", "decoration", "letter case", "line spacing")
"""Finer words of style that they call font."""
EDGED = ("border width", "line width", "line style", "radius", "outline", "marker shape", "border", "shape")
"""Finer words of style that they call border or shape."""
SIZES = ((20_000, "below 20,000 pixels"), (100_000, "20,000 to 100,000"), (10**9, "above 100,000"))
"""Pixels of the picture after."""
SHARES = ("kind", "pointing", "overlap", "statement")


def older_word(statement: Statement) -> str:
    """Which of the labels' twelve words a statement stands for, strictly: by its kind and its finer word."""
    aspect = str(statement.values.get("aspect", ""))
    if statement.kind in ("moved", "resized") and aspect in SPACED:
        return "spacing"
    if statement.kind == "restyled":
        return "font" if aspect in SET else "border/shape" if aspect in EDGED else "style-other"
    plain = {
        "moved": "position",
        "resized": "size",
        "recolored": "color",
        "rewritten": "text",
        "replaced": "image/icon",
    }
    return plain.get(str(statement.kind), str(statement.kind))


def strict(one: Judged) -> bool:
    """Whether the first statement stands for the label's own word; of "multiple" as in ``Judged.kind``."""
    if one.pair["type"] == "multiple":
        return one.kind
    return bool(one.answer.changes) and older_word(one.answer.changes[0]) == one.pair["type"]


def size_of(one: Judged) -> str:
    """The pair's bin of ``SIZES``."""
    width, height = one.pair["size_after"]
    return next(name for limit, name in SIZES if width * height < limit)


PARTS: dict[str, Callable[[Judged], str]] = {
    "type": lambda one: str(one.pair["type"]),
    "group": lambda one: str(one.pair["group"]),
    "repository": lambda one: str(one.pair["repo"]),
    "size": size_of,
}
"""By what the changed pairs are broken down."""


def parts(judged: Sequence[Judged]) -> dict[str, dict[str, dict[str, float]]]:
    """For each way of breaking down and each part: how many changed pairs, and the share of each measure."""
    results: dict[str, dict[str, dict[str, float]]] = {}
    for way, name_of in PARTS.items():
        rows: dict[str, list[Judged]] = defaultdict(list)
        for one in judged:
            if one.changed:
                rows[name_of(one)].append(one)
        results[way] = {
            name: {
                "pairs": len(own),
                **{share: round(float(np.mean([getattr(one, share) for one in own])), 4) for share in SHARES},
            }
            for name, own in sorted(rows.items())
        }
    return results


def examples(judged: Sequence[Judged], count: int, seed: int = 0) -> dict[str, list[dict[str, Any]]]:
    """So many random pairs of each group: what is said, what of it is right, what the label says."""
    rng = np.random.default_rng(seed)
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        groups[PARTS["group"](one)].append(one)
    return {
        name: [_example(own[at]) for at in sorted(rng.permutation(len(own))[:count].tolist())]
        for name, own in sorted(groups.items())
    }


def _example(one: Judged) -> dict[str, Any]:
    return {
        "id": one.pair["id"],
        "said": one.answer.sentence,
        "found": _found(one),
        "label": one.pair["sentences"][0] if one.changed else "nothing visible changed",
    }


def _found(one: Judged) -> str:
    told = one.answer.verdict == "changed"
    if not one.changed:
        return "tells a change where there is none" if told else "right"
    if not one.answer.changes or not told:
        return "change not seen"
    kind, place = one.kind, one.pointing
    if kind and place:
        return "kind and place right"
    return "kind right, place wrong" if kind else "place right, kind wrong" if place else "wrong"
