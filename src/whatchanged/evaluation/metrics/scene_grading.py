"""Sentences executed on scenes: how often a caption is true, where the world behind the pictures is known.

This is the one room of evaluation that knows a world; the data set folder holds its truth (scenes.json and
pairs.json) beside the captions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.additive import Additive, shares
from whatchanged.evaluation.report.breakdown import nested, placed
from whatchanged.evaluation.statistics.intervals import share
from whatchanged.records import CHANGE_TYPES, ChangeType, PairRecord
from whatchanged.worlds.clevr.change import Change
from whatchanged.worlds.clevr.grading import judge, parse
from whatchanged.worlds.clevr.scene import Scene
from whatchanged.worlds.clevr.truth import read_triples

Truth = tuple[Scene, Scene, Change]
"""The scene before, the scene after, and what changed between them."""

VALUED = ("color", "material")
GRADES = ("type_right", "value_right", "fits", "fits_alone", "true", "called_none")
_OF_DISTRACTORS = GRADES[-1:]


def scene_truths(root: Path) -> dict[str, Truth]:
    """The truth of every pair of a data set folder by its id; {} where the folder holds none."""
    if not (root / "scenes.json").is_file() or not (root / "pairs.json").is_file():
        return {}
    truths: dict[str, Truth] = {}
    for triple in read_triples(root):
        truths[f"{triple.index:06d}.png"], truths[f"{triple.index:06d}.png_n"] = triple.pairs()
    return truths


@dataclass(frozen=True)
class Graded:
    """P captions, each graded against its scene.

    Of a pair that changed: ``type_right``; ``value_right`` (the new color or material, of the pairs that have
    one); ``fits`` (the phrase, executed on the scene, fits the changed object); ``fits_alone`` (and nothing
    else); ``true`` (type, value and phrase); ``called_none`` (it says that nothing changed). Of a distractor:
    ``called_none``. A pair without truth counts nowhere.
    """

    kinds: tuple[ChangeType | None, ...]
    """What truly happened; None where it is not known."""
    hits: NDArray[np.bool_]
    """(P, 6), in the order of ``GRADES``."""
    counted: NDArray[np.bool_]
    unparsable: tuple[tuple[str, str], ...]
    """(id, sentence) of the sentences outside the world's language."""

    def subsets(self, viewpoints: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
        """Name to positions, by the truth: semantic, distractor, the types; and the viewpoints given."""
        kinds = np.array([kind or "" for kind in self.kinds])
        known: NDArray[np.bool_] = kinds != ""
        found: dict[str, NDArray[np.int64]] = {
            "semantic": np.flatnonzero(known & (kinds != "none")),
            "distractor": np.flatnonzero(kinds == "none"),
            **{kind: np.flatnonzero(kinds == kind) for kind in CHANGE_TYPES if kind != "none"},
            **{name: pairs[known[pairs] & (kinds[pairs] != "none")] for name, pairs in viewpoints.items()},
        }
        return {name: pairs for name, pairs in found.items() if len(pairs)}

    def of(self, pairs: NDArray[np.int64]) -> Additive:
        """The shares of right sentences among some pairs, which all changed or all did not."""
        names = _OF_DISTRACTORS if self.kinds[pairs[0]] == "none" else GRADES
        return shares(names, self.hits[pairs][:, -len(names) :], self.counted[pairs][:, -len(names) :])

    def shares(self, pairs: NDArray[np.int64]) -> dict[str, Any]:
        """The same shares with counts and Wilson's intervals: such pairs are of different scenes."""
        names = _OF_DISTRACTORS if self.kinds[pairs[0]] == "none" else GRADES
        counted = self.counted[pairs]
        hits = (self.hits[pairs] & counted).sum(axis=0)
        columns = zip(GRADES, hits.tolist(), counted.sum(axis=0).tolist(), strict=True)
        return {name: share(hit, of) for name, hit, of in columns if name in names}


def graded(records: Sequence[PairRecord], captions: Sequence[str], truths: Mapping[str, Truth]) -> Graded:
    """Every caption parsed and executed on its scene."""
    kinds: list[ChangeType | None] = []
    hits, counted = np.zeros((2, len(records), len(GRADES)), bool)
    unparsable = []
    for i, (record, caption) in enumerate(zip(records, captions, strict=True)):
        truth = truths.get(record.pair_id)
        kinds.append(None if truth is None else truth[2].type)
        if truth is None:
            continue
        statement, verdict, kind = parse(caption), judge(caption, *truth), truth[2].type
        if statement is None:
            unparsable.append((record.pair_id, caption))
        none = statement is not None and statement.type == "none"
        judged = (verdict.type_right, verdict.value_right, verdict.fits, verdict.fits_alone, verdict.true)
        hits[i] = (*judged, none)
        counted[i] = True if kind != "none" else [name in _OF_DISTRACTORS for name in GRADES]
        counted[i, GRADES.index("value_right")] = kind in VALUED
    return Graded(tuple(kinds), hits, counted, tuple(unparsable))


def block(grades: Graded, viewpoints: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
    """The report's block "scene", empty subsets left out, every unreadable sentence listed."""
    chosen = grades.subsets(viewpoints)
    known = sum(kind is not None for kind in grades.kinds)
    found = {place: grades.shares(pairs) for place, pairs in chosen.items()}
    return {
        **nested({placed(name): values for name, values in found.items()}),
        "unparsable": {
            **share(len(grades.unparsable), known),
            "sentences": [{"id": pair_id, "caption": caption} for pair_id, caption in grades.unparsable],
        },
        "without_truth": len(grades.kinds) - known,
        "interval": "Wilson, 95 %, pairs taken as independent",
    }
