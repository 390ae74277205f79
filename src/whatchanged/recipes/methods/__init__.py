"""Settings, tasks and checks of the methods, one file for each method. Nothing here imports torch.

To add a method, write a file with a class derived from ``MethodSettings``, and add a line to ``METHODS``. A
plug-in package registers its class under the entry-point group ``whatchanged.methods``.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from whatchanged.recipes.schema import Recipe

METHODS: Mapping[str, str] = {
    "pcl": "whatchanged.recipes.methods.pcl:PCLConfig",
    "pcl-cross-task": "whatchanged.recipes.methods.pcl_cross_task:PCLCrossTaskConfig",
    "scorer": "whatchanged.recipes.methods.scorer:ScorerConfig",
    "clip4idc": "whatchanged.recipes.methods.clip4idc:CLIP4IDCConfig",
    "duda": "whatchanged.recipes.methods.duda:DudaConfig",
    "dirl": "whatchanged.recipes.methods.dirl:DirlConfig",
}
"""``method.name`` -> "module:class" of its settings, imported when a recipe names it."""


@dataclass(frozen=True)
class Task:
    """The requirements of one task of a stage.

    number: a part of the seed of the task's examples. This number must never change, because a changed seed
    would draw other examples.
    reads: whether the task reads captioned pairs or two labelled pictures.
    false_captions: how many false captions each pair must have.
    single_pictures: the task can also read single captioned pictures.
    truth: the task learns from the ground truth of drawn pairs.
    vision_only: the task trains only the vision. It needs pictures, not stored tokens.
    """

    number: int
    reads: Literal["pairs", "labelled"] = "pairs"
    false_captions: int = 0
    single_pictures: bool = False
    truth: bool = False
    vision_only: bool = False


@dataclass(frozen=True)
class MethodSettings(ABC):
    """Settings that all methods share. A subclass adds fields: the keys of ``[method]``.

    implementation: "module:Class" of the torch module, which only training imports. The module is built with
    (settings, vision, vocabulary).
    """

    implementation: ClassVar[str] = ""
    weights_loader: ClassVar[str] = ""
    """"module:function" that starts a method from a file of published weights (``--init FILE``). "": no such
    function exists.
    """
    weights_words: ClassVar[str] = ""
    """"module:function": weights file -> the vocabulary of this file, which the run then uses. "": the run
    uses the words of its data.
    """

    name: str
    """The name of the method (comment below)."""
    preset: str
    """The reading of the method: "paper" follows the paper's text, "authors" follows the authors' released
    code.
    """
    max_length: int
    """The number of ids of the longest caption, including its begin and end marks."""

    @property
    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """Return the tasks of the method by name, without the tasks of the vision."""

    @property
    def caption_tasks(self) -> frozenset[str]:
        """Return the tasks that train the method to write captions. A run can caption once it has trained one
        of these tasks.

        The result is "caption", or all tasks of a method that has no task called "caption".
        """
        return frozenset({"caption"} & self.tasks.keys() or self.tasks)

    @property
    def embeds_captions(self) -> bool:
        """Whether pairs and captions can be ranked by similarity (metric R@1, ``whatchanged retrieve``)."""
        return False

    @property
    def guidable(self) -> bool:
        """Whether captioning computes the attention of each word, so that a vision can train it."""
        return False

    @property
    def compares_by_place(self) -> bool:
        """Whether the method compares token n of one picture with token n of the other."""
        return False

    @property
    def labelled_classes(self) -> int:
        """Number of classes in the task on labelled pictures; 0 where there is no such task."""
        return 0

    def groups(self, tasks: Collection[str]) -> tuple[str, ...]:
        """Return the names of the parameter groups that these tasks train. ``stage.rates`` may contain these
        names.

        tasks: the tasks of a stage that are not ``vision_only``, at least one task. The vision's group is not
        listed.
        """
        return ("method",)

    def longest_caption(self, single: bool = False) -> int:
        """Return the largest number of words that training reads of a caption. single: whether the caption
        describes a single picture.
        """
        return self.max_length - 2

    def expects_weights(self, recipe: "Recipe") -> str:
        """Return the reason why a recipe makes sense only with published weights; "" if the recipe does not
        need published weights.
        """
        return ""

    def check(self, recipe: "Recipe", where: str) -> None:  # noqa: B027 - a method may have nothing to check
        """Raise RecipeError at the first setting that does not fit (``recipes.checks`` has helpers)."""
