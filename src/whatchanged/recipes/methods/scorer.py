"""Settings of SCORER + CBR: sizes and switches, and the checks of their combinations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import (
    check_dropout,
    check_width,
    require,
    require_not_negative,
    require_positive,
    require_used,
)
from whatchanged.recipes.methods import MethodSettings, Task
from whatchanged.recipes.schema import Recipe


@dataclass(frozen=True)
class ScorerConfig(MethodSettings):
    """SCORER's sizes and switches. A contrastive loss whose weight is 0 is not computed."""

    implementation: ClassVar[str] = "whatchanged.training.methods.scorer:SCORER"
    weights_loader: ClassVar[str] = "whatchanged.training.weights.scorer_weights:load_scorer"
    weights_words: ClassVar[str] = "whatchanged.training.weights.scorer_weights:scorer_words"

    name: str = "scorer"
    preset: Literal["paper", "authors"] = "paper"
    max_length: int = 24
    repaired: tuple[Literal["train_reasoning", "mean_sentence"], ...] = ()
    """Mistakes of the preset ``authors`` to repair. "train_reasoning" repairs that CBR does not learn.
    "mean_sentence" repairs that CBR's sentence vector is not a true mean.
    """
    difference: Literal["reconstruct", "subtract"] = "reconstruct"
    """How the pictures are compared: each picture is reconstructed from the other picture, or the pictures
    are subtracted.
    """
    fusion: Literal["concatenate", "sum", "product", "apart"] = "concatenate"
    """How both reconstructed pictures become one difference. "apart": the reconstructed pictures stay
    separate, and words attend to each picture.
    """
    matching: Literal["tokens", "max", "mean"] = "tokens"
    """The inputs of both contrastive losses: tokens, or the maximum or mean over each picture's tokens."""
    heads_combined: Literal["sum", "mean"] = "sum"
    """How the similarities of all heads become one similarity. Used with the preset ``paper``, which compares
    per head.
    """
    view_loss: Literal["contrast", "distance"] = "contrast"
    """The loss that aligns views: a contrast with the views of other pairs, or only the distance (L2) within
    a pair.
    """
    width: int = 512
    """Width of every token."""
    word_width: int = 300
    """Width of a word vector."""
    heads: int = 8
    """Number of heads in each attention. The heads divide the width among them."""
    layers: int = 2
    """Number of cross-attention layers between the pictures."""
    decoder_layers: int = 2
    """Number of decoder layers."""
    dropout: float = 0.1
    """Share of the activations that training sets to 0."""
    view_weight: float = 0.1
    """Weight lambda_v of the view-alignment loss."""
    reason_weight: float = 0.001
    """Weight lambda_m of the cross-modal backward reasoning."""
    temperature: float = 1.0
    """The temperature that divides matching scores in the preset ``paper``. The preset ``authors`` learns a
    factor instead and accepts only the default.
    """

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the only task: captioning, with both contrastive losses."""
        return {"caption": Task(5)}

    @property
    def guidable(self) -> bool:
        """True, because each forward pass predicts every word."""
        return True

    @property
    def compares_by_place(self) -> bool:
        """True, because token n of one picture is combined with token n of the other picture."""
        return True

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks the sizes, and the combinations of switches."""
        check_width(where, "method.width", self.width, "method.heads", self.heads)
        require_positive(where, "method.", self, "word_width", "decoder_layers", "temperature")
        require_not_negative(where, "method.", self, "layers", "view_weight", "reason_weight")
        for key in ("width", "word_width"):
            value = getattr(self, key)
            wanted = "an even number: half of it is a position's"
            require(where, f"method.{key}", value, value % 2 == 0, wanted)
        used = any("caption" in stage.tasks for stage in recipe.stages)
        check_dropout(where, self, used, "a stage with the task caption")
        by = "a stage with the task caption"
        require_used(where, "method.", self, used, by, "view_weight", "temperature")
        self._check_difference(where)
        self._check_repaired(where)
        wanted = "0: SCORER compares the pictures cell by cell, so it needs all cells, or vision.aligned"
        kept = getattr(recipe.vision, "keep", 0)
        require(where, "vision.keep", kept, recipe.vision.tokens_correspond, wanted)

    def _check_difference(self, where: str) -> None:
        """Checks the settings that depend on ``difference`` (reconstruction or subtraction) and on the
        contrastive losses.
        """
        subtract = self.difference == "subtract"
        wanted = '0 with method.difference = "subtract", which matches no views: --set method.view_weight=0'
        require(where, "method.view_weight", self.view_weight, not subtract or self.view_weight == 0, wanted)
        wanted = 'a number above 0 with method.difference = "reconstruct"'
        require(where, "method.layers", self.layers, subtract or self.layers > 0, wanted)
        by = 'method.difference = "reconstruct"'
        require_used(where, "method.", self, not subtract, by, "layers", "fusion")
        by = "method.view_weight above 0"
        require_used(where, "method.", self, self.view_weight > 0, by, "view_loss")
        contrasts = (self.view_weight > 0 and self.view_loss == "contrast") or self.reason_weight > 0
        by = "method.view_weight or method.reason_weight above 0"
        if self.view_weight > 0:
            by += ', or with method.view_loss = "contrast"'
        require_used(where, "method.", self, contrasts, by, "temperature", "matching", "heads_combined")
        by = 'method.preset = "paper", which matches by heads'
        require_used(where, "method.", self, self.preset == "paper", by, "heads_combined")
        learned = self.preset == "authors"
        wanted = '1 with method.preset = "authors", which learns a factor instead'
        require(where, "method.temperature", self.temperature, self.temperature == 1 or not learned, wanted)

    def _check_repaired(self, where: str) -> None:
        """Checks that each repaired mistake exists and is listed once."""
        by = 'method.preset = "authors": the paper\'s reading has no mistakes to mend'
        require_used(where, "method.", self, self.preset == "authors", by, "repaired")
        by = "method.reason_weight above 0: both mistakes are in its loss"
        require_used(where, "method.", self, self.reason_weight > 0, by, "repaired")
        once = len(set(self.repaired)) == len(self.repaired)
        require(where, "method.repaired", self.repaired, once, "each name once")
