"""The data of a run, which every source of examples returns: a data set on disk, or a pool.

To add a source, write a settings class in ``recipes/sources/``. The attribute ``opener`` of this class gives
a function that takes the recipe and the run's folder and returns ``Sources``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import StageConfig
from whatchanged.training.batches import Source
from whatchanged.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sources:
    """The data of a run: training examples, one validation example per pair, and the vocabulary."""

    train: Source
    validation: Source
    vocabulary: Vocabulary
    no_change_captions: tuple[str, ...] = ()
    """The captions that occur only in pairs known to be unchanged, the most frequent caption first."""
    single: Source | None = None
    """One example for each caption of a single picture; None if no stage reads single pictures."""
    labelled: Source | None = None
    """Pairs of labelled pictures; None if no task reads labelled pictures."""
    own: Mapping[str, Source] = field(default_factory=dict)
    """A mapping from a stage name to the stage's examples, for stages that set ``examples`` or
    ``changed_only``.
    """
    longest_caption: int = 0
    """The number of token ids of the longest caption (``Preparation.longest``); 0 if this number is unknown.
    """

    def of(self, stage: StageConfig, tasks: Mapping[str, Task]) -> Mapping[str, Source]:
        """Return the source that each task of a stage reads. tasks: the tasks of the recipe."""
        captioned = self.own.get(stage.name, self.train)
        if stage.data == "single" and self.single is not None:
            captioned = self.single
        labelled = captioned if self.labelled is None else self.labelled
        return {name: labelled if tasks[name].reads == "labelled" else captioned for name in stage.tasks}

    def changed(self, change: Callable[[Source], Source]) -> "Sources":
        """Return these sources after ``change`` was applied to each training source."""
        single, labelled = (None if one is None else change(one) for one in (self.single, self.labelled))
        own = {name: change(source) for name, source in self.own.items()}
        return replace(self, train=change(self.train), single=single, labelled=labelled, own=own)
