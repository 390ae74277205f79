"""Worlds: kinds of pictures whose content is known as data. Each is a folder and a line in ``WORLDS``.

A world defines its kinds of change, the truth files of its drawn data sets, and its language: it writes
sentences, parses them and judges them against the truth. It also gives the commands its drawers, its pairs
for the demonstration, and the limits of its models. A world never imports torch. Its drawers, and the
functions that make false captions for training, are given as strings "module:function" and imported when they
are used.

No module outside this folder names a world; other modules call ``find_world`` and ``world_of``. Other
packages add worlds under the entry-point group "whatchanged.worlds" (see `plugins.py`).
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatchanged import plugins
from whatchanged.errors import DatasetError, PluginError
from whatchanged.records import PairRecord
from whatchanged.worlds.compatibility import with_names_of_before

if TYPE_CHECKING:
    from numpy.random import Generator

WORLDS: Mapping[str, str] = {
    "clevr": "whatchanged.worlds.clevr.world:WORLD",
    "birds": "whatchanged.worlds.birds.world:WORLD",
    "screens": "whatchanged.worlds.screens.world:WORLD",
}
"""Name -> "module:attribute" of a ``World``. It is imported when it is asked for."""

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels of its own picture; right and bottom are exclusive."""

Truth = Any
"""What a world knows of one pair. Only the world itself looks inside."""


@dataclass(frozen=True)
class Verdict:
    """How a sentence compares with the truth of a pair.

    parsed: the sentence is in the world's language. Otherwise all other fields are False and no grade is
    True.
    unchanged: the sentence says that nothing changed.
    true: every part of the sentence is true.
    grades: one for each of the world's ``grades``; None where a grade does not apply to this pair.
    fault: the worst error of the sentence, in a few words; "" if it has none. A true sentence may have a
    fault, for example that its phrase also describes other objects.
    """

    parsed: bool
    unchanged: bool
    true: bool
    grades: Mapping[str, bool | None]
    fault: str = ""


@dataclass(frozen=True)
class DrawerOption:
    """One option of a drawer: ``--with NAME=VALUE`` on the command line, the keyword ``name`` in Python.

    The type of the default is the type of the value. choices: the allowed values; () allows any.
    least, most: the range of a number.
    """

    name: str
    help: str
    default: str | int | float
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Drawing:
    """What ``whatchanged synth`` passes to a drawer.

    out: the folder to make. scenes: how many to draw, at least one. size: width and height in pixels.
    workers: number of processes. device: as the user named it; a drawer that uses no device ignores it.
    advance: to be called with the number of scenes drawn since the last call.
    """

    out: Path
    scenes: int
    seed: int
    size: tuple[int, int]
    workers: int
    device: str
    advance: Callable[[int], None]


@dataclass(frozen=True)
class Drawer:
    """Draws one kind of data set: ``whatchanged synth NAME``.

    description: what it draws, in one line.
    draw: "module:function" of ``draw(drawing: Drawing, **options) -> str``, which returns a summary in a few
    words, such as "5 scenes, 10 pairs". The same drawing gives the same bytes with any number of workers.
    size: of its pictures, unless the user chooses another.
    unit: what ``--scenes`` counts.
    options: options of this drawer alone.
    elsewhere: whether ``out`` may be the path-like object of a URL (``scale.urls``).
    extra: the extra of this package that it needs, such as "train"; "" for none.
    """

    name: str
    description: str
    draw: str
    size: tuple[int, int]
    unit: str = "scenes"
    options: tuple[DrawerOption, ...] = ()
    extra: str = ""
    elsewhere: bool = False


@dataclass(frozen=True)
class Demo:
    """A world's part of ``whatchanged demo``.

    folder: holds the pictures and demo.json, {"pairs": [{"before": ..., "after": ..., ...}, ...]}.
    truth: one of these pairs, and the words that begin the message of a DatasetError -> its truth.
    true_sentence: a sentence to show where the model is wrong.
    true_means: what a fully true sentence gets right, in a few words.
    """

    folder: Path
    truth: Callable[[Mapping[str, Any], str], Truth]
    true_sentence: Callable[[Truth], str]
    true_means: str


@dataclass(frozen=True)
class WorldPictures:
    """What pictures of a world show, and what they do not show.

    datasets: names of the data sets whose pictures all show this world, drawn or not.
    view_and_light_differ: whether viewpoint and light may differ between two pictures of an unchanged scene.
    limits: what no model of this world can do, for a model's README; no measured results.
    """

    datasets: tuple[str, ...]
    view_and_light_differ: bool
    limits: str


@dataclass(frozen=True)
class TruthFiles:
    """Reads the truth of drawn pairs from files beside them.

    exists: whether this folder or list holds the world's truth files.
    read: a folder or list and its records -> pair id -> truth. {} where there is none.
    kind_of: the kind of change of a truth, or "none".
    """

    exists: Callable[[Path], bool]
    read: Callable[[Path, Sequence[PairRecord]], Mapping[str, Truth]]
    kind_of: Callable[[Truth], str]


