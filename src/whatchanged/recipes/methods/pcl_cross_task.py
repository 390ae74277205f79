"""Settings of PCL's cross-task training: the settings of PCL, and the settings for single and for labelled
pictures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from whatchanged.recipes.checks import (
    require,
    require_length,
    require_not_negative,
    require_positive,
    require_used,
)
from whatchanged.recipes.methods import Task
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.schema import Recipe


@dataclass(frozen=True)
class PCLCrossTaskConfig(PCLConfig):
    """PCL with its cross-task data: single pictures with captions, and pictures with class labels."""

    implementation: ClassVar[str] = "whatchanged.training.methods.pcl_cross_task:PCLCrossTask"

    name: str = "pcl-cross-task"
    classes: int = 0
    """Number of classes of the labelled pictures (task fgvc). With 0, no classifier is built."""
    margin: float = 0.4
    """The margin of the task fgvc: two pictures of different classes cost nothing while their cosine is at
    most this margin.
    """
    single_length: int = 40
    """The ``max_length`` for captions of single pictures."""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the tasks of PCL and the classification of labelled pictures.

        Pre-training also reads single pictures.
        """
        own = super().tasks
        single = {name: replace(own[name], single_pictures=True) for name in ("mlm", "mvcl", "fda")}
        return {**own, **single, "fgvc": Task(8, reads="labelled", single_pictures=True)}

    @property
    def labelled_classes(self) -> int:
        """The number of classes of the labelled pictures."""
        return self.classes

    @property
    def text_positions(self) -> int:
        """The number of text positions of PCL, or of the captions of single pictures, whichever is larger."""
        return max(self.max_length, self.single_length)

    def longest_caption(self, single: bool = False) -> int:
        """Return the largest number of words that training reads of a caption. ``single_length`` determines
        this number for captions of single pictures.
        """
        return (self.single_length if single else self.max_length) - 3

    def check(self, recipe: Recipe, where: str) -> None:
        """Checks PCL's settings, and the requirements of the two additional kinds of data."""
        super().check(recipe, where)
        labelled = any("fgvc" in stage.tasks for stage in recipe.stages)
        single = any(stage.data == "single" for stage in recipe.stages)
        wanted = '"pcl": no stage reads single pictures (data = "single") or labelled ones (the task fgvc)'
        require(where, "method.name", self.name, labelled or single, wanted)
        require_not_negative(where, "method.", self, "classes")
        require_positive(where, "method.", self, "margin")
        require_length(where, "method.single_length", self.single_length)
        known = self.classes > 1 or not labelled
        wanted = "2 or more, the number of classes of data.labelled, for the task fgvc"
        require(where, "method.classes", self.classes, known, wanted)
        require_used(where, "method.", self, labelled, "a stage with the task fgvc", "classes", "margin")
        require_used(where, "method.", self, single, 'a stage with data = "single"', "single_length")
