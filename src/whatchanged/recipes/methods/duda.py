"""DUDA's settings: sizes, switches, and which of them go together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import (
    check_dropout,
    require,
    require_not_negative,
    require_positive,
    require_used,
)
from whatchanged.recipes.methods import MethodSettings, Task
from whatchanged.recipes.schema import Recipe


@dataclass(frozen=True)
class DudaConfig(MethodSettings):
    """DUDA's sizes and switches; a loss whose weight is 0 is not computed."""

    implementation: ClassVar[str] = "whatchanged.training.methods.duda:DUDA"

    name: str = "duda"
    preset: Literal["paper", "authors"] = "authors"
    max_length: int = 24
    attention_width: int = 128
    """Of the network that attends to the pictures."""
    norm_groups: int = 32
    """Of its normalisation."""
    view_width: int = 512
    """Of what the dynamic speaker reads of all three vectors of a pair."""
    hidden_width: int = 512
    """Of both LSTMs."""
    word_width: int = 300
    """Of a word's vector."""
    dropout: float = 0.5
    """Share of the activations that training sets to 0."""
    map_weight: float = 0.0025
    """Of the price of the attention maps."""
    entropy_weight: float = 0.0001
    """Of the bonus for dynamic attention that is spread out; the released code has 0 by default."""
    regularise: Literal["changed", "all"] = "changed"
    """Of whole scenes: which pairs these two losses read."""
    allow_marks: bool = False
    """Whether the marks of an unknown word and of a sentence's begin may be written, as in the code."""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """One task: captioning, with the price and the bonus on attention."""
        return {"caption": Task(5)}

    @property
    def compares_by_place(self) -> bool:
        """Token n of the picture before is subtracted from token n of the one after."""
        return True

    def check(self, recipe: Recipe, where: str) -> None:
        """Sizes, and switches that only make sense together."""
        sizes = ("attention_width", "norm_groups", "view_width", "hidden_width", "word_width")
        require_positive(where, "method.", self, *sizes)
        require_not_negative(where, "method.", self, "map_weight", "entropy_weight")
        normed = self.preset == "authors"
        by = 'method.preset = "authors": the paper names no normalisation'
        require_used(where, "method.", self, normed, by, "norm_groups")
        wanted = f"a multiple of method.norm_groups ({self.norm_groups})"
        fits = not normed or self.attention_width % self.norm_groups == 0
        require(where, "method.attention_width", self.attention_width, fits, wanted)
        used, by = any("caption" in stage.tasks for stage in recipe.stages), "a stage with the task caption"
        check_dropout(where, self, used, by)
        require_used(where, "method.", self, used, by, "map_weight", "entropy_weight")
        self._check_regularise(recipe, where)
        wanted = "0: DUDA subtracts the pictures cell by cell, so it needs all cells, or vision.aligned"
        kept = getattr(recipe.vision, "keep", 0)
        require(where, "vision.keep", kept, recipe.vision.tokens_correspond, wanted)

    def _check_regularise(self, recipe: Recipe, where: str) -> None:
        """Something is regularised, and there are pairs of two kinds."""
        grouped = {getattr(recipe.data, "examples", ""), *(stage.examples for stage in recipe.stages)}
        scenes, weighs = "scenes" in grouped, self.map_weight > 0 or self.entropy_weight > 0
        by = 'data.examples = "scenes", and method.map_weight or method.entropy_weight above 0'
        require_used(where, "method.", self, scenes and weighs, by, "regularise")
