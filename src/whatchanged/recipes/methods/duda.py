"""Settings of DUDA: sizes and switches, and the checks of their combinations."""

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
    """DUDA's sizes and switches. A loss whose weight is 0 is not computed."""

    implementation: ClassVar[str] = "whatchanged.training.methods.duda:DUDA"

    name: str = "duda"
    preset: Literal["paper", "authors"] = "authors"
    max_length: int = 24
    attention_width: int = 128
    """Width of the network that computes the attention over pictures."""
    norm_groups: int = 32
    """Number of groups in the group normalisation of the attention network."""
    view_width: int = 512
    """Width of the vector that the dynamic speaker computes from all three vectors of a pair."""
    hidden_width: int = 512
    """Width of both LSTMs."""
    word_width: int = 300
    """Width of a word vector."""
    dropout: float = 0.5
    """Share of the activations that training sets to 0."""
    map_weight: float = 0.0025
    """Weight of the penalty on the attention maps."""
    entropy_weight: float = 0.0001
    """Weight of the bonus for dynamic attention of high entropy. The default in the released code is 0."""
    regularise: Literal["changed", "all"] = "changed"
    """The pairs of whole scenes that the map loss and the entropy loss read."""
    allow_marks: bool = False
    """Whether captions may contain the marks for an unknown word and for the begin of a sentence, as in the
    released code.
    """

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the only task: captioning, with two regularisers of the attention."""
        return {"caption": Task(5)}

    @property
    def compares_by_place(self) -> bool:
        """True, because token n of the picture before is subtracted from token n of the picture after."""
        return True

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks the sizes, and the combinations of switches."""
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
        """Checks that a regulariser is used, and that the data has both changed and unchanged pairs."""
        grouped = {getattr(recipe.data, "examples", ""), *(stage.examples for stage in recipe.stages)}
        scenes, weighs = "scenes" in grouped, self.map_weight > 0 or self.entropy_weight > 0
        by = 'data.examples = "scenes", and method.map_weight or method.entropy_weight above 0'
        require_used(where, "method.", self, scenes and weighs, by, "regularise")
