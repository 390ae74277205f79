"""Settings of the visions, which turn pictures into tokens. Each kind of vision has one file. This package
needs no torch.

To add a vision, write a file with a class derived from ``VisionSettings``, and add a line to ``VISIONS``. A
plug-in package registers its class under the entry-point group ``whatchanged.visions``.
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
"""``vision.kind`` -> "module:class" of its settings, imported when a recipe names it. A recipe without
``vision.kind`` gets the first kind.
"""


@dataclass(frozen=True)
class VisionSettings(ABC):
    """Settings that all kinds of ``[vision]`` share. A subclass adds fields, which are the keys of the table.
    The first field is ``kind``.

    These attributes give functions that compute, as "module:function". Only training imports these functions:

    implementation: (settings) -> the torch module, which fulfils ``training.vision.base.Vision``. reader:
    (settings, folder of stored features or tokens, root of the data set) -> a function that reads a picture's
    file.
    planned: (settings) -> a placeholder for the data that is read of a picture, and the ground truth of a
    pair or None. ``whatchanged train --plan`` estimates with these placeholders what a recipe needs.
    in_front: (run, recipe, method, weights) -> the recipe and the backbone with which a method trained on
    stored features can read pictures. The attribute is "" where such a backbone is not needed or not
    possible.
    exporter: (model, output, data, in_distribution), as in ``training.export.export_run``. The exporter
    writes the bundle of a run with this vision.
    """

    implementation: ClassVar[str] = ""
    reader: ClassVar[str] = "whatchanged.training.data.pictures:pixel_reader"
    planned: ClassVar[str] = "whatchanged.training.data.pictures:planned_pixels"
    in_front: ClassVar[str] = ""
    exporter: ClassVar[str] = "whatchanged.training.export.pictures:export_pictures"

    learns: ClassVar[bool] = False
    """Whether the vision has weights."""
    stored: ClassVar[bool] = False
    """Whether the vision reads features or tokens that were computed from the pictures beforehand
    (``data.features``).
    """
    instead_of_stored: ClassVar[str] = ""
    """Advice for a user without stored features, as the end of a message."""
    truth_beside_pairs: ClassVar[bool] = False
    """Whether the tasks of the vision learn from ground truth files beside a data set's pairs."""
    task_needs: ClassVar[Mapping[str, str]] = {}
    """A mapping from the name of a task to the settings that the task needs, for messages. The mapping
    contains all tasks that this kind of vision can have.
    """

    kind: str
    """The kind of vision (comment below)."""

    @property
    def picture_size(self) -> tuple[int, int] | None:
        """The width and height to which pictures are resized; None if the vision reads no pixels."""
        return None

    @property
    def needs(self) -> str:
        """What a user must have besides the pictures, in a few words for lists; "" if pictures suffice."""
        return ""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks that the vision adds to the tasks of the method, by name."""
        return {}

    @property
    def keeps_every_cell(self) -> bool:
        """Whether a picture's tokens are all cells of a grid, in order."""
        return True

    @property
    def tokens_correspond(self) -> bool:
        """Whether token n of one picture corresponds to token n of the other picture."""
        return self.keeps_every_cell

    @property
    def frozen(self) -> bool:
        """Whether the vision's weights come from another model (``--init``), so that no stage may train these
        weights.
        """
        return False

    @abstractmethod
    def check(self, where: str) -> None:
        """Raise RecipeError at the first setting of the vision that does not fit (``recipes.checks`` has
        helpers).
        """

    def check_recipe(self, recipe: "Recipe", where: str) -> None:  # noqa: B027 - there may be nothing to check
        """Raise RecipeError where the vision's settings do not fit the rest of the recipe. This check runs
        after all other checks.
        """


def check_cells(config: VisionSettings, cell: int, where: str) -> None:
    """Checks that a backbone's pictures consist of whole cells with sides of ``cell`` pixels. Checks the
    backbone's number of blocks.
    """
    name = f"{cell}, the side of a cell"
    check_multiples(where, "vision.", config, ("image_width", "image_height"), cell, name)
    require_not_negative(where, "vision.", config, "blocks")


def default_vision() -> Any:
    """Return the settings of the first kind, with their defaults."""
    return imported(next(iter(VISIONS.values())))()


def kinds_that(answer: Callable[[type[VisionSettings]], bool]) -> str:
    """Return the kinds for which the test is true, for messages: ``"backbone" or "objects"``.

    Only kinds of this package are listed, because the kinds of plug-ins are imported only for recipes that
    use these kinds.
    """
    *first, last = [f'"{name}"' for name, place in VISIONS.items() if answer(imported(place))]
    return f"{', '.join(first)} or {last}" if first else last
