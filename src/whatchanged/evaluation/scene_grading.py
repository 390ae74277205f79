"""Sentences executed on scenes: how often a caption is true, where the world behind the pictures is known.

This is the one room of evaluation that knows a world; the data set folder holds its truth (scenes.json and
pairs.json) beside the captions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.evaluation.intervals import share
from whatchanged.records import CHANGE_TYPES, PairRecord
from whatchanged.worlds.clevr.change import Change
from whatchanged.worlds.clevr.grading import Verdict, judge, parse
from whatchanged.worlds.clevr.scene import Scene
from whatchanged.worlds.clevr.truth import read_triples

Truth = tuple[Scene, Scene, Change]
"""The scene before, the scene after, and what changed between them."""

VALUED = ("color", "material")


def scene_truths(root: Path) -> dict[str, Truth]:
    """The truth of every pair of a data set folder by its id; {} where the folder holds none."""
    if not (root / "scenes.json").is_file() or not (root / "pairs.json").is_file():
        return {}
    truths: dict[str, Truth] = {}
    for triple in read_triples(root):
        truths[f"{triple.index:06d}.png"], truths[f"{triple.index:06d}.png_n"] = triple.pairs()
    return truths


def grade(
    records: Sequence[PairRecord], captions: Sequence[str], truths: Mapping[str, Truth]
) -> dict[str, Any]:
    """Shares of right sentences, each with its interval; pairs without truth are left out and counted.

    Of the pairs that changed: ``type_right``; ``value_right`` (the new color or material, of the pairs that
    have one); ``fits`` (the phrase, executed on the scene, fits the changed object); ``fits_alone`` (and
    nothing else); ``true`` (type, value and phrase); ``called_none`` (it says that nothing changed).
    Of the distractors: ``called_none``. ``unparsable``: sentences outside the world's language, all listed.
    """
    said = {r.pair_id: caption for r, caption in zip(records, captions, strict=True) if r.pair_id in truths}
    changed = [
        (truths[i][2].type, c, judge(c, *truths[i])) for i, c in said.items() if truths[i][2].type != "none"
    ]
    same = [caption for i, caption in said.items() if truths[i][2].type == "none"]
    unparsable = [(i, caption) for i, caption in said.items() if parse(caption) is None]
    kinds = [kind for kind in CHANGE_TYPES if any(kind == found for found, _, _ in changed)]
    return {
        "semantic": _shares(changed),
        "distractor": {"called_none": _called_none(same)},
        "types": {kind: _shares([c for c in changed if c[0] == kind]) for kind in kinds},
        "unparsable": {
            **share(len(unparsable), len(said)),
            "sentences": [{"id": pair_id, "caption": caption} for pair_id, caption in unparsable],
        },
        "without_truth": len(records) - len(said),
        "interval": "Wilson, 95 %, pairs taken as independent",
    }


def _shares(changed: Sequence[tuple[str, str, Verdict]]) -> dict[str, Any]:
    verdicts = [verdict for _, _, verdict in changed]
    valued = [verdict for kind, _, verdict in changed if kind in VALUED]
    return {
        "type_right": share(sum(v.type_right for v in verdicts), len(verdicts)),
        "value_right": share(sum(v.value_right for v in valued), len(valued)),
        "fits": share(sum(v.fits for v in verdicts), len(verdicts)),
        "fits_alone": share(sum(v.fits_alone for v in verdicts), len(verdicts)),
        "true": share(sum(v.true for v in verdicts), len(verdicts)),
        "called_none": _called_none([caption for _, caption, _ in changed]),
    }


def _called_none(captions: Sequence[str]) -> dict[str, Any]:
    statements = [parse(caption) for caption in captions]
    return share(sum(s is not None and s.type == "none" for s in statements), len(captions))
