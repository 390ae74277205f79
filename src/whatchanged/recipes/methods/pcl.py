"""PCL's settings: sizes, switches, and which stages use them."""

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

UNUSED_WITHOUT: Mapping[str, tuple[str, ...]] = {
    "mvcl": ("mvcl_temperature",),
    "fda": ("fda_temperature", "negatives"),
    "caption": ("every_word",),
}
"""Task -> the settings that only it uses."""


@dataclass(frozen=True)
class PCLConfig(MethodSettings):
    """PCL's sizes and switches."""

    implementation: ClassVar[str] = "whatchanged.training.methods.pcl:PCL"
    weights_loader: ClassVar[str] = "whatchanged.training.weights.pcl_weights:load_pcl"
    weights_words: ClassVar[str] = "whatchanged.training.weights.pcl_weights:pcl_words"

    name: str = "pcl"
    preset: Literal["paper", "authors"] = "paper"
    max_length: int = 40
    width: int = 512
    """Of every token and word."""
    heads: int = 8
    """Of each attention; they share the width."""
    ffn: int = 2048
    """Width of the feed-forward layers."""
    single_layers: int = 1
    """Layers that read one picture alone."""
    pair_layers: int = 1
    """Layers that read both pictures."""
    cross_layers: int = 3
    """Layers that read both pictures with the words."""
    dropout: float = 0.2
    """Share of the activations that training sets to 0."""
    mvcl_temperature: float = 1.0
    """Similarities are divided by this (task mvcl)."""
    fda_temperature: float = 1.0
    """Likewise (task fda)."""
    negatives: int = 6
    """False captions of a pair (task fda)."""
    difference_encoder: bool = True
    """Whether each picture, then both, are encoded before they are read with the words."""
    distractor_judging: bool = True
    """Whether captioning also learns to tell changed pairs from unchanged ones."""
    every_word: bool = False
    """Captioning learns every word of a caption in each pass instead of a masked 15 %. Not published."""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Masked words, masked patches, false captions (pre-training), and captioning."""
        return {
            "mlm": Task(2),
            "mvcl": Task(3),
            "fda": Task(4, false_captions=self.negatives),
            "caption": Task(5),
        }

    @property
    def guidable(self) -> bool:
        """Where each pass asks for every word."""
        return self.every_word

    @property
    def text_positions(self) -> int:
        """Ids of the longest text that is read, padding included."""
        return self.max_length

    def longest_caption(self, single: bool = False) -> int:
        """Words that fit between BOS and EOS with one PAD behind them, as in the released code."""
        return self.max_length - 3

    def check(self, recipe: Recipe, where: str) -> None:
        """Sizes, and settings that no stage of the recipe uses."""
        check_width(where, "method.width", self.width, "method.heads", self.heads)
        require_positive(where, "method.", self, "ffn", "cross_layers", "negatives")
        require_positive(where, "method.", self, "mvcl_temperature", "fda_temperature")
        require_not_negative(where, "method.", self, "single_layers", "pair_layers")
        used = {task for stage in recipe.stages for task in stage.tasks}
        own = bool(used & self.tasks.keys())
        check_dropout(where, self, own, f"a stage with one of the tasks {', '.join(self.tasks)}")
        for task, keys in UNUSED_WITHOUT.items():
            require_used(where, "method.", self, task in used, f"a stage with the task {task}", *keys)
        by = "method.difference_encoder = true"
        require_used(where, "method.", self, self.difference_encoder, by, "single_layers", "pair_layers")
        for stage in recipe.stages:
            fits = "fda" not in stage.tasks or stage.batch > self.negatives
            wanted = "more than method.negatives: a batch of the task fda holds batch / (negatives + 1) pairs"
            require(where, f"stage.{stage.name}.batch", stage.batch, fits, wanted)
