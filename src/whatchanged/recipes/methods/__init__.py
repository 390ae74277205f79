"""The methods as recipes know them: settings, tasks and checks, one file a method; nothing here imports
torch.

To add a method: a file with a class derived from ``MethodSettings``, and a line in ``METHODS``. A method from
another package names its class under the entry-point group ``whatchanged.methods``.
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
"""``method.name`` -> "module:class" of its settings; it is imported when a recipe names it."""


@dataclass(frozen=True)
class Task:
    """The needs of one task of a stage.

    number: part of the seed of the task's examples. It never changes, or later versions would draw others.
    reads: captioned pairs, or two labelled pictures.
    false_captions: how many false captions each pair must have.
    single_pictures: the task can also read single captioned pictures.
    truth: the task learns from the truth of drawn pairs.
    vision_only: the task trains what turns pictures into tokens, and nothing else. It needs pictures, not
    stored tokens.
    """

    number: int
    reads: Literal["pairs", "labelled"] = "pairs"
    false_captions: int = 0
    single_pictures: bool = False
    truth: bool = False
    vision_only: bool = False


@dataclass(frozen=True)
class MethodSettings(ABC):
    """What the settings of all methods have. A subclass adds fields: the keys of ``[method]``.

    implementation: "module:Class" of the torch module, which only training imports; it is built with
    (settings, vision, vocabulary).
    """

    implementation: ClassVar[str] = ""
    weights_loader: ClassVar[str] = ""
    """"module:function" that begins from a file of published weights (``--init FILE``); "": there is none."""
    weights_words: ClassVar[str] = ""
    """"module:function": such a file -> the vocabulary that its ids are of, which a run from it then has; "":
    the words are the data's."""

    name: str
    """Which method; see below."""
    preset: str
    """One reading of the method: "paper" as its text says, "authors" as its released code does."""
    max_length: int
    """Ids of the longest caption, with its marks."""

    @property
    @abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """The method's own tasks by name."""

    @property
    def caption_tasks(self) -> frozenset[str]:
        """The tasks that teach it to write captions: a run has learned to caption once one of them was
        trained. "caption", or all tasks of a method that has none of that name."""
        return frozenset({"caption"} & self.tasks.keys() or self.tasks)

    @property
    def embeds_captions(self) -> bool:
        """Whether pairs and captions can be ranked by similarity (metric R@1, ``whatchanged retrieve``)."""
        return False

    @property
    def guidable(self) -> bool:
        """Whether captioning knows the attention of each word, so that a vision may train it."""
        return False

    @property
    def compares_by_place(self) -> bool:
        """Whether token n of one picture is compared with token n of the other."""
        return False

    @property
    def labelled_classes(self) -> int:
        """Classes that a task on labelled pictures tells apart; 0 where there is none."""
        return 0

    def groups(self, tasks: Collection[str]) -> tuple[str, ...]:
        """Names of the groups of parameters that these tasks train: what ``stage.rates`` may name.

        tasks: those of a stage that are not ``vision_only``, at least one. The group of the vision is not
        among them.
        """
        return ("method",)

    def longest_caption(self, single: bool = False) -> int:
        """Words of a caption that training reads. single: of a single picture's caption."""
        return self.max_length - 2

    def expects_weights(self, recipe: "Recipe") -> str:
        """What the recipe does that only makes sense with published weights, in words; "" for nothing."""
        return ""

    def check(self, recipe: "Recipe", where: str) -> None:  # noqa: B027 - a method may have nothing to check
        """Raise RecipeError at the first setting that does not fit (``recipes.checks`` has helpers)."""
