"""Settings of a pool of drawn triples as a recipe's data, and the checks of these settings."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require, require_not_negative, require_used
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings
from whatchanged.recipes.visions import kinds_that


@dataclass(frozen=True)
class PoolConfig(DataSettings):
    """Drawn triples of pictures with ground truth. Each ordered pair of a triple is an example.

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
    With "", captions are split into words.
    """
    wording: str = "captions"
    """The choice of training captions. "captions": a caption is drawn at each visit. Any other value is the
    name of a fixed wording of the world. Each pair then gets the one sentence of this wording.
    """
    ordered_pairs: Literal["official", "all", "balanced"] = "official"
    """The pairs of a triple that are examples: the two official pairs, all six pairs, or all six pairs with
    the unchanged pairs twice.
    """
    augment: Literal["examples", "batches"] = "examples"
    """How pictures are augmented. "examples": each picture separately on the CPU, when the picture is read.
    "batches": whole batches on the device that trains, which is faster with a GPU and draws different random
    numbers.
    """
    validation: int = 400
    """Number of validation pairs on which the metric is measured, from the first tenth of the triples. 0: all
    pairs of this tenth.
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
        """Return these settings with other folders."""
        return replace(self, path=path, tokens=stored)

    def without_folders(self) -> "PoolConfig":
        """Return these settings without the folders and CLIP's merges file."""
        return replace(self.with_folders("", ""), merges="")

    def as_pictures(self) -> "PoolConfig":
        """Return settings that read the pictures of the same triples, without stored tokens."""
        return replace(self, tokens="", merges="")

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks that a pool of drawn triples can provide what the recipe needs."""
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
