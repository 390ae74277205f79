"""Worlds: what pictures can show, as data. One folder a world, one line in ``WORLDS``; nothing outside
names one.

A world knows its kinds of change, the truth files of its drawn data sets, and its language: it writes
sentences, reads them and judges them against the truth. It never imports torch. What draws its pictures,
and what makes false captions for training, are named as strings "module:function", which only those who use
them import.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord

WORLDS: Mapping[str, str] = {
    "clevr": "whatchanged.worlds.clevr.world:WORLD",
    "birds": "whatchanged.worlds.birds.world:WORLD",
}
"""Name -> "module:attribute" of a ``World``; it is imported when it is asked for."""

Truth = Any
"""What a world knows of one pair; only the world itself looks inside."""


@dataclass(frozen=True)
class Verdict:
    """How a sentence stands to the truth of a pair.

    parsed: it is a sentence of the world's language; everything else is False, and no grade is True, where
    not.
    unchanged: it says that nothing changed. true: wholly true. grades: each of the world's ``grades``, None
    where it does not apply to this pair. fault: the first thing that is wrong, in a few words; "" for a
    true sentence.
    """

    parsed: bool
    unchanged: bool
    true: bool
    grades: Mapping[str, bool | None]
    fault: str = ""


@dataclass(frozen=True)
class World:
    """A world's contract; every function is pure, and a set without truth has none to give.

    kinds: of change, in the order of reports; a pair without change is "none" everywhere.
    view_and_light_differ: whether two pictures of an unchanged scene may differ by viewpoint and light.
    no_change_sentences: its ways to say that nothing changed.
    datasets: the data sets, by name, whose pictures show this world.
    grades: what ``judge`` grades, in the order of reports.
    truths: the folder of a data set and its records -> pair id -> truth; {} where the folder holds none.
    kind_of: the kind of change of a truth, or "none".
    judge: a sentence and a truth -> verdict.
    wordings, write: the names of fixed wordings, and one true sentence in such a wording.
    grade_titles: the column heads of grades in reports; a grade without one is headed by its name.
    """

    name: str
    description: str
    kinds: tuple[str, ...]
    view_and_light_differ: bool
    no_change_sentences: tuple[str, ...]
    datasets: tuple[str, ...]
    grades: tuple[str, ...]
    truths: Callable[[Path, Sequence[PairRecord]], Mapping[str, Truth]]
    kind_of: Callable[[Truth], str]
    judge: Callable[[str, Truth], Verdict]
    wordings: tuple[str, ...]
    write: Callable[[Truth, str], str]
    grade_titles: Mapping[str, str] = field(default_factory=dict)


@lru_cache(maxsize=32)
def find_world(name: str) -> World:
    """The world of this name. Raises DatasetError for an unknown one."""
    if name not in WORLDS:
        raise DatasetError(f"there is no world {name!r}. Known: {', '.join(WORLDS)}.")
    module, _, attribute = WORLDS[name].partition(":")
    world: World = getattr(import_module(module), attribute)
    return world


def world_of(dataset: str) -> World | None:
    """The world that the pictures of a data set show; None where no world is known."""
    return next((world for world in map(find_world, WORLDS) if dataset in world.datasets), None)
