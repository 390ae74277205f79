"""No vision, for methods that read no tokens."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.visions import VisionSettings


@dataclass(frozen=True)
class NoVision(VisionSettings):
    """None, for a method that reads no tokens: what it reads of a pair is its own."""

    gives_tokens: ClassVar[bool] = False

    kind: Literal["none"] = "none"

    def check(self, where: str) -> None:
        """There is nothing to check."""
