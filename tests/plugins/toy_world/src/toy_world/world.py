"""The world: a square that moves, turns into another color, or stays as it is."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numpy.random import Generator

from whatchanged.records import PairRecord
from whatchanged.worlds import (
    Breakdown,
    Drawer,
    DrawerOption,
    TruthFiles,
    Verdict,
    World,
    WorldLanguage,
    WorldPictures,
)

COLORS = {"red": (200, 40, 40), "green": (40, 160, 60), "blue": (50, 70, 210)}
VERBS = {"recolored": ("turned", "became"), "moved": ("moved", "went to another place")}
NO_CHANGE = ("there is no change", "the square stayed as it was")
SOME_CHANGE = "the square changed"
"""True of every change; nothing more can be wrong about it, and nothing is known from it."""
TRUTH = "toy_squares.json"


@dataclass(frozen=True)
class Square:
    """A square in one of four columns and three rows."""

    color: str
    column: int
    row: int


Truth = tuple[Square, Square]
"""The square before and after."""


def kind_of(truth: Truth) -> str:
    """What happened to the square."""
    before, after = truth
    if before.color != after.color:
        return "recolored"
    return "none" if before == after else "moved"


def kind_said(sentence: str) -> str | None:
    """The kind of change that a sentence tells of; None where it is not in the language."""
    if sentence in NO_CHANGE:
        return "none"
    words = sentence.removeprefix("the square ")
    if words == sentence:
        return None
    if words in VERBS["moved"]:
        return "moved"
    verb, _, color = words.partition(" ")
    return "recolored" if verb in VERBS["recolored"] and color in COLORS else None


def reads(sentence: str) -> bool:
    """Whether a sentence is in the language."""
    return sentence == SOME_CHANGE or kind_said(sentence) is not None


def captions(truth: Truth, rng: Generator) -> tuple[str, ...]:
    """Every way to say it, in an order of its own for each pair."""
    kind = kind_of(truth)
    if kind == "none":
        sentences = list(NO_CHANGE)
    else:
        ending = f" {truth[1].color}" if kind == "recolored" else ""
        sentences = [f"the square {verb}{ending}" for verb in VERBS[kind]]
    return tuple(sentences[i] for i in rng.permutation(len(sentences)))


def plain(truth: Truth) -> str:
    """The one sentence of the only fixed wording."""
    kind = kind_of(truth)
    if kind == "none":
        return NO_CHANGE[0]
    return f"the square {VERBS[kind][0]}" + (f" {truth[1].color}" if kind == "recolored" else "")


def judge(sentence: str, truth: Truth) -> Verdict:
    """kind_right: the kind of change is the true one; true: and the new color, where there is one."""
    kind = kind_of(truth)
    if not reads(sentence):
        return Verdict(False, False, False, {"kind_right": False, "true": False})
    said = kind_said(sentence)
    kind_right = kind != "none" if sentence == SOME_CHANGE else said == kind
    true = kind_right and (said != "recolored" or sentence.endswith(f" {truth[1].color}"))
    fault = "" if true else "wrong color" if kind_right else "wrong kind"
    return Verdict(True, said == "none", true, {"kind_right": kind_right, "true": true}, fault)


def has_truth(root: Path) -> bool:
    """Whether the squares behind the pictures of a folder, or of the list in it, are known."""
    return _file(root).is_file()


def truths(root: Path, records: Sequence[PairRecord]) -> Mapping[str, Truth]:
    """The squares of each pair by its id."""
    if not has_truth(root):
        return {}
    known = json.loads(_file(root).read_text(encoding="utf-8"))
    return {
        record.pair_id: tuple(Square(**square) for square in known[record.pair_id])
        for record in records
        if record.pair_id in known
    }


def _file(root: Path) -> Path:
    return (root if root.is_dir() else root.parent) / TRUTH


WORLD = World(
    name="toy",
    description="one colored square that moves or changes its color",
    pictures=WorldPictures(
        datasets=("toy_squares",),
        view_and_light_differ=False,
        limits="It knows one square, and nothing else in the world.",
    ),
    truth=TruthFiles(has_truth, truths, kind_of),
    language=WorldLanguage(captions, reads, judge, NO_CHANGE, wordings={"plain": plain}),
    breakdown=Breakdown(kinds=("recolored", "moved"), grades=("kind_right", "true")),
    drawers=(
        Drawer(
            "toy-squares",
            "pairs of pictures of one square, as a list with truth beside it",
            "toy_world.drawing:draw",
            (48, 36),
            unit="pairs",
            options=(
                DrawerOption("ground", "how bright the ground is", "light", choices=("light", "dark")),
                DrawerOption("unchanged", "the share of pairs without a change", 0.34, least=0.0, most=1.0),
            ),
        ),
    ),
)
