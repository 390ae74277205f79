"""The vision of object tokens of CLEVR's world. Not published."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.visions import VisionSettings, check_cells

CELL = 8
"""Pixels of a side of a cell."""


@dataclass(frozen=True)
class ObjectsConfig(VisionSettings):
    """Object tokens of CLEVR's world: a backbone, its answers about each cell, the ``keep`` best cells.

    Not published. Its own tasks learn from the truth of drawn scenes. ``detection``: what each cell shows.
    ``matching``: which tokens are the same object, and how it changed.
    """

    implementation: ClassVar[str] = "whatchanged.training.objects.tokens:ObjectVision"

    learns: ClassVar[bool] = True
    task_needs: ClassVar[Mapping[str, str]] = {
        "detection": 'vision.kind = "objects"',
        "matching": 'vision.kind = "objects" with vision.matching = true',
    }

    kind: Literal["objects"] = "objects"
    image_width: int = 240
    """Pixels that pictures are resized to."""
    image_height: int = 160
    """Likewise."""
    channels: tuple[int, ...] = (32, 64, 96)
    """One a convolution that halves the picture: three, so that a cell has 8 pixels a side."""
    blocks: int = 4
    """Residual blocks at the size of the cells."""
    keep: int = 24
    """Tokens of a picture: the cells most like the middle of an object. 0 keeps all cells."""
    matching: bool = False
    """Tokens are matched between the pictures; each is told what matches it."""
    scene_context: bool = False
    """Sizes and positions are read from all objects of a picture together, before they are matched."""
    occlusion: bool = False
    """Each token is told how much of it other objects hide: here, and at its place in the other picture."""
    landmarks: bool = False
    """Each token is told on which of its sides the changed object stands and a duplicate of that does not."""
    guided_attention: bool = False
    """Each word learns to look at the objects that it mentions."""
    frozen: bool = False
    """The vision comes from another model (``--init``), and nothing in it learns any more. Its tokens are
    standardised: each number has mean 0 and deviation 1 over pairs to train on."""
    aligned: bool = False
    """The tokens after stand in the order of their matches before. Needs the matching to be finished:
    ``frozen``."""

    @property
    def cell(self) -> int:
        """Pixels of a side of a cell."""
        return CELL

    @property
    def same_cell(self) -> bool:
        """Tokens are told of the cell in the same place by matching alone."""
        return False

    @property
    def cells(self) -> int:
        """Cells of a picture."""
        return self.image_width // CELL * (self.image_height // CELL)

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that pictures are resized to."""
        return self.image_width, self.image_height

    @property
    def tasks(self) -> Mapping[str, Task]:
        """What the truth of scenes can teach."""
        if self.frozen:
            return {}
        detection = {"detection": Task(1, truth=True, vision_only=True)}
        return {**detection, "matching": Task(6, truth=True)} if self.matching else detection

    @property
    def keeps_every_cell(self) -> bool:
        """Whether a picture's tokens are all its cells."""
        return self.keep in (0, self.cells)

    @property
    def tokens_correspond(self) -> bool:
        """Cells do by their places, kept ones where they are aligned."""
        return self.keeps_every_cell or self.aligned

    def check(self, where: str) -> None:
        """What the convolutions need, as many tokens as a picture has, and switches that need each other."""
        fits = len(self.channels) == 3 and min(self.channels) > 0
        wanted = "three numbers above 0, one a convolution"
        require(where, "vision.channels", self.channels, fits, wanted)
        check_cells(self, CELL, where)
        fits = 0 <= self.keep <= self.cells
        require(where, "vision.keep", self.keep, fits, f"0 (all) to {self.cells}, the cells of a picture")
        fits = self.matching or not self.scene_context
        wanted = "false without vision.matching = true, which uses the positions"
        require(where, "vision.scene_context", self.scene_context, fits, wanted)
        wanted = "false without vision.matching = true, which compares the pictures"
        require(where, "vision.occlusion", self.occlusion, self.matching or not self.occlusion, wanted)
        require(where, "vision.landmarks", self.landmarks, self.matching or not self.landmarks, wanted)
        fits = not self.aligned or (self.matching and self.frozen and not self.keeps_every_cell)
        wanted = (
            "false without vision.matching and vision.frozen, or where all cells are kept in their places"
        )
        require(where, "vision.aligned", self.aligned, fits, wanted)

    def check_recipe(self, recipe: Recipe, where: str) -> None:
        """Guided attention and an order of tokens, where something of the recipe uses them."""
        self._check_guided_attention(recipe, where)
        wanted = "false: this method reads tokens in any order"
        fits = recipe.method.compares_by_place or not self.aligned
        require(where, "vision.aligned", self.aligned, fits, wanted)

    def _check_guided_attention(self, recipe: Recipe, where: str) -> None:
        """It needs words whose objects are known, and a method that has their attention."""
        key, guided = "vision.guided_attention", self.guided_attention
        wanted = (
            'false without data.source = "pool": only of drawn scenes it is known which objects words mention'
        )
        require(where, key, guided, recipe.data.knows_scenes or not guided, wanted)
        wanted = "false with data.merges: the objects are known of whole words"
        require(where, key, guided, not recipe.data.merges or not guided, wanted)
        wanted = (
            "false: captioning does not learn every word in each pass"
            " (PCL does with method.every_word = true)"
        )
        require(where, key, guided, recipe.method.guidable or not guided, wanted)
