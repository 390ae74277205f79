"""Worlds: what pictures can show, as data. One folder for each world, one line in ``WORLDS``.

A world knows its kinds of change, the truth files of its drawn data sets, and its language: it writes
sentences, reads them and judges them against the truth. It also brings what the commands need of it: what
draws its pictures, its pairs for the demonstration, and what its models cannot do. A world never imports
torch. What draws its pictures, and what makes false captions for training, are named as strings
"module:function" and are imported when they are used.

Nothing outside this folder names a world: other modules call ``find_world`` and ``world_of``. Other packages
add worlds by the entry-point group "whatchanged.worlds" (see `plugins.py`).
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
    """How a sentence stands to the truth of a pair.

    parsed: the sentence is in the world's language. Where it is not, all other fields are False and no grade
    is True.
    unchanged: it says that nothing changed.
    true: all of it is true.
    grades: one for each of the world's ``grades``; None where a grade does not apply to this pair.
    fault: the worst thing to be said against it, in a few words; "" for nothing. A true sentence may have
    one, for example that its phrase fits other objects too.
    """

    parsed: bool
    unchanged: bool
    true: bool
    grades: Mapping[str, bool | None]
    fault: str = ""


@dataclass(frozen=True)
class DrawerOption:
    """One option of a drawer: ``--with NAME=VALUE`` on the command line, the keyword ``name`` in Python.

    The type of the default is the type of the value. choices: the values that are allowed; () for any.
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
    """What ``whatchanged synth`` asks a drawer for.

    out: the folder to make. scenes: how many, at least one. size: width and height in pixels.
    workers: processes. device: as the person named it; drawers that use none need not look at it.
    advance: to be called with the number of scenes that have been drawn since the last call.
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
    """What draws one kind of data set: ``whatchanged synth NAME``.

    description: what it draws, in one line.
    draw: "module:function" of ``draw(drawing: Drawing, **options) -> str``, which returns what was drawn in a
    few words, such as "5 scenes, 10 pairs". The same drawing gives the same bytes with any number of workers.
    size: of its pictures, unless another is asked for.
    unit: what ``--scenes`` counts.
    options: its own, beside those of every drawer.
    elsewhere: whether ``out`` may be a URL's path-like object (``scale.urls``).
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

    folder: holds demo.json, {"pairs": [{"before": ..., "after": ..., ...}, ...]}, and its pictures.
    truth: one of these pairs, and the words that begin the message of a DatasetError -> its truth.
    true_sentence: a sentence to show where the model is wrong.
    true_means: what a sentence that is wholly true has right, in a few words.
    """

    folder: Path
    truth: Callable[[Mapping[str, Any], str], Truth]
    true_sentence: Callable[[Truth], str]
    true_means: str


@dataclass(frozen=True)
class WorldPictures:
    """What pictures of a world show, and what they do not.

    datasets: the data sets, by name, whose pictures all show this world, drawn or not.
    view_and_light_differ: whether two pictures of an unchanged scene may differ by viewpoint and light.
    limits: what no model of this world can do, for a model's README; nothing that was measured of one model.
    """

    datasets: tuple[str, ...]
    view_and_light_differ: bool
    limits: str


@dataclass(frozen=True)
class TruthFiles:
    """What is known of drawn pairs, in files beside them.

    exists: whether this folder or list holds the world's truth files.
    read: a folder or list and its records -> pair id -> truth. {} where there is none.
    kind_of: the kind of change of a truth, or "none".
    """

    exists: Callable[[Path], bool]
    read: Callable[[Path, Sequence[PairRecord]], Mapping[str, Truth]]
    kind_of: Callable[[Truth], str]


@dataclass(frozen=True)
class WorldLanguage:
    """Sentences about pairs: written, read, judged.

    captions: several true sentences about a pair, drawn at random.
    reads: whether a sentence is in the language.
    judge: a sentence and a truth -> verdict.
    no_change_sentences: the ways to say that nothing changed.
    wordings: name -> a function that writes the one true sentence of a fixed wording. {} where the world has
    no fixed wordings.
    tell: nobody asks for it any more, and 0.4 will not take it.
    false_captions: "module:function" of ``(records, truths or None, seed, count, longest)``, which makes
    false captions in this language for training; "" where captions are handled as free text.
    contradicts: whether a sentence contradicts itself, whatever the pictures show, so that a model of this
    world never writes it. None where nobody can tell.
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
    """How reports break down by a world.

    kinds: of change, in the order of reports, one row each. A pair without change is "none" everywhere.
    grades: what ``WorldLanguage.judge`` grades, one column each.
    grade_titles: the heads of these columns; a grade without one is headed by its name.
    """

    kinds: tuple[str, ...]
    grades: tuple[str, ...]
    grade_titles: Mapping[str, str] = field(default_factory=dict)


@with_names_of_before
@dataclass(frozen=True)
class World:
    """A world's contract: small records by what they are for. Every function in them is pure.

    drawers: what ``whatchanged synth`` can draw of this world, each with options of its own.
    demo: its part of ``whatchanged demo``; None where it has none.
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
    """Every world by name, those of plug-ins last. Imports none."""
    return plugins.names(plugins.WORLDS, WORLDS)


def find_world(name: str) -> World:
    """The world of this name. Raises PluginError for an unknown one, or one whose package is broken."""
    return plugins.find(plugins.WORLDS, name, WORLDS, plugins.instance_of(World))


def known_world(name: str) -> World | None:
    """The world of this name; None for one of another package that is not here, or is broken."""
    try:
        return find_world(name)
    except PluginError:
        return None


def all_worlds() -> Iterator[World]:
    """Every world, those of plug-ins last; each is imported when it is its turn."""
    for _, world in plugins.find_all(plugins.WORLDS, WORLDS, plugins.instance_of(World)):
        yield world


def world_of(dataset: str, root: Path | None = None) -> World | None:
    """The world that the pictures of a data set show; None where no world is known.

    It is the world that claims the data set by name; otherwise the world whose truth files lie in ``root``,
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
    """A world's answer; where the function of a plug-in fails it is no, with a line on stderr."""
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
    """The world whose language at least half of these sentences are in, and that makes false captions in it.

    None where there is no such world: the sentences are free text.
    """
    for world in all_worlds():
        if world.language.false_captions:
            read = sum(_answer(world, world.language.reads, sentence) for sentence in sentences)
            if 2 * read >= len(sentences):
                return world
    return None


def all_drawers() -> tuple[Drawer, ...]:
    """Every world's drawers. Of two with one name the first is kept, with a line on stderr."""
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
    """The drawer of this name, of whichever world. Raises PluginError for an unknown one."""
    drawers = {drawer.name: drawer for drawer in all_drawers()}
    if name not in drawers:
        raise PluginError(f"There is nothing called {name!r} to draw. Known: {', '.join(drawers)}.")
    return drawers[name]
