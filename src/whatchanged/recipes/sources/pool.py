"""Settings of a pool of drawn triples as a recipe's data, and the checks of what it can give."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require, require_not_negative, require_used
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings
from whatchanged.recipes.visions import kinds_that


@dataclass(frozen=True)
class PoolConfig(DataSettings):
    """Drawn triples of pictures whose truth is known. Each ordered pair of a triple is an example.

    ``--data`` and ``--features`` on the command line set ``path`` and ``tokens``.
    """

    opener: ClassVar[str] = "whatchanged.training.objects.pool_source:open_pool"

    stored_key: ClassVar[str] = "tokens"
    needs: ClassVar[str] = "drawn scenes (whatchanged synth clevr-pool)"
    knows_scenes: ClassVar[bool] = True

    source: Literal["pool"] = "pool"
    path: str = ""
    """The pool's folder (``whatchanged synth clevr-pool``)."""
    tokens: str = ""
    """Folder of stored tokens (``whatchanged features POOL OUT --run RUN``). "": pictures are read."""
    merges: str = ""
    """CLIP's merges file (bpe_simple_vocab_16e6.txt.gz or merges.txt), which splits captions into subwords.
    "": captions are split into words.
    """
    wording: str = "captions"
    """"captions": a caption is drawn at each visit. Any other value names a fixed wording of the world: each
    pair gets the one sentence in it.
    """
    ordered_pairs: Literal["official", "all", "balanced"] = "official"
    """Which pairs of a triple are examples: the two official ones, all six, or all six with the unchanged
    ones twice.
    """
    augment: Literal["examples", "batches"] = "examples"
    """How pictures are augmented. "examples": one by one on the CPU, when they are read. "batches": whole
    batches on the device that trains, which is faster with a GPU and draws other random numbers.
    """
    validation: int = 400
    """Number of validation pairs on which the metric is measured, from the first tenth of the triples. 0:
    all of that.
    """

    @property
    def augments_batches(self) -> bool:
        """Whether ``augment`` is "batches"."""
        return self.augment == "batches"

    @property
    def stored(self) -> str:
        """The folder of tokens that were computed from the pictures beforehand."""
        return self.tokens

    def with_folders(self, path: str, stored: str) -> "PoolConfig":
        """The same data in other folders."""
        return replace(self, path=path, tokens=stored)

    def without_folders(self) -> "PoolConfig":
        """The same data without its folders and CLIP's merges file."""
        return replace(self.with_folders("", ""), merges="")

    def as_pictures(self) -> "PoolConfig":
        """The same triples, without stored tokens."""
        return replace(self, tokens="", merges="")

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks what a pool of drawn triples can give."""
        require_not_negative(where, "data.", self, "validation")
        wanted = 'another kind with data.source = "pool", which holds no grid features'
        require(where, "vision.kind", recipe.vision.kind, not recipe.vision.stored, wanted)
        able = kinds_that(lambda kind: kind.learns and not kind.stored)
        by = f"a vision that learns: vision.kind = {able}"
        require_used(where, "data.", self, recipe.vision.learns, by, "tokens")
        by = "pictures to read (data.tokens is set, and stored tokens come in variants)"
        require_used(where, "data.", self, not self.tokens, by, "augment")
        by = 'data.source = "dataset": the pairs of a pool are drawn'
        for stage in recipe.stages:
            prefix = f"stage.{stage.name}."
            require_used(where, prefix, stage, False, by, "examples", "exchange", "changed_only")
