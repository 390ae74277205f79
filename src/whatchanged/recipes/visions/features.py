"""Settings of the vision that reads stored grid features."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whatchanged.recipes.checks import require_positive
from whatchanged.recipes.visions import VisionSettings


@dataclass(frozen=True)
class FeaturesConfig(VisionSettings):
    """Grid features stored on disk, ``rows`` x ``columns`` cells a picture."""

    implementation: ClassVar[str] = "whatchanged.training.vision.features:stored_features"
    reader: ClassVar[str] = "whatchanged.training.data.pictures:grid_reader"
    planned: ClassVar[str] = "whatchanged.training.data.pictures:planned_grid"
    in_front: ClassVar[str] = "whatchanged.training.export.backbone_in_front:put_backbone_in_front"
    exporter: ClassVar[str] = "whatchanged.training.export.of_features:export_features"

    stored: ClassVar[bool] = True
    instead_of_stored: ClassVar[str] = "; or learn from the pictures themselves: --set vision.kind=patches"

    kind: Literal["features"] = "features"
    rows: int = 7
    """Rows of a picture's feature grid."""
    columns: int = 7
    """Columns of a picture's feature grid."""
    feature_width: int = 2048
    """Numbers in each cell."""

    @property
    def needs(self) -> str:
        """The need for stored grid features, in words."""
        return f"features of {self.rows} x {self.columns} x {self.feature_width:,}"

    def check(self, where: str) -> None:
        """Checks the sizes of the grid."""
        require_positive(where, "vision.", self, "rows", "columns", "feature_width")
