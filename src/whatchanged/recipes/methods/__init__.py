"""Settings, tasks and checks of the methods, one file for each method. Nothing here imports torch.

To add a method, write a file with a class derived from ``MethodSettings``, and add a line to ``METHODS``. A
package of its own names its class under the entry-point group ``whatchanged.methods``.
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
    """The needs of one task of a stage.

    number: part of the seed of the task's examples. It must never change: a later version would draw other
    examples.
    reads: captioned pairs, or two labelled pictures.
    false_captions: how many false captions each pair must have.
    single_pictures: the task can also read single captioned pictures.
    truth: the task learns from the truth of drawn pairs.
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

    implementation: "module:Class" of the torch module, which only training imports. It is built with
    (settings, vision, vocabulary).
    """

    implementation: ClassVar[str] = ""
    weights_loader: ClassVar[str] = ""
    """"module:function" that starts a method from a file of published weights (``--init FILE``); "": there
    is none.
    """
    weights_words: ClassVar[str] = ""
    """"module:function": file of weights -> the vocabulary of its ids, which the run then uses; "": the run
    uses the data's words.
    """

    name: str
    """Which method; see below."""
    preset: str
    """Which reading of the method: "paper" follows its text, "authors" its released code."""
    max_length: int
    """Ids of the longest caption, including its begin and end marks."""

    @property
    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """The method's own tasks by name."""

    @property
    def caption_tasks(self) -> frozenset[str]:
        """The tasks that train the method to write captions. A run can caption once it has trained one of
        them.

        This is "caption", or all tasks of a method without a task of that name.
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
        """Names of the parameter groups that these tasks train; ``stage.rates`` may name them.

        tasks: tasks of a stage that are not ``vision_only``, at least one. The vision's group is not listed.
        """
        return ("method",)

    def longest_caption(self, single: bool = False) -> int:
        """Number of words of a caption that training reads. single: of a single picture's caption."""
        return self.max_length - 2

    def expects_weights(self, recipe: "Recipe") -> str:
        """Why the recipe only makes sense with published weights, in words; "" if it does not need them."""
        return ""

    def check(self, recipe: "Recipe", where: str) -> None:  # noqa: B027 - a method may have nothing to check
        """Raise RecipeError at the first setting that does not fit (``recipes.checks`` has helpers)."""
