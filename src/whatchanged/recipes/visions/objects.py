"""Settings of the vision that makes object tokens of CLEVR scenes. Not part of any published method."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.visions import VisionSettings, check_cells

CELL = 8
"""Side of a cell in pixels."""


@dataclass(frozen=True)
class ObjectsConfig(VisionSettings):
    """Object tokens of CLEVR scenes: the ``keep`` cells of a backbone that most likely show an object's
    middle.

    Not published. A token holds the cell's features and the predictions of heads about it. The vision's own
    tasks learn from the truth of drawn scenes. ``detection``: what each cell shows. ``matching``: which
    tokens are the same object, and how it changed.
    """

    implementation: ClassVar[str] = "whatchanged.training.objects.tokens:ObjectVision"

    learns: ClassVar[bool] = True
    task_needs: ClassVar[Mapping[str, str]] = {
        "detection": 'vision.kind = "objects"',
        "matching": 'vision.kind = "objects" with vision.matching = true',
    }

    kind: Literal["objects"] = "objects"
    image_width: int = 240
    """Pixels. Pictures are resized to this width."""
    image_height: int = 160
    """Pixels. Pictures are resized to this height."""
    channels: tuple[int, ...] = (32, 64, 96)
    """Channels of each convolution that halves the picture: three, so that a cell has sides of 8 pixels."""
    blocks: int = 4
    """Number of residual blocks at the resolution of the cells."""
    keep: int = 24
    """Tokens of a picture: the cells most likely to show the middle of an object. 0 keeps all cells."""
    matching: bool = False
    """Matches the tokens of the two pictures, and adds to each token the features of its match."""
    scene_context: bool = False
    """Corrects estimated sizes and positions from all objects of a picture together, before they are
    matched.
    """
    occlusion: bool = False
    """Adds to each token how much of it other objects hide: here, and at its position in the other
    picture.
    """
    landmarks: bool = False
    """Adds to each token on which of its sides the changed object lies and that object's duplicate does
    not.
    """
    guided_attention: bool = False
    """Trains each word to attend to the objects that it mentions."""
    frozen: bool = False
    """The vision comes from another model (``--init``) and is not trained. Its tokens are standardised: each
    number has mean 0 and deviation 1 over training pairs.
    """
    aligned: bool = False
    """Orders the tokens after by their matches before. Needs a matching that no longer changes:
    ``frozen``.
    """

    @property
    def cell(self) -> int:
        """Side of a cell in pixels."""
        return CELL

    @property
    def same_cell(self) -> bool:
        """False: a token learns about the other picture by matching, not from the cell at the same
        position.
        """
        return False

    @property
    def cells(self) -> int:
        """Number of cells of a picture."""
        return self.image_width // CELL * (self.image_height // CELL)

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height to which pictures are resized."""
        return self.image_width, self.image_height

    @property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks that learn from the truth of scenes."""
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
        """Whether token n of both pictures corresponds: all cells do by position, kept cells if they are
        aligned.
        """
        return self.keeps_every_cell or self.aligned

    def check(self, where: str) -> None:
        """Checks the convolutions' sizes, the number of tokens, and settings that need each other."""
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
        """Checks that some part of the recipe uses guided attention and an order of tokens, if they are
        switched on.
        """
        self._check_guided_attention(recipe, where)
        wanted = "false: this method reads tokens in any order"
        fits = recipe.method.compares_by_place or not self.aligned
        require(where, "vision.aligned", self.aligned, fits, wanted)

    def _check_guided_attention(self, recipe: Recipe, where: str) -> None:
        """Checks that the objects of words are known, and that the method gives its attention to words."""
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
