"""The visions as recipes know them: what turns pictures into tokens, one file a kind; nothing here imports
torch.

To add a vision: a file with a class derived from ``VisionSettings``, and a line in ``VISIONS``. A vision from
another package names its class under the entry-point group ``whatchanged.visions``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whatchanged.plugins import imported
from whatchanged.recipes.checks import check_multiples, require_not_negative
from whatchanged.recipes.methods import Task

if TYPE_CHECKING:
    from whatchanged.recipes.schema import Recipe

VISIONS: Mapping[str, str] = {
    "features": "whatchanged.recipes.visions.features:FeaturesConfig",
    "patches": "whatchanged.recipes.visions.patches:PatchesConfig",
    "backbone": "whatchanged.recipes.visions.backbone:BackboneConfig",
    "objects": "whatchanged.recipes.visions.objects:ObjectsConfig",
}
"""``vision.kind`` -> "module:class" of its settings; it is imported when a recipe names it. A recipe
that names no kind means the first."""


@dataclass(frozen=True)
class VisionSettings(ABC):
    """What all kinds of ``[vision]`` have. A subclass adds fields: its keys. The first is ``kind``.

    What computes is named as "module:function" and only imported by training:

    implementation: (settings) -> the torch module with the duties of ``training.vision.base.Vision``.
    reader: (settings, folder of what is stored, root of the data set) -> what reads a picture's file.
    planned: (settings) -> what is read of a picture without numbers that mean anything, and the truth of a
    pair, or None: from these ``whatchanged train --plan`` counts what a recipe needs.
    in_front: (run, recipe, method, weights) -> the recipe and the backbone that make a method which learnt
    from stored features read pictures; "" where no such thing is needed, or possible.
    exporter: what writes the bundle of a run whose method captions from what this vision reads: (model,
    output, data, in_distribution), as in ``training.export.export_run``.
    """

    implementation: ClassVar[str] = ""
    reader: ClassVar[str] = "whatchanged.training.data.pictures:pixel_reader"
    planned: ClassVar[str] = "whatchanged.training.data.pictures:planned_pixels"
    in_front: ClassVar[str] = ""
    exporter: ClassVar[str] = "whatchanged.training.export.pictures:export_pictures"

    learns: ClassVar[bool] = False
    """Whether the vision has weights of its own."""
    stored: ClassVar[bool] = False
    """Whether it reads what was computed from a data set's pictures beforehand, ``data.features``."""
    instead_of_stored: ClassVar[str] = ""
    """What a person can do who has nothing stored, as the end of a message."""
    truth_beside_pairs: ClassVar[bool] = False
    """Whether its tasks learn from the truth that lies beside a data set's pairs."""
    task_needs: ClassVar[Mapping[str, str]] = {}
    """Task of any settings of this kind -> the settings that it needs, for messages."""

    kind: str
    """Which kind of vision; see below."""

    @property
    def picture_size(self) -> tuple[int, int] | None:
        """Width and height that pictures are resized to; None where no pixels are read."""
        return None

    @property
    def needs(self) -> str:
        """What must be there beside the pictures, in a few words for lists; "" for nothing."""
        return ""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Tasks that the vision itself adds, by name."""
        return {}

    @property
    def keeps_every_cell(self) -> bool:
        """Whether a picture's tokens are all cells of a grid, in order."""
        return True

    @property
    def tokens_correspond(self) -> bool:
        """Whether token n of both pictures belongs together."""
        return self.keeps_every_cell

    @property
    def frozen(self) -> bool:
        """Whether its weights come from another model (``--init``), and no stage may train them."""
        return False

    @abstractmethod
    def check(self, where: str) -> None:
        """Raise RecipeError at the first of its own settings that does not fit (``recipes.checks`` helps)."""

    def check_recipe(self, recipe: "Recipe", where: str) -> None:  # noqa: B027 - there may be nothing to check
        """Raise RecipeError where its settings do not fit the rest of the recipe, which fits by then."""


def check_cells(config: VisionSettings, cell: int, where: str) -> None:
    """A backbone's pictures are whole cells of ``cell`` pixels a side, and its blocks a number of blocks."""
    name = f"{cell}, the side of a cell"
    check_multiples(where, "vision.", config, ("image_width", "image_height"), cell, name)
    require_not_negative(where, "vision.", config, "blocks")


def default_vision() -> Any:
    """The settings of the first kind, each at its default."""
    return imported(next(iter(VISIONS.values())))()


def kinds_that(answer: Callable[[type[VisionSettings]], bool]) -> str:
    """The kinds of which this is so, for messages: ``"backbone" or "objects"``.

    Those of this package alone: others are imported where a recipe names them.
    """
    *first, last = [f'"{name}"' for name, place in VISIONS.items() if answer(imported(place))]
    return f"{', '.join(first)} or {last}" if first else last
