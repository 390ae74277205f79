"""The settings of the toy vision and of the toy source: torch-free, read by recipes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from whatchanged.recipes.checks import check_multiples, require, require_positive
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings
from whatchanged.recipes.visions import VisionSettings

COLUMNS, ROWS = 4, 3


@dataclass(frozen=True)
class ToyEyesConfig(VisionSettings):
    """A token a place that the square can be in: its mean color, and what a layer makes of that."""

    implementation: ClassVar[str] = "toy_vision.eyes:ToyEyes"
    planned: ClassVar[str] = "toy_vision.eyes:planned"

    learns: ClassVar[bool] = True
    truth_beside_pairs: ClassVar[bool] = True
    task_needs: ClassVar[Mapping[str, str]] = {
        "toy-find": 'vision.kind = "toy-eyes" with vision.finds = true'
    }

    kind: Literal["toy-eyes"] = "toy-eyes"
    image_width: int = 24
    image_height: int = 18
    numbers: int = 6  # of a token
    finds: bool = False  # the truth teaches it where the square is

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that pictures are resized to."""
        return self.image_width, self.image_height

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Where the square is; the number is the vision's own, above those of the built-in tasks."""
        return {"toy-find": Task(102, truth=True, vision_only=True)} if self.finds else {}

    def check(self, where: str) -> None:
        """Whole places, and numbers to make."""
        require_positive(where, "vision.", self, "numbers")
        check_multiples(where, "vision.", self, ("image_width",), COLUMNS, "the places in a row")
        check_multiples(where, "vision.", self, ("image_height",), ROWS, "the rows of places")

    def check_recipe(self, recipe: Recipe, where: str) -> None:
        """What finds squares is taught by a stage."""
        taught = any("toy-find" in stage.tasks for stage in recipe.stages)
        wanted = "false: no stage has the task toy-find"
        require(where, "vision.finds", self.finds, taught or not self.finds, wanted)


@dataclass(frozen=True)
class ToySquaresConfig(DataSettings):
    """Pairs of squares that are painted as they are read; nothing lies on disk."""

    opener: ClassVar[str] = "toy_vision.squares:open_squares"

    knows_scenes: ClassVar[bool] = True

    source: Literal["toy-squares"] = "toy-squares"
    path: str = ""  # of pairs that are judged by; not read to learn from
    pairs: int = 60
    unchanged: float = 0.3

    def with_folders(self, path: str, stored: str) -> "ToySquaresConfig":
        """The same squares; nothing is stored."""
        return replace(self, path=path)

    def as_pictures(self) -> "ToySquaresConfig":
        """They are pictures."""
        return self

    def check(self, recipe: Recipe, where: str) -> None:
        """Some pairs, of pictures."""
        require_positive(where, "data.", self, "pairs")
        require(where, "data.unchanged", self.unchanged, 0 <= self.unchanged <= 1, "a share")
        pixels = recipe.vision.picture_size is not None
        require(where, "vision.kind", recipe.vision.kind, pixels, "a kind that reads pictures")
