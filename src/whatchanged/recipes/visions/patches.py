"""Settings of the vision that cuts pictures into square patches of pixels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import check_multiples, require_positive
from whatchanged.recipes.visions import VisionSettings


@dataclass(frozen=True)
class PatchesConfig(VisionSettings):
    """The pixels themselves are the tokens: square patches with sides of ``patch`` pixels."""

    implementation: ClassVar[str] = "whatchanged.training.vision.patches:PatchVision"

    kind: Literal["patches"] = "patches"
    image_width: int = 224
    """The width in pixels to which pictures are resized."""
    image_height: int = 224
    """The height in pixels to which pictures are resized."""
    patch: int = 32
    """Side of a patch in pixels. Each patch is one token."""

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height to which pictures are resized."""
        return self.image_width, self.image_height

    def check(self, where: str) -> None:
        """Checks that whole patches fill the picture."""
        require_positive(where, "vision.", self, "patch")
        check_multiples(where, "vision.", self, ("image_width", "image_height"), self.patch, "vision.patch")
