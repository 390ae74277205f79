"""The vision of regions of screens. Not published."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import check_multiples, require, require_positive
from whatchanged.recipes.methods import Task
from whatchanged.recipes.visions import VisionSettings


@dataclass(frozen=True)
class RegionsConfig(VisionSettings):
    """Regions of screens as tokens: places that may have changed, told by stored measurements.

    Not published. Its own task ``regions`` learns what each place shows from the truth of drawn pairs.
    """

    implementation: ClassVar[str] = "whatchanged.training.regions.vision:RegionVision"
    reader: ClassVar[str] = "whatchanged.training.regions.store:region_reader"
    planned: ClassVar[str] = "whatchanged.training.regions.store:planned_regions"
    exporter: ClassVar[str] = "whatchanged.training.export.regions:export_regions"

    learns: ClassVar[bool] = True
    stored: ClassVar[bool] = True
    truth_beside_pairs: ClassVar[bool] = True
    task_needs: ClassVar[Mapping[str, str]] = {"regions": 'vision.kind = "regions"'}

    heads: ClassVar[int] = 4
    """Of the layer in which places read each other; they share the width."""

    kind: Literal["regions"] = "regions"
    regions: int = 12
    """Tokens of a picture at most: what ``whatchanged features --backbone regions`` stored."""
    width: int = 128
    """Numbers of a token."""
    dropout: float = 0.3
    """Share of a place's features that are left out while it learns."""
    networks: int = 1
    """How many networks judge each place. They begin with other weights; what they say is averaged."""

    @property
    def tasks(self) -> Mapping[str, Task]:
        """What the truth of drawn pairs can teach."""
        return {"regions": Task(11, truth=True, vision_only=True)}

    def check(self, where: str) -> None:
        """At least a region, and a width that the heads share out evenly."""
        require_positive(where, "vision.", self, "regions", "width", "networks")
        name = f"{self.heads}, the heads that share it"
        check_multiples(where, "vision.", self, ("width",), self.heads, name)
        require(where, "vision.dropout", self.dropout, 0 <= self.dropout < 1, "a share below 1")