@dataclass(frozen=True)
class WorldLanguage:
    """Sentences about pairs: writes, parses and judges them.

    captions: several true sentences about a pair, drawn at random.
    reads: whether a sentence is in the language.
    judge: a sentence and a truth -> verdict.
    no_change_sentences: all sentences that say that nothing changed.
    wordings: name of a fixed wording -> a function that writes the one true sentence in it. {} where the
    world has no fixed wordings.
    tell: no longer used; 0.4 will not accept it.
    false_captions: "module:function" of ``(records, truths or None, seed, count, longest)``, which makes
    false captions in this language for training; "" where captions are handled as free text.
    contradicts: whether a sentence contradicts itself, whatever the pictures show. A model of this world
    never writes such a sentence. None where the world cannot tell.
    """

    captions: Callable[[Truth, "Generator"], tuple[str, ...]]
    reads: Callable[[str], bool]
    judge: Callable[[str, Truth], Verdict]
    no_change_sentences: tuple[str, ...]
    wordings: Mapping[str, Callable[[Truth], str]] = field(default_factory=dict)
    tell: InitVar[Callable[..., Any] | None] = None
    false_captions: str = ""
    contradicts: Callable[[str], bool] | None = None

    def __post_init__(self, tell: Callable[..., Any] | None) -> None:
        if tell is not None:
            told = "WorldLanguage: nobody asks for tell any more. Leave it out: 0.4 will not take it."
            warnings.warn(told, DeprecationWarning, stacklevel=3)


@dataclass(frozen=True)
class Breakdown:
    """How reports break scores down for a world.

    kinds: the kinds of change, one row each, in the order of reports. A pair without change is always "none".
    grades: the grades of ``WorldLanguage.judge``, one column each.
    grade_titles: the heads of these columns; a grade without a title is headed by its name.
    """

    kinds: tuple[str, ...]
    grades: tuple[str, ...]
    grade_titles: Mapping[str, str] = field(default_factory=dict)


@with_names_of_before
@dataclass(frozen=True)
class World:
    """The contract of a world: one small record for each purpose. All functions in them are pure.

    drawers: what ``whatchanged synth`` can draw of this world, each with its own options.
    demo: the world's part of ``whatchanged demo``; None where it has none.
    """

    name: str
    description: str
    pictures: WorldPictures
    truth: TruthFiles
    language: WorldLanguage
    breakdown: Breakdown
    drawers: tuple[Drawer, ...] = ()
    demo: Demo | None = None

    def write(self, truth: Truth, wording: str) -> str:
        """One true sentence in a fixed wording. Raises DatasetError where the world has no such wording."""
        wordings = self.language.wordings
        if wording not in wordings:
            known = ", ".join(wordings) or "none"
            raise DatasetError(f"the world {self.name} has no wording {wording!r}. It has: {known}.")
        return wordings[wording](truth)


def world_names() -> tuple[str, ...]:
    """The names of all worlds, those of plug-ins last. Imports none of them."""
    return plugins.names(plugins.WORLDS, WORLDS)


def find_world(name: str) -> World:
    """The world of this name. Raises PluginError for an unknown one, or one whose package is broken."""
    return plugins.find(plugins.WORLDS, name, WORLDS, plugins.instance_of(World))


def known_world(name: str) -> World | None:
    """The world of this name; None if its package is not installed or is broken."""
    try:
        return find_world(name)
    except PluginError:
        return None


def all_worlds() -> Iterator[World]:
    """Yields every world, those of plug-ins last. Each is imported when it is reached."""
    for _, world in plugins.find_all(plugins.WORLDS, WORLDS, plugins.instance_of(World)):
        yield world


def world_of(dataset: str, root: Path | None = None) -> World | None:
    """The world that the pictures of a data set show; None where no world is known.

    This is the world that lists the data set's name; otherwise, the world whose truth files lie in ``root``,
    the data set's folder or list.
    """
    for world in all_worlds():
        if dataset in world.pictures.datasets:
            return world
    if root is not None:
        for world in all_worlds():
            if _answer(world, world.truth.exists, root):
                return world
    return None


def _answer(world: World, question: Callable[..., bool], *about: object) -> bool:
    """A world's answer. If the function of a plug-in fails, the answer is no, and a line on stderr says
    so.
    """
    if world.name in WORLDS:
        return question(*about)
    try:
        return question(*about)
    except Exception as error:  # another package's function may raise anything
        installed = plugins.installed(plugins.WORLDS, WORLDS)
        package = next(plugin.package for plugin in installed if plugin.name == world.name)
        plugins.warn_once(f"The world {world.name!r} of {package} cannot be asked: {plugins.fault(error)}")
        return False


def language_of(sentences: Sequence[str]) -> World | None:
    """The world to whose language at least half of these sentences belong, if it can make false captions.

    None where there is no such world: the sentences are free text.
    """
    for world in all_worlds():
        if world.language.false_captions:
            read = sum(_answer(world, world.language.reads, sentence) for sentence in sentences)
            if 2 * read >= len(sentences):
                return world
    return None


def all_drawers() -> tuple[Drawer, ...]:
    """The drawers of all worlds. If two have the same name, the first is kept, and a line on stderr says
    so.
    """
    results: dict[str, Drawer] = {}
    for world in all_worlds():
        for drawer in world.drawers:
            if drawer.name in results:
                plugins.warn_once(
                    f"{drawer.name!r} of the world {world.name} is not drawn: the name is taken."
                )
            else:
                results[drawer.name] = drawer
    return tuple(results.values())


def find_drawer(name: str) -> Drawer:
    """The drawer of this name, of any world. Raises PluginError for an unknown name."""
    drawers = {drawer.name: drawer for drawer in all_drawers()}
    if name not in drawers:
        raise PluginError(f"There is nothing called {name!r} to draw. Known: {', '.join(drawers)}.")
    return drawers[name]
