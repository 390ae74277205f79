"""The settings of the recurrent toy method: torch-free, read by recipes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from whatchanged.recipes import MethodSettings, Recipe, Task, require_positive


@dataclass(frozen=True)
class ToyLSTMConfig(MethodSettings):
    """One width, and that is all."""

    implementation: ClassVar[str] = "toy_lstm.network:ToyLSTM"

    name: str = "toy-lstm"
    preset: str = "only"
    max_length: int = 12
    width: int = 24

    @property
    def tasks(self) -> Mapping[str, Task]:
        """One task; the number is the method's own, above those of the built-in tasks."""
        return {"toy-words": Task(102)}

    def check(self, recipe: Recipe, where: str) -> None:
        """The width is above 0."""
        require_positive(where, "method.", self, "width")
