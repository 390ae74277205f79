"""Draw pairs of screens with their truth; imported only for drawing.

A *family* draws one sort of screens: web pages, plots, typeset documents. Each family is a package of its own
with one line in ``FAMILIES``. ``run.py`` opens families in workers, draws their documents and writes the set.
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
"""Name -> "module:function" that opens the family (``Opener``); imported on first use."""


@dataclass(frozen=True)
class DrawnPair:
    """Two pictures as PNG files, and the truth about them."""

    before: bytes
    after: bytes
    truth: ScreenTruth


class Family(Protocol):
    """Draws one sort of screens. Each worker opens one and draws many documents."""

    @property
    def renderer(self) -> str:
        """The name and version of the renderer; the same renderer draws the same bytes."""
        ...

    def draw(self, seed: int, index: int, split: Split) -> Sequence[DrawnPair]:
        """Draw the pairs of one document, usually four; fewer where an attempt failed.

        The pairs depend only on (seed, index, split) and the renderer, not on earlier documents. Designs
        (libraries, styles, fonts) of "val" and "test" never occur in "train". If no pixel differs, there is
        no pair; an invisible change is labelled as noise.
        """
        ...


@dataclass(frozen=True)
class FamilyOptions:
    """The options of every family.

    styles: a folder into which npm installed packages; None for the one in the cache folder.
    size: width and height of the largest picture.
    several: every pair has several changes, as far as they are visible; otherwise a pair has none, one or
    more.
    """

    styles: Path | None
    size: tuple[int, int]
    several: bool = False


Opener = Callable[[FamilyOptions], AbstractContextManager[Family]]
"""A function that opens a family. Raises MissingExtra or OutputError, with the command that installs what is
missing.
"""


def find_family(name: str) -> Opener:
    """Import and return the function that opens the family of this name."""
    module, _, function = FAMILIES[name].partition(":")
    opener: Opener = getattr(import_module(module), function)
    return opener
