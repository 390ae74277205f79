"""Settings of CLIP4IDC and its two baselines: sizes of CLIP and of the captioner, and what is frozen."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import (
    check_dropout,
    check_width,
    require,
    require_length,
    require_not_negative,
    require_positive,
    require_used,
)
from whatchanged.recipes.methods import MethodSettings, Task
from whatchanged.recipes.schema import Recipe

MOVES_LITTLE = 1e-6
"""A learning rate so small that it only suits trained weights."""


@dataclass(frozen=True)
class CLIP4IDCConfig(MethodSettings):
    """CLIP4IDC's sizes and switches. The defaults are the sizes of CLIP ViT-B/32 with the authors' captioner.

    ``width``, ``heads`` and ``ffn`` are the sizes of the picture blocks.
    """

    implementation: ClassVar[str] = "whatchanged.training.methods.clip4idc:CLIP4IDC"
    weights_loader: ClassVar[str] = "whatchanged.training.weights.clip_weights:load_clip"

    name: str = "clip4idc"
    preset: Literal["paper", "authors"] = "authors"
    max_length: int = 33
    """The most ids of a decoded caption, BOS included. This is one more than the number of decoding steps."""
    variant: Literal["clip4idc", "ft1", "ft2"] = "clip4idc"
    """The variant: CLIP4IDC itself, or one of its two baselines. The baselines have no inter blocks and no
    retrieval.
    """
    width: int = 768
    """Width of the picture blocks' tokens."""
    heads: int = 12
    """Number of attention heads in the picture blocks."""
    ffn: int = 3072
    """Inner width of the picture blocks' feed-forward parts."""
    intra_layers: int = 9
    """Number of blocks that read one picture alone."""
    inter_layers: int = 3
    """Number of blocks that read both pictures."""
    text_width: int = 512
    """Width of the text tower's word vectors."""
    text_heads: int = 8
    """Number of attention heads in the text tower."""
    text_ffn: int = 2048
    """Inner width of the text tower's feed-forward parts."""
    text_layers: int = 12
    """Number of blocks in the text tower."""
    context: int = 77
    """Rows of the text tower's table of positions."""
    joint_width: int = 512
    """Width of the joint embedding space of pairs and captions."""
    decoder_width: int = 512
    """Width of the captioner's word vectors."""
    decoder_heads: int = 8
    """Number of attention heads in the captioner."""
    decoder_ffn: int = 2048
    """Inner width of the captioner's feed-forward parts."""
    decoder_layers: int = 3
    """Number of the captioner's blocks."""
    dropout: float = 0.1
    """Share of the captioner's activations that training sets to 0."""
    activation: Literal["quick_gelu", "gelu"] = "quick_gelu"
    """CLIP's activation function: the quick GELU for OpenAI's and LAION-400M's weights, the exact GELU for
    LAION-2B's and DataComp's weights.
    """
    max_words: int = 32
    """Text length in training, including [start] or [end]."""
    freeze: bool = True
    """With preset ``authors``: CLIP's tables and first layers do not learn. Set ``freeze`` to false for a
    model without CLIP's weights.
    """
    train_words: bool = False
    """With ``freeze``: captioning still trains the word table, as the authors do on Spot-the-Diff."""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the tasks: retrieval, which the baselines lack, and captioning."""
        captioning = {"caption": Task(5)}
        return {"retrieval": Task(7), **captioning} if self.embeds_captions else captioning

    @property
    def embeds_captions(self) -> bool:
        """Whether this variant embeds captions. CLIP4IDC embeds captions, and its two baselines do not."""
        return self.variant == "clip4idc"

    @property
    def guidable(self) -> bool:
        """True, because each forward pass predicts every word."""
        return True

    def longest_caption(self, single: bool = False) -> int:
        """Return the number of words, or subwords, between [start] and [end]."""
        return self.max_words - 2

    def expects_weights(self, recipe: Recipe) -> str:
        """Return the reason why this recipe needs CLIP's weights: frozen tables, or tiny learning rates for
        CLIP's parameters.
        """
        results = []
        if self.preset == "authors" and self.freeze:
            results.append("keeps tables and first layers as they are (method.freeze)")
        for stage in recipe.stages:
            rate = stage.lr * stage.rates.get("clip", 1.0)
            if rate == 0:
                results.append(f"leaves CLIP's part as it is in stage {stage.name}")
            elif rate <= MOVES_LITTLE:
                results.append(f"moves the rest at {rate:.0e} in stage {stage.name}")
        return " and ".join(results)

    def groups(self, tasks: Collection[str]) -> tuple[str, ...]:
        """Return the parameter groups: CLIP's tensors, the tensors that join the two pictures, and the
        captioner.
        """
        own = self.tasks.keys() & set(tasks)
        if not own:
            return ()
        new = ("new",) if self.embeds_captions else ()
        captioner = ("captioner",) if "caption" in own else ()
        return ("clip", *new, *captioner)

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks the sizes, and that each switch has an effect."""
        self._check_sizes(where)
        captions = any("caption" in stage.tasks for stage in recipe.stages)
        check_dropout(where, self, captions, "a stage with the task caption")
        tower = self.variant != "ft2"
        by = "a text tower: the variants clip4idc and ft1 have one"
        require_used(where, "method.", self, tower, by, "text_heads", "text_ffn", "text_layers")
        released = self.preset == "authors"
        require_used(where, "method.", self, released, 'method.preset = "authors"', "freeze")
        by = 'a frozen word table: method.preset = "authors", method.freeze, a variant with a text tower'
        require_used(where, "method.", self, released and self.freeze and tower, by, "train_words")
        require_used(where, "method.", self, captions, "a stage with the task caption", "train_words")

    def _check_sizes(self, where: str) -> None:
        """Checks that sizes divide one another, and that words fit into their tables."""
        for part in ("", "decoder_", "text_"):
            width, heads = f"{part}width", f"{part}heads"
            values = getattr(self, width), getattr(self, heads)
            check_width(where, f"method.{width}", values[0], f"method.{heads}", values[1])
        require_positive(where, "method.", self, "ffn", "intra_layers", "text_ffn", "text_layers")
        require_positive(where, "method.", self, "joint_width", "decoder_ffn", "decoder_layers")
        require_not_negative(where, "method.", self, "inter_layers")
        require_length(where, "method.context", self.context)
        fits = 3 <= self.max_words <= self.context
        require(where, "method.max_words", self.max_words, fits, f"3 to method.context ({self.context})")
        fits = self.max_length <= self.context + 1
        wanted = f"at most method.context + 1 ({self.context + 1})"
        require(where, "method.max_length", self.max_length, fits, wanted)
        tied = self.variant != "clip4idc" or self.preset == "authors"
        fits = not tied or self.decoder_width == self.text_width
        wanted = f"method.text_width ({self.text_width}), since CLIP's word vectors enter the captioner"
        require(where, "method.decoder_width", self.decoder_width, fits, wanted)
