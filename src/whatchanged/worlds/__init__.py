"""Worlds: kinds of pictures whose content is known as data. Each is a folder and an entry in ``WORLDS``.

A world defines its kinds of change, the truth files of its drawn data sets, and its language: it writes
sentences, parses them, and judges them against the truth. It also provides drawers for ``whatchanged synth``,
pairs for ``whatchanged demo``, and a description of what its models cannot do. A world never imports torch.
Its drawers and the functions that make false captions for training are given as strings "module:function" and
are imported on first use.

No module outside this folder names a world; other modules call ``find_world`` and ``world_of``. Other
packages can add worlds under the entry-point group "whatchanged.worlds" (see `plugins.py`).
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
"""A mapping from name to "module:attribute" of a ``World``. The module is imported on first use."""

Box = tuple[int, int, int, int]
"""Left, top, right and bottom of a box, in pixels of the picture that contains it.

Right and bottom are exclusive.
"""

Truth = Any
"""The ground truth of one pair. Only the world of the pair uses the content."""


@dataclass(frozen=True)
class Verdict:
    """The result of comparing a sentence with the truth of a pair.

    parsed: whether the sentence is in the world's language. If it is not, all other fields are False and no
        grade is True.
    unchanged: whether the sentence says that nothing changed.
    true: whether every part of the sentence is true.
    grades: one value for each of the world's ``grades``; None if a grade does not apply to this pair.
    fault: the most serious error of the sentence, in a few words; "" if it has none. A true sentence may have
        a fault, for example if its phrase also describes other objects.
    """

    parsed: bool
    unchanged: bool
    true: bool
    grades: Mapping[str, bool | None]
    fault: str = ""


@dataclass(frozen=True)
class DrawerOption:
    """One option of a drawer: ``--with NAME=VALUE`` on the command line, and the keyword ``name`` in Python.

    default: the default value. Its type is the type of the option.
    choices: the allowed values; () if any value is allowed.
    least, most: the smallest and the largest allowed number.
    """

    name: str
    help: str
    default: str | int | float
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Drawing:
    """The arguments that ``whatchanged synth`` passes to a drawer.

    out: the folder to create.
    scenes: the number of scenes to draw, at least one.
    size: width and height in pixels.
    workers: the number of processes.
    device: the device that the user named. A drawer that needs no device ignores it.
    advance: a function to call with the number of scenes drawn since the last call.
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
    """A drawer of one kind of data set: ``whatchanged synth NAME``.

    description: what it draws, in one line.
    draw: "module:function" of ``draw(drawing: Drawing, **options) -> str``, which returns a summary in a few
        words, such as "5 scenes, 10 pairs". The same drawing gives the same bytes for any number of workers.
    size: the default (width, height) of its pictures in pixels.
    unit: the unit that ``--scenes`` counts.
    options: the options that only this drawer has.
    elsewhere: whether ``out`` may be the path-like object of a URL (``scale.urls``).
    extra: the extra of this package that the drawer needs, such as "train"; "" if it needs none.
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
    """The part of ``whatchanged demo`` that a world provides.

    folder: the folder that contains the pictures and demo.json,
        {"pairs": [{"before": ..., "after": ..., ...}, ...]}.
    truth: a function from an entry of "pairs", and the words that begin the message of a DatasetError, to the
        truth of the pair.
    true_sentence: a function that returns the sentence to show if the model is wrong.
    true_means: the conditions for a fully true sentence, in a few words.
    """

    folder: Path
    truth: Callable[[Mapping[str, Any], str], Truth]
    true_sentence: Callable[[Truth], str]
    true_means: str


@dataclass(frozen=True)
class WorldPictures:
    """A description of the pictures of a world.

    datasets: the names of the data sets whose pictures all show this world, drawn or not.
    view_and_light_differ: whether viewpoint and light may differ between two pictures of an unchanged scene.
    limits: what no model of this world can do, for a model's README; no measured results.
    """

    datasets: tuple[str, ...]
    view_and_light_differ: bool
    limits: str


@dataclass(frozen=True)
class TruthFiles:
    """Reads the truth of drawn pairs from the files of a data set.

    exists: a function that returns whether this folder or list contains the world's truth files.
    read: a function from a folder or list and its records to the truth by pair id; {} if there is none.
    kind_of: a function that returns the kind of change of a truth, or "none".
    """

    exists: Callable[[Path], bool]
    read: Callable[[Path, Sequence[PairRecord]], Mapping[str, Truth]]
    kind_of: Callable[[Truth], str]


@dataclass(frozen=True)
class WorldLanguage:
    """The language of a world: functions that write, parse and judge sentences about pairs.

    captions: writes several true sentences about a pair, drawn at random.
    reads: returns whether a sentence is in the language.
    judge: returns the verdict on a sentence, given the truth.
    no_change_sentences: all sentences that say that nothing changed.
    wordings: for each fixed wording, a function that writes the true sentence in that wording. {} if the
        world has no fixed wordings.
    tell: deprecated and ignored; 0.4 will not accept it.
    false_captions: "module:function" of ``(records, truths or None, seed, count, longest)``, which makes
        false captions in this language for training; "" if captions are treated as free text.
    contradicts: returns whether a sentence contradicts itself, regardless of the pictures. A model of this
        world never writes such a sentence. None if the world cannot detect this.
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
    """The breakdown of the scores in reports for a world.

    kinds: the kinds of change, in the order of the rows. A pair without change always has the kind "none".
    grades: the grades of ``WorldLanguage.judge``, in the order of the columns.
    grade_titles: the column titles. A grade without a title uses its name.
    """

    kinds: tuple[str, ...]
    grades: tuple[str, ...]
    grade_titles: Mapping[str, str] = field(default_factory=dict)


