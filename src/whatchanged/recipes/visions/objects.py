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

    This vision is not published. A token holds the features of a cell and the predictions of heads about this
    cell. The tasks of the vision learn from the ground truth of drawn scenes. The task ``detection`` learns
    what each cell shows. The task ``matching`` learns which tokens show the same object, and how this object
    changed.
    """

    implementation: ClassVar[str] = "whatchanged.training.objects.tokens:ObjectVision"

    learns: ClassVar[bool] = True
    task_needs: ClassVar[Mapping[str, str]] = {
        "detection": 'vision.kind = "objects"',
        "matching": 'vision.kind = "objects" with vision.matching = true',
    }

    kind: Literal["objects"] = "objects"
    image_width: int = 240
    """The width in pixels to which pictures are resized."""
    image_height: int = 160
    """The height in pixels to which pictures are resized."""
    channels: tuple[int, ...] = (32, 64, 96)
    """Channels of each convolution that halves the picture. There are three convolutions, so that a cell has
    sides of 8 pixels.
    """
    blocks: int = 4
    """Number of residual blocks at the resolution of the cells."""
    keep: int = 24
    """Number of tokens of a picture. The tokens are the cells most likely to show the middle of an object.
    With 0, all cells are tokens.
    """
    matching: bool = False
    """Matches the tokens of the two pictures, and adds to each token the features of its match."""
    scene_context: bool = False
    """Corrects estimated sizes and positions of objects, using all objects of a picture together, before the
    objects are matched.
    """
    occlusion: bool = False
    """Adds two numbers to each token: how much other objects hide the token in its picture, and how much they
    would hide the token at its position in the other picture.
    """
    landmarks: bool = False
    """Adds to each token the sides of the token on which the changed object lies and the duplicate of the
    changed object does not lie.
    """
    guided_attention: bool = False
    """Trains each word to attend to the objects that it mentions."""
    frozen: bool = False
    """The vision comes from another model (``--init``) and is not trained. The tokens of a frozen vision are
    standardised: each number has mean 0 and deviation 1 over training pairs.
    """
    aligned: bool = False
    """Orders the tokens of the picture after like their matches in the picture before. This needs a matching
    that no longer changes, so ``frozen`` must be set.
    """

    @property
    def cell(self) -> int:
        """Side of a cell in pixels."""
        return CELL

    @property
    def same_cell(self) -> bool:
        """False, because a token gets features of the other picture by matching, not from the cell at the
        same position.
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
        """Whether token n of one picture corresponds to token n of the other picture. All cells of a grid
        correspond by position, and chosen cells correspond if ``aligned`` is set.
        """
        return self.keeps_every_cell or self.aligned

    def check(self, where: str) -> None:
        """Checks the sizes of the convolutions, the number of tokens, and settings that need each other."""
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
        """Checks that a part of the recipe uses guided attention if this is switched on. Checks the same for
        the order of tokens.
        """
        self._check_guided_attention(recipe, where)
        wanted = "false: this method reads tokens in any order"
        fits = recipe.method.compares_by_place or not self.aligned
        require(where, "vision.aligned", self.aligned, fits, wanted)

    def _check_guided_attention(self, recipe: Recipe, where: str) -> None:
        """Checks that the data contains the objects that words mention, and that the method returns the
        attention of words.
        """
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
