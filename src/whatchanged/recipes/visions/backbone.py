"""The vision of a convolutional backbone, all of whose cells are tokens."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require
from whatchanged.recipes.visions import VisionSettings, check_cells


@dataclass(frozen=True)
class BackboneConfig(VisionSettings):
    """A convolutional backbone, trained from nothing with the tasks; every cell of its map is a token."""

    implementation: ClassVar[str] = "whatchanged.training.vision.backbone:BackboneVision"

    learns: ClassVar[bool] = True

    kind: Literal["backbone"] = "backbone"
    image_width: int = 240
    """Pixels that pictures are resized to."""
    image_height: int = 160
    """Likewise."""
    channels: tuple[int, ...] = (32, 64, 96)
    """One a convolution that halves the picture: three make cells of 8 pixels a side, four of 16."""
    blocks: int = 4
    """Residual blocks at the size of the cells."""
    same_cell: bool = False
    """Each cell is also told what the other picture shows in the same cell, and how the two differ. Meant for
    pictures from one place."""

    @property
    def cell(self) -> int:
        """Pixels of a side of a cell."""
        return int(2 ** len(self.channels))

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that pictures are resized to."""
        return self.image_width, self.image_height

    def check(self, where: str) -> None:
        """What the convolutions need."""
        fits = len(self.channels) in (3, 4) and min(self.channels) > 0
        wanted = "three or four numbers above 0, one a convolution"
        require(where, "vision.channels", self.channels, fits, wanted)
        check_cells(self, self.cell, where)
