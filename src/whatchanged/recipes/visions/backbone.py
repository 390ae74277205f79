"""Settings of the vision that uses every cell of a convolutional backbone as a token."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require
from whatchanged.recipes.visions import VisionSettings, check_cells


@dataclass(frozen=True)
class BackboneConfig(VisionSettings):
    """A convolutional backbone, trained from random weights with the tasks. Every cell of its feature map
    is a token.
    """

    implementation: ClassVar[str] = "whatchanged.training.vision.backbone:BackboneVision"

    learns: ClassVar[bool] = True

    kind: Literal["backbone"] = "backbone"
    image_width: int = 240
    """The width in pixels to which pictures are resized."""
    image_height: int = 160
    """The height in pixels to which pictures are resized."""
    channels: tuple[int, ...] = (32, 64, 96)
    """Channels of each convolution that halves the picture. Three convolutions make cells of 8 pixels a side,
    four convolutions make cells of 16 pixels a side.
    """
    blocks: int = 4
    """Number of residual blocks at the resolution of the cells."""
    same_cell: bool = False
    """Adds two parts to each token: the features of the same cell in the other picture, and the difference of
    both cells' features. This setting is made for pictures from one camera position.
    """

    @property
    def cell(self) -> int:
        """Side of a cell in pixels."""
        return int(2 ** len(self.channels))

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height to which pictures are resized."""
        return self.image_width, self.image_height

    def check(self, where: str) -> None:
        """Checks that the sizes of pictures, channels and blocks fit the convolutions."""
        fits = len(self.channels) in (3, 4) and min(self.channels) > 0
        wanted = "three or four numbers above 0, one a convolution"
        require(where, "vision.channels", self.channels, fits, wanted)
        check_cells(self, self.cell, where)
