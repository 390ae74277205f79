"""Where a recipe's examples come from, one file a source; nothing here imports torch.

To add a source: a file with a class derived from ``DataSettings``, and a line in ``SOURCES``. A source from
another package names its class under the entry-point group ``whatchanged.sources``.
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
"""``data.source`` -> "module:class" of its settings; it is imported when a recipe names it. A recipe
that names no source means the first."""


@dataclass(frozen=True)
class DataSettings(ABC):
    """What all sources of ``[data]`` have. A subclass adds fields: its keys. The first is ``source``.

    What computes is named as "module:function" and only imported by training:

    opener: (recipe, the run's folder) -> ``training.data.sources.Sources``.
    planned_words: (settings) -> the vocabulary that ``whatchanged train --plan`` counts with and where its
    words are from, or None where no data are named; "" where they are not known before all is opened.
    """

    opener: ClassVar[str] = ""
    planned_words: ClassVar[str] = ""

    stored_key: ClassVar[str] = "features"
    """The key that ``--features`` sets: the folder of what was computed from the pictures beforehand."""
    on_disk: ClassVar[bool] = False
    """Whether its pairs are those of a data set on disk. Their pictures are the same in each pass; single and
    labelled pictures may lie beside them."""
    needs: ClassVar[str] = ""
    """What must be there beside pictures with captions, in a few words for lists; "" for nothing."""
    knows_scenes: ClassVar[bool] = False
    """Whether every pair's truth is known, such as what scenes it shows and which of their objects words
    mention."""

    source: str
    """Which source; see below."""
    path: str
    """Where it lies."""

    @property
    def merges(self) -> str:
        """CLIP's merges file, whose subwords captions become; "": words."""
        return ""

    @property
    def tokens(self) -> str:
        """The folder of tokens that a vision stored, which are read instead of pictures; "": none are."""
        return ""

    @property
    def preparation(self) -> str:
        """How captions become words; a name of ``datasets.preparation``."""
        return "none"

    @property
    def examples(self) -> str:
        """What one training example is, where stages can say so; "" otherwise."""
        return ""

    @property
    def validation(self) -> int:
        """Validation pairs that the metric is measured on; 0: all."""
        return 0

    @property
    def augments_batches(self) -> bool:
        """Whether pictures are augmented as whole batches, on the device that trains."""
        return False

    @property
    def stored(self) -> str:
        """The folder of what was computed from the pictures beforehand; "" for none."""
        return ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Where everything lies that is learned from."""
        return (self.path,)

    @abstractmethod
    def with_folders(self, path: str, stored: str) -> Self:
        """The same data in other folders."""

    def without_folders(self) -> Self:
        """The same data without the names of any folders: what may be published."""
        return self.with_folders("", "")

    @abstractmethod
    def as_pictures(self) -> "DataSettings":
        """The settings that read the same pairs as pictures, each by itself, with the run's own words."""

    def of_folder(self, path: str) -> "DataSettings":
        """The settings that read the pairs of this data set on disk instead, likewise."""
        settings: DataSettings = replace(default_source(), path=path, validation=self.validation)
        return settings

    @abstractmethod
    def check(self, recipe: "Recipe", where: str) -> None:
        """Raise RecipeError at the first setting that does not fit the recipe (``recipes.checks`` helps)."""


def default_source() -> Any:
    """The settings of the first source, each at its default."""
    return imported(next(iter(SOURCES.values())))()
