"""Settings of the visions, which turn pictures into tokens; one file for each kind. Needs no torch.

To add a vision, write a file with a class derived from ``VisionSettings``, and add a line to ``VISIONS``. A
package of its own names its class under the entry-point group ``whatchanged.visions``.
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
"""``vision.kind`` -> "module:class" of its settings, imported when a recipe names it. A recipe that names no
kind gets the first.
"""


@dataclass(frozen=True)
class VisionSettings(ABC):
    """Settings that all kinds of ``[vision]`` share. A subclass adds fields (its keys); the first is
    ``kind``.

    The code that computes is named as "module:function", and only training imports it:

    implementation: (settings) -> the torch module that does what ``training.vision.base.Vision`` requires.
    reader: (settings, folder of stored features or tokens, root of the data set) -> a function that reads a
    picture's file.
    planned: (settings) -> a placeholder for what is read of a picture, and the truth of a pair or None;
    ``whatchanged train --plan`` counts with these what a recipe needs.
    in_front: (run, recipe, method, weights) -> the recipe and the backbone with which a method trained on
    stored features can read pictures; "" where this is not needed or not possible.
    exporter: writes the bundle of a run whose method captions what this vision reads: (model, output, data,
    in_distribution), as in ``training.export.export_run``.
    """

    implementation: ClassVar[str] = ""
    reader: ClassVar[str] = "whatchanged.training.data.pictures:pixel_reader"
    planned: ClassVar[str] = "whatchanged.training.data.pictures:planned_pixels"
    in_front: ClassVar[str] = ""
    exporter: ClassVar[str] = "whatchanged.training.export.pictures:export_pictures"

    learns: ClassVar[bool] = False
    """Whether the vision has weights of its own."""
    stored: ClassVar[bool] = False
    """Whether the vision reads features or tokens computed beforehand from the pictures
    (``data.features``).
    """
    instead_of_stored: ClassVar[str] = ""
    """What a user without stored features can do, as the end of a message."""
    truth_beside_pairs: ClassVar[bool] = False
    """Whether its tasks learn from truth files beside a data set's pairs."""
    task_needs: ClassVar[Mapping[str, str]] = {}
    """Name of a task -> the settings that it needs, for messages. Lists the tasks of all settings of this
    kind.
    """

    kind: str
    """Which kind of vision; see below."""

    @property
    def picture_size(self) -> tuple[int, int] | None:
        """Width and height to which pictures are resized; None if the vision reads no pixels."""
        return None

    @property
    def needs(self) -> str:
        """What a user must have besides the pictures, in a few words for lists; "" for nothing."""
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
        """Whether token n of one picture corresponds to token n of the other."""
        return self.keeps_every_cell

    @property
    def frozen(self) -> bool:
        """Whether the weights come from another model (``--init``), and no stage may train them."""
        return False

    @abstractmethod
    def check(self, where: str) -> None:
        """Raise RecipeError at the first of its own settings that does not fit (``recipes.checks`` has
        helpers).
        """

    def check_recipe(self, recipe: "Recipe", where: str) -> None:  # noqa: B027 - there may be nothing to check
        """Raise RecipeError where its settings do not fit the rest of the recipe. All other checks have
        passed by then.
        """


def check_cells(config: VisionSettings, cell: int, where: str) -> None:
    """Checks that a backbone's pictures consist of whole cells with sides of ``cell`` pixels, and its
    number of blocks.
    """
    name = f"{cell}, the side of a cell"
    check_multiples(where, "vision.", config, ("image_width", "image_height"), cell, name)
    require_not_negative(where, "vision.", config, "blocks")


def default_vision() -> Any:
    """The settings of the first kind, each at its default."""
    return imported(next(iter(VISIONS.values())))()


def kinds_that(answer: Callable[[type[VisionSettings]], bool]) -> str:
    """The kinds for which this holds, for messages: ``"backbone" or "objects"``.

    Only kinds of this package are listed, because others are imported only where a recipe names them.
    """
    *first, last = [f'"{name}"' for name, place in VISIONS.items() if answer(imported(place))]
    return f"{', '.join(first)} or {last}" if first else last
