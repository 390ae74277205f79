"""The stored regions of drawn pairs, and of real ones beside them, as a recipe's data. Not published."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require_not_negative, require_used
from whatchanged.recipes.methods import Reads
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources import DataSettings


@dataclass(frozen=True)
class RegionPairsConfig(DataSettings):
    """The stored regions of pairs whose truth is known: drawn ones, and as many real ones as are wanted.

    ``--data`` and ``--features`` on the command line set ``path`` and ``features``.
    """

    opener: ClassVar[str] = "whatchanged.training.regions.source:open_region_pairs"

    holds: ClassVar[frozenset[Reads]] = frozenset({"regions"})
    knows_scenes: ClassVar[bool] = True
    needs: ClassVar[str] = "drawn pairs (whatchanged synth screens) and their stored regions"

    source: Literal["regions"] = "regions"
    path: str = ""
    """The drawn pairs (``whatchanged synth screens``), their truth beside them; or real ones alone."""
    features: str = ""
    """What ``whatchanged features --backbone regions`` wrote of them."""
    real_path: str = ""
    """Labelled real pairs to learn from beside them."""
    real_features: str = ""
    """What ``whatchanged features --backbone regions`` wrote of the real pairs."""
    real_repeats: int = 0
    """How often each real pair comes while each of ``path`` comes once. 0: there are none."""

    @property
    def stored(self) -> str:
        """The folder of what was computed from the pictures beforehand: regions."""
        return self.features

    @property
    def paths(self) -> tuple[str, ...]:
        """The drawn pairs, and the real ones where they are read."""
        return (self.path, self.real_path) if self.real_repeats else (self.path,)

    def with_folders(self, path: str, stored: str) -> "RegionPairsConfig":
        """The same data in other folders."""
        return replace(self, path=path, features=stored)

    def without_folders(self) -> "RegionPairsConfig":
        """The same data without the names of any folders, those of real pairs neither."""
        return replace(self, path="", features="", real_path="", real_features="")

    def as_pictures(self) -> DataSettings:
        """The drawn pairs as a data set on disk."""
        return self.of_folder(self.path)

    def check(self, recipe: Recipe, where: str) -> None:
        """Folders of real pairs are named where these are read."""
        require_not_negative(where, "data.", self, "real_repeats")
        by = "real pairs: data.real_repeats is 0"
        require_used(where, "data.", self, self.real_repeats > 0, by, "real_path", "real_features")
