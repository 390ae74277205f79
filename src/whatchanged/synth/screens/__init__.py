"""Draws pairs of screens with their truth. Imported when something is drawn, never by the rest of the world.

A *family* draws one sort of screens: web pages, plots, typeset documents. Each is a room of its own and has
one line in ``FAMILIES``. ``run.py`` opens families in workers, asks them for documents and writes the set.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from whatchanged.records import Split
from whatchanged.worlds.screens.truth import ScreenTruth

FAMILIES: Mapping[str, str] = {
    "pages": "whatchanged.synth.screens.pages.family:open_pages",
    "sites": "whatchanged.synth.screens.pages.family:open_sites",
    "plots": "whatchanged.synth.screens.plots.family:open_plots",
    "charts": "whatchanged.synth.screens.plots.family:open_charts",
    "documents": "whatchanged.synth.screens.documents.family:open_documents",
}
"""Name -> "module:function" that opens the family (``Opener``); imported when it is asked for."""


@dataclass(frozen=True)
class DrawnPair:
    """Two pictures as PNG files, and what is known of them."""

    before: bytes
    after: bytes
    truth: ScreenTruth


class Family(Protocol):
    """What draws one sort of screens. One is opened in each worker and draws many documents."""

    @property
    def renderer(self) -> str:
        """What draws, with its version; the same renderer draws the same bytes."""
        ...

    def draw(self, seed: int, index: int, split: Split) -> Sequence[DrawnPair]:
        """The pairs of one document, usually four; fewer where nothing came of one.

        All of it follows from (seed, index, split) on one renderer, whatever was drawn before. Designs
        (libraries, styles, fonts) of "val" and "test" are never those of "train". Where no pixel differs,
        there is no pair; a change that cannot be seen is told as noise.
        """
        ...


@dataclass(frozen=True)
class FamilyOptions:
    """What a person may choose for every family.

    styles: a folder into which npm installed packages; None for the one in the cache folder.
    size: width and height of the largest picture.
    several: every pair has several changes, as far as they can be seen; otherwise one has none, one or more.
    """

    styles: Path | None
    size: tuple[int, int]
    several: bool = False


Opener = Callable[[FamilyOptions], AbstractContextManager[Family]]
"""Opens a family. Raises MissingExtra or OutputError, with the command that installs what is missing."""


def find_family(name: str) -> Opener:
    """What opens the family of this name; its module is imported now."""
    module, _, function = FAMILIES[name].partition(":")
    opener: Opener = getattr(import_module(module), function)
    return opener
