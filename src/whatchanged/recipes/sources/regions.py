"""The stored regions of drawn pairs as a recipe's data. Not published."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from whatchanged.recipes.methods import Reads
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings


@dataclass(frozen=True)
class RegionPairsConfig(DataSettings):
    """The stored regions of drawn pairs whose truth is known.

    ``--data`` and ``--features`` on the command line set ``path`` and ``features``.
    """

    opener: ClassVar[str] = "whatchanged.training.regions.source:open_region_pairs"

    holds: ClassVar[frozenset[Reads]] = frozenset({"regions"})
    knows_scenes: ClassVar[bool] = True

    source: Literal["regions"] = "regions"
    path: str = ""
    """The drawn pairs (``whatchanged synth screens``), their truth beside them."""
    features: str = ""
    """What ``whatchanged features --backbone regions`` wrote of them."""

    @property
    def stored(self) -> str:
        """The folder of what was computed from the pictures beforehand: regions."""
        return self.features

    def with_folders(self, path: str, stored: str) -> "RegionPairsConfig":
        """The same data in other folders."""
        return replace(self, path=path, features=stored)

    def as_pictures(self) -> DataSettings:
        """The drawn pairs as a data set on disk."""
        return self.of_folder(self.path)

    def check(self, recipe: Recipe, where: str) -> None:
        """Its only keys are its folders."""
