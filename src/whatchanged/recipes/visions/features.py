"""The vision of grid features that were stored beforehand."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require_positive
from whatchanged.recipes.visions import VisionSettings


@dataclass(frozen=True)
class FeaturesConfig(VisionSettings):
    """Grid features stored on disk, ``rows`` x ``columns`` cells a picture."""

    implementation: ClassVar[str] = "whatchanged.training.vision.features:stored_features"
    reader: ClassVar[str] = "whatchanged.training.data.feature_folders:grid_reader"
    planned: ClassVar[str] = "whatchanged.training.data.feature_folders:planned_grid"
    in_front: ClassVar[str] = "whatchanged.training.export.backbone_in_front:put_backbone_in_front"
    exporter: ClassVar[str] = "whatchanged.training.export.of_features:export_features"

    stored: ClassVar[bool] = True
    instead_of_stored: ClassVar[str] = "; or learn from the pictures themselves: --set vision.kind=patches"

    kind: Literal["features"] = "features"
    rows: int = 7
    """Rows of the grid of features of a picture."""
    columns: int = 7
    """Its columns."""
    feature_width: int = 2048
    """Numbers in each cell."""

    @property
    def needs(self) -> str:
        """The grids that were stored."""
        return f"features of {self.rows} x {self.columns} x {self.feature_width:,}"

    def check(self, where: str) -> None:
        """The sizes of a grid."""
        require_positive(where, "vision.", self, "rows", "columns", "feature_width")
