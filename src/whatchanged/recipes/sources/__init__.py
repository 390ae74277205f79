"""Settings of the sources of a recipe's examples, one file for each source. Nothing here imports torch.

To add a source, write a file with a class derived from ``DataSettings``, and add a line to ``SOURCES``. A
plug-in package registers its class under the entry-point group ``whatchanged.sources``.
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
"""``data.source`` -> "module:class" of its settings, imported when a recipe names it. A recipe without
``data.source`` gets the first source.
"""


@dataclass(frozen=True)
class DataSettings(ABC):
    """Settings that all sources of ``[data]`` share. A subclass adds fields, which are the keys of the table.
    The first field is ``source``.

    These attributes give functions that compute, as "module:function". Only training imports these functions:

    opener: (recipe, the run's folder) -> ``training.data.sources.Sources``.
    planned_words: (settings) -> the vocabulary for the estimates of ``whatchanged train --plan``, with the
    origin of its words; None where the settings contain no data. The attribute is "" where the words are
    known only after the data was opened.
    """

    opener: ClassVar[str] = ""
    planned_words: ClassVar[str] = ""

    stored_key: ClassVar[str] = "features"
    """The key that ``--features`` sets: the folder of features or tokens computed from the pictures
    beforehand.
    """
    on_disk: ClassVar[bool] = False
    """Whether the source's pairs come from a data set on disk. The pictures of such pairs are equal in each
    pass. Single and labelled pictures may lie beside such pairs.
    """
    needs: ClassVar[str] = ""
    """What a user must have besides captioned pictures, in a few words for lists; "" if captioned pictures
    suffice.
    """
    knows_scenes: ClassVar[bool] = False
    """Whether every pair's truth is known, such as the scenes it shows and the objects that words mention."""

    source: str
    """The name of the source (comment below)."""
    path: str
    """The folder or file that the source reads."""

    @property
    def merges(self) -> str:
        """The path of CLIP's merges file, which splits captions into subwords. With "", captions are split
        into words.
        """
        return ""

    @property
    def tokens(self) -> str:
        """The folder of a vision's stored tokens, which are read instead of pictures. With "", pictures are
        read.
        """
        return ""

    @property
    def preparation(self) -> str:
        """The name of the preparation that turns captions into words (``datasets.preparation``)."""
        return "none"

    @property
    def examples(self) -> str:
        """The kind of training example, if stages can choose the kind; otherwise ""."""
        return ""

    @property
    def validation(self) -> int:
        """Number of validation pairs on which the metric is measured. 0: all validation pairs."""
        return 0

    @property
    def augments_batches(self) -> bool:
        """Whether pictures are augmented as whole batches, on the device that trains."""
        return False

    @property
    def stored(self) -> str:
        """The folder of features or tokens that were computed from the pictures beforehand; "" if no such
        folder is used.
        """
        return ""

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths from which training data is read."""
        return (self.path,)

    @abstractmethod
    def with_folders(self, path: str, stored: str) -> Self:
        """Return these settings with other folders."""

    def without_folders(self) -> Self:
        """Return these settings without the names of any folders, so that the settings may be published."""
        return self.with_folders("", "")

    @abstractmethod
    def as_pictures(self) -> "DataSettings":
        """Return settings that read the pictures of the pairs, not stored features, with the vocabulary of
        the run. Each pair is a separate example.
        """

    def of_folder(self, path: str) -> "DataSettings":
        """Return settings that read the pairs of the data set in folder ``path`` instead, prepared in the
        same way.
        """
        settings: DataSettings = replace(default_source(), path=path, validation=self.validation)
        return settings

    @abstractmethod
    def check(self, recipe: "Recipe", where: str) -> None:
        """Raise RecipeError at the first setting that does not fit the recipe (``recipes.checks`` helps)."""


def default_source() -> Any:
    """Return the settings of the first source, with their defaults."""
    return imported(next(iter(SOURCES.values())))()
