"""Where a recipe's examples come from: a data set on disk, with pictures or precomputed features, or a pool.

To add a source: a module with a function ``(Recipe, run folder) -> Sources``, and a line in ``SOURCES``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import cast, get_args

from whatchanged.bpe import read_merges
from whatchanged.errors import RecipeError
from whatchanged.recipes.schema import Recipe, StageConfig, Task
from whatchanged.training.batches import Source, Sourced
from whatchanged.vocabulary import Vocabulary

SOURCES: Mapping[str, str] = {
    "dataset": "whatchanged.training.data.dataset_source:open_dataset_sources",
    "pool": "whatchanged.training.objects.pool_source:open_pool",
}


@dataclass(frozen=True)
class Sources:
    """What a run reads: examples to train on, one per pair to validate on, and the words."""

    train: Source
    validation: Source
    vocabulary: Vocabulary
    single: Source | None = None
    """One item per caption of single pictures, where a stage reads them."""
    labelled: Source | None = None
    """Pairs of labelled pictures, where a stage has the task fgvc."""
    own: Mapping[str, Source] = field(default_factory=dict)
    """Examples of the stages, by name, that cut the pairs in a way of their own."""

    def of(self, stage: StageConfig) -> Sourced:
        """What the tasks of a stage read."""
        own = self.own.get(stage.name, self.train)
        own = own if stage.data == "pairs" or self.single is None else self.single
        if self.labelled is None:
            return own
        return {task: self.labelled if task == "fgvc" else own for task in get_args(Task)}


def open_sources(recipe: Recipe, run: Path) -> Sources:
    """The sources that ``data.source`` names; what is costly to make is kept in the run folder.

    ``data.merges`` replaces the source's words with CLIP's pieces.
    """
    if recipe.data.source != "dataset" and recipe.data.preparation != "none":
        raise RecipeError(
            f'{recipe.name}: data.preparation = "{recipe.data.preparation}" is for captions on disk;'
            ' drawn captions have no other words. Use "none".'
        )
    alone = [stage.name for stage in recipe.stages if stage.data == "single"]
    if recipe.data.source != "dataset" and alone:
        raise RecipeError(
            f'{recipe.name}: stage {alone[0]} reads single pictures (data = "single"), which a pool has none'
            ' of. Use data = "pairs", or data.source = "dataset".'
        )
    module, _, name = SOURCES[recipe.data.source].partition(":")
    sources = cast(Sources, getattr(import_module(module), name)(recipe, run))
    if recipe.data.merges:
        sources = replace(sources, vocabulary=read_merges(Path(recipe.data.merges)))
    return sources
