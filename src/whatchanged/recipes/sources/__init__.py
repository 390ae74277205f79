"""Settings of the sources of a recipe's examples, one file for each source. Nothing here imports torch.

To add a source, write a file with a class derived from ``DataSettings``, and add a line to ``SOURCES``. A
package of its own names its class under the entry-point group ``whatchanged.sources``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from whatchanged.plugins import imported

if TYPE_CHECKING:
    from whatchanged.recipes.schema import Recipe

SOURCES: Mapping[str, str] = {
    "dataset": "whatchanged.recipes.sources.dataset:DatasetConfig",
    "pool": "whatchanged.recipes.sources.pool:PoolConfig",
}
"""``data.source`` -> "module:class" of its settings, imported when a recipe names it. A recipe that names no
source gets the first.
"""


@dataclass(frozen=True)
class DataSettings(ABC):
    """Settings that all sources of ``[data]`` share. A subclass adds fields (its keys); the first is
    ``source``.

    The code that computes is named as "module:function", and only training imports it:

    opener: (recipe, the run's folder) -> ``training.data.sources.Sources``.
    planned_words: (settings) -> the vocabulary that ``whatchanged train --plan`` counts with and where its
    words come from, or None where no data are named; "" where the words are known only once the data is open.
    """

    opener: ClassVar[str] = ""
    planned_words: ClassVar[str] = ""

    stored_key: ClassVar[str] = "features"
    """The key that ``--features`` sets: the folder of features or tokens computed from the pictures
    beforehand.
    """
    on_disk: ClassVar[bool] = False
    """Whether its pairs are those of a data set on disk. Their pictures are the same in each pass, and single
    and labelled pictures may lie beside them.
    """
    needs: ClassVar[str] = ""
    """What a user must have besides captioned pictures, in a few words for lists; "" for nothing."""
    knows_scenes: ClassVar[bool] = False
    """Whether every pair's truth is known, such as the scenes it shows and the objects that words mention."""

    source: str
    """Which source; see below."""
    path: str
    """The folder or file that it reads."""

    @property
    def merges(self) -> str:
        """CLIP's merges file, which splits captions into subwords; "": captions are split into words."""
        return ""

    @property
    def tokens(self) -> str:
        """The folder of tokens that a vision stored, which are read instead of pictures; "": none."""
        return ""

    @property
    def preparation(self) -> str:
        """How captions become words; a name of ``datasets.preparation``."""
        return "none"

    @property
    def examples(self) -> str:
        """What one training example is, if stages can choose it; "" otherwise."""
        return ""

    @property
    def validation(self) -> int:
        """Number of validation pairs on which the metric is measured; 0: all."""
        return 0

    @property
    def augments_batches(self) -> bool:
        """Whether pictures are augmented as whole batches, on the device that trains."""
        return False

    @property
    def stored(self) -> str:
        """The folder of features or tokens that were computed from the pictures beforehand; "" for none."""
        return ""

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that training data is read from."""
        return (self.path,)

    @abstractmethod
    def with_folders(self, path: str, stored: str) -> Self:
        """The same data in other folders."""

    def without_folders(self) -> Self:
        """The same data without the names of any folders, so that it may be published."""
        return self.with_folders("", "")

    @abstractmethod
    def as_pictures(self) -> "DataSettings":
        """The settings that read the same pairs as pictures, each as an example of its own, with the run's
        words.
        """

    def of_folder(self, path: str) -> "DataSettings":
        """The settings that read the pairs of this data set on disk instead, in the same way."""
        settings: DataSettings = replace(default_source(), path=path, validation=self.validation)
        return settings

    @abstractmethod
    def check(self, recipe: "Recipe", where: str) -> None:
        """Raise RecipeError at the first setting that does not fit the recipe (``recipes.checks`` helps)."""


def default_source() -> Any:
    """The settings of the first source, each at its default."""
    return imported(next(iter(SOURCES.values())))()
