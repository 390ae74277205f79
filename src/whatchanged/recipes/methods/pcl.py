"""Settings of PCL: sizes and switches, and checks that a stage uses each setting."""

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
"""A mapping from a task to the settings that only this task uses."""


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
    """Width of every token and word vector."""
    heads: int = 8
    """Number of heads in each attention. The heads divide the width among them."""
    ffn: int = 2048
    """Width of the feed-forward layers."""
    single_layers: int = 1
    """Number of layers that read one picture alone."""
    pair_layers: int = 1
    """Number of layers that read both pictures."""
    cross_layers: int = 3
    """Number of layers that read both pictures with the words."""
    dropout: float = 0.2
    """Share of the activations that training sets to 0."""
    mvcl_temperature: float = 1.0
    """The temperature that divides similarities in the task mvcl."""
    fda_temperature: float = 1.0
    """The temperature that divides similarities in the task fda."""
    negatives: int = 6
    """Number of false captions for each pair (task fda)."""
    difference_encoder: bool = True
    """Whether encoders read each picture, then both pictures, before the cross-modal layers read both
    pictures with the words.
    """
    distractor_judging: bool = True
    """Whether captioning also learns to distinguish changed pairs from unchanged pairs."""
    every_word: bool = False
    """Captioning predicts every word of a caption in each forward pass, instead of a masked 15 %. This option
    is not published.
    """

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the tasks: masked words, masked patches, false captions (these three for pre-training), and
        captioning.
        """
        return {
            "mlm": Task(2),
            "mvcl": Task(3),
            "fda": Task(4, false_captions=self.negatives),
            "caption": Task(5),
        }

    @property
    def guidable(self) -> bool:
        """Whether each forward pass predicts every word."""
        return self.every_word

    @property
    def text_positions(self) -> int:
        """The number of ids of the longest text that the method reads, padding included."""
        return self.max_length

    def longest_caption(self, single: bool = False) -> int:
        """Return the number of words that fit between BOS and EOS with one PAD at the end, as in the released
        code.
        """
        return self.max_length - 3

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks the sizes, and that some stage of the recipe uses each setting."""
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
