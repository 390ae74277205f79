"""The settings of the networks that judge the regions of pairs of screens. Not published."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from whatchanged.recipes.checks import check_multiples, require, require_positive
from whatchanged.recipes.methods import LearnerSettings, Task
from whatchanged.recipes.schema import Recipe


@dataclass(frozen=True)
class RegionsConfig(LearnerSettings):
    """Networks that judge proposed regions by stored measurements; the truth of pairs teaches them."""

    implementation: ClassVar[str] = "whatchanged.training.regions.judge:RegionJudge"
    exporter: ClassVar[str] = "whatchanged.training.export.regions:export_regions"
    heads: ClassVar[int] = 4
    """Of the layer in which regions read each other; they share the width."""

    name: str = "regions"
    regions: int = 12
    """Regions of a pair at most: what ``whatchanged features --backbone regions`` stored."""
    width: int = 128
    """Numbers that a network makes of a region."""
    dropout: float = 0.3
    """Share of a region's features that are left out while it learns."""
    networks: int = 1
    """How many networks judge each region. They begin with other weights; what they say is averaged."""
    later: float = 1.0
    """What it is worth to rank a later change first, beside the one before it in the order of importance."""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """What the truth of drawn pairs can teach."""
        return {"regions": Task(11, reads="regions", truth=True)}

    def check(self, recipe: Recipe, where: str) -> None:
        """At least a region, and a width that the heads share out evenly."""
        require_positive(where, "method.", self, "regions", "width", "networks")
        name = f"{self.heads}, the heads that share it"
        check_multiples(where, "method.", self, ("width",), self.heads, name)
        require(where, "method.dropout", self.dropout, 0 <= self.dropout < 1, "a share below 1")
        require(where, "method.later", self.later, 0 < self.later <= 1, "a number above 0, at most 1")
