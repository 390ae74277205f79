"""The vision of stored grid features: it learns nothing, and every cell of the grid is a token."""

import torch
from torch import Tensor

from whatchanged.errors import ShapeError
from whatchanged.recipes.visions.features import FeaturesConfig
from whatchanged.training.vision.base import PlainVision, TokenPair, Tokens


class StoredFeatures(PlainVision):
    """Stored features, (B, rows * columns, F) each; all cells are kept."""

    def __init__(self, rows: int = 7, columns: int = 7, feature_width: int = 2048) -> None:
        super().__init__()
        self.rows, self.columns, self.patches = rows, columns, rows * columns
        self.raw_width = self.width = feature_width
        self.cells: Tensor
        self.register_buffer("cells", torch.arange(self.patches), persistent=False)

    def tokens(self, before: Tensor, after: Tensor) -> TokenPair:
        """Return the features, unchanged. Raises ShapeError if they do not fit the grid."""
        if not torch.onnx.is_in_onnx_export():
            wanted = (self.patches, self.raw_width)
            for name, features in (("before", before), ("after", after)):
                if tuple(features.shape[1:]) != wanted:
                    raise ShapeError(
                        f"features of {name}: got {tuple(features.shape)}, wanted (pairs, {wanted[0]}, "
                        f"{wanted[1]}) for a grid of {self.rows} x {self.columns}. Extract them again, or "
                        "set vision.rows, vision.columns and vision.feature_width to what is stored."
                    )
        cells = self.cells.expand(before.shape[0], -1)
        return TokenPair(Tokens(before, cells), Tokens(after, cells))


def stored_features(config: FeaturesConfig) -> StoredFeatures:
    """Return the vision of a recipe's settings."""
    return StoredFeatures(config.rows, config.columns, config.feature_width)