@with_names_of_before
@dataclass(frozen=True)
class World:
    """The contract of a world: one small record for each purpose. All functions in the records are pure.

    drawers: the data sets of this world that ``whatchanged synth`` can draw, each with separate options.
    demo: the part of ``whatchanged demo`` that this world provides; None if it provides none.
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
        """Return the true sentence in a fixed wording.

        Raises DatasetError if the world has no such wording.
        """
        wordings = self.language.wordings
        if wording not in wordings:
            known = ", ".join(wordings) or "none"
            raise DatasetError(f"the world {self.name} has no wording {wording!r}. It has: {known}.")
        return wordings[wording](truth)


def world_names() -> tuple[str, ...]:
    """Return the names of all worlds without importing them. The worlds of plug-ins come last."""
    return plugins.names(plugins.WORLDS, WORLDS)


def find_world(name: str) -> World:
    """Return the world with this name. Raises PluginError if it is unknown or its package is broken."""
    return plugins.find(plugins.WORLDS, name, WORLDS, plugins.instance_of(World))


def known_world(name: str) -> World | None:
    """Return the world with this name, or None if its package is not installed or is broken."""
    try:
        return find_world(name)
    except PluginError:
        return None


def all_worlds() -> Iterator[World]:
    """Yield every world. The worlds of plug-ins come last. Each world is imported when it is reached."""
    for _, world in plugins.find_all(plugins.WORLDS, WORLDS, plugins.instance_of(World)):
        yield world


def world_of(dataset: str, root: Path | None = None) -> World | None:
    """Return the world that the pictures of a data set show, or None if it is not known.

    The world that lists the name of the data set takes precedence. Otherwise, it is the world whose truth
    files are in ``root``, the folder or list of the data set.
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
    """Return a world's answer to a question.

    If the function of a plug-in fails, print a warning to stderr and return False.
    """
    if world.name in WORLDS:
        return question(*about)
    try:
        return question(*about)
    except Exception as error:  # a function of another package may raise anything
        installed = plugins.installed(plugins.WORLDS, WORLDS)
        package = next(plugin.package for plugin in installed if plugin.name == world.name)
        plugins.warn_once(f"The world {world.name!r} of {package} cannot be asked: {plugins.fault(error)}")
        return False


def language_of(sentences: Sequence[str]) -> World | None:
    """Return the world whose language contains at least half of these sentences.

    Only worlds that can make false captions are considered. If no world has such a language, return None,
    because the sentences are free text.
    """
    for world in all_worlds():
        if world.language.false_captions:
            read = sum(_answer(world, world.language.reads, sentence) for sentence in sentences)
            if 2 * read >= len(sentences):
                return world
    return None


def all_drawers() -> tuple[Drawer, ...]:
    """Return the drawers of all worlds.

    If two have the same name, keep the first and print a warning to stderr.
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
    """Return the drawer with this name, of any world. Raises PluginError if the name is unknown."""
    drawers = {drawer.name: drawer for drawer in all_drawers()}
    if name not in drawers:
        raise PluginError(f"There is nothing called {name!r} to draw. Known: {', '.join(drawers)}.")
    return drawers[name]
