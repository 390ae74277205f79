"""Settings of DIRL + CCR: sizes and switches, and the checks of their combinations."""

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
class DirlConfig(MethodSettings):
    """DIRL's sizes and switches. A loss whose weight is 0 is not computed."""

    implementation: ClassVar[str] = "whatchanged.training.methods.dirl:DIRL"

    name: str = "dirl"
    preset: Literal["paper", "authors_dc", "authors_change"] = "authors_dc"
    """The reading of the method: the paper, or one of the two training scripts of the released code. The
    scripts for CLEVR-DC and for CLEVR-Change differ.
    """
    max_length: int = 40
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
    ffn: int = 2048
    """Inner width of the decoder's feed-forward parts."""
    projector_width: int = 2048
    """Inner width of the projector, which only the correlation loss uses."""
    dropout: float = 0.1
    """Share of the activations that training sets to 0."""
    decorrelation_weight: float = 0.03
    """Weight of the correlation loss (DIRL)."""
    off_diagonal: float = 0.003
    """Weight of the correlations between different channels, in the correlation loss."""
    epsilon: float = 1e-5
    """Number added to each channel's variance in the correlation loss, so that a constant channel causes no
    division by zero. The released code adds 0.
    """
    contrast_weight: float = 0.05
    """Weight of the loss that aligns sentences with pictures (CCR)."""
    temperature: float = 0.5
    """The temperature that divides CCR's scores."""
    pooling: Literal["words", "all"] = "words"
    """The positions over which CCR averages. "words": the words and both marks. "all": also the padding, as
    in the released code.
    """

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the only task: captioning, with DIRL's and CCR's losses."""
        return {"caption": Task(5)}

    @property
    def compares_by_place(self) -> bool:
        """True, because token n of one picture is combined with token n of the other picture."""
        return True

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks the sizes, and the combinations of switches."""
        check_width(where, "method.width", self.width, "method.heads", self.heads)
        sizes = ("word_width", "layers", "decoder_layers", "ffn", "projector_width", "temperature")
        require_positive(where, "method.", self, *sizes)
        weights = ("decorrelation_weight", "off_diagonal", "epsilon", "contrast_weight")
        require_not_negative(where, "method.", self, *weights)
        for key in ("width", "word_width"):
            value = getattr(self, key)
            wanted = "an even number: half of it is a position's"
            require(where, f"method.{key}", value, value % 2 == 0, wanted)
        used, by = any("caption" in stage.tasks for stage in recipe.stages), "a stage with the task caption"
        check_dropout(where, self, used, by)
        require_used(where, "method.", self, used, by, "decorrelation_weight", "contrast_weight")
        used, by = self.decorrelation_weight > 0, "method.decorrelation_weight above 0"
        require_used(where, "method.", self, used, by, "off_diagonal", "epsilon", "projector_width")
        used, by = self.contrast_weight > 0, "method.contrast_weight above 0"
        require_used(where, "method.", self, used, by, "temperature", "pooling")
        wanted = "0: DIRL compares the pictures cell by cell, so it needs all cells, or vision.aligned"
        kept = getattr(recipe.vision, "keep", 0)
        require(where, "vision.keep", kept, recipe.vision.tokens_correspond, wanted)
