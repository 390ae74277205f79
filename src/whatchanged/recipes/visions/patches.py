"""The vision of square patches of pixels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import check_multiples, require_positive
from whatchanged.recipes.visions import VisionSettings


@dataclass(frozen=True)
class PatchesConfig(VisionSettings):
    """The pixels themselves, in square patches of ``patch`` pixels a side."""

    implementation: ClassVar[str] = "whatchanged.training.vision.patches:PatchVision"

    kind: Literal["patches"] = "patches"
    image_width: int = 224
    """Pixels that pictures are resized to."""
    image_height: int = 224
    """Likewise."""
    patch: int = 32
    """Pixels of a side of a patch: one token."""

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that pictures are resized to."""
        return self.image_width, self.image_height

    def check(self, where: str) -> None:
        """Whole patches fill the picture."""
        require_positive(where, "vision.", self, "patch")
        check_multiples(where, "vision.", self, ("image_width", "image_height"), self.patch, "vision.patch")
