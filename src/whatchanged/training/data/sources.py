"""Opens the source of a recipe's examples: a data set on disk, with pictures or stored features, or a pool.

To add a source, write its settings in ``recipes/sources/``. They name a function that takes the recipe and
the run's folder and returns ``Sources``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from whatchanged.bpe import read_merges
from whatchanged.plugins import imported
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.training.batches import Source
from whatchanged.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sources:
    """What a run reads: training examples, one validation example per pair, and the vocabulary."""

    train: Source
    validation: Source
    vocabulary: Vocabulary
    no_change_captions: tuple[str, ...] = ()
    """The captions that only pairs known to be unchanged have, the most frequent first."""
    single: Source | None = None
    """One example for each caption of a single picture; None if no stage reads them."""
    labelled: Source | None = None
    """Pairs of labelled pictures; None if no task reads them."""
    own: Mapping[str, Source] = field(default_factory=dict)
    """A mapping from a stage name to its examples, for stages that set ``examples`` or ``changed_only``."""
    longest_caption: int = 0
    """The number of token ids of the longest caption (``Preparation.longest``); 0 if it is unknown."""

    def of(self, stage: StageConfig, tasks: Mapping[str, Task]) -> Mapping[str, Source]:
        """The source that each task of a stage reads. tasks: the tasks of the recipe."""
        captioned = self.own.get(stage.name, self.train)
        if stage.data == "single" and self.single is not None:
            captioned = self.single
        labelled = captioned if self.labelled is None else self.labelled
        return {name: labelled if tasks[name].reads == "labelled" else captioned for name in stage.tasks}

    def changed(self, change: Callable[[Source], Source]) -> "Sources":
        """The same, with each training source replaced by what ``change`` returns for it."""
        single, labelled = (None if one is None else change(one) for one in (self.single, self.labelled))
        own = {name: change(source) for name, source in self.own.items()}
        return replace(self, train=change(self.train), single=single, labelled=labelled, own=own)


def open_sources(recipe: Recipe, run: Path) -> Sources:
    """Open the sources that ``data.source`` names. False captions are saved in the run folder; they take
    long.

    With ``data.merges`` the vocabulary is CLIP's byte pairs instead of the words of the data. Raises
    RecipeError or DatasetError where the data does not fit the recipe.
    """
    sources: Sources = imported(recipe.data.opener)(recipe, run)
    if recipe.data.merges:
        sources = replace(sources, vocabulary=read_merges(Path(recipe.data.merges)), longest_caption=0)
    return sources
