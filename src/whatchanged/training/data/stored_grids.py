"""How stored grid features are read for training, and what plans without data take for them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whatchanged.recipes.visions.features import FeaturesConfig
from whatchanged.training.batches import PictureReader
from whatchanged.training.data.feature_folders import features_reader


def grid_reader(vision: FeaturesConfig, folder: Path, root: Path) -> PictureReader:
    """A reader of features (N, F) float32, N cells of F numbers, of the pictures of the data set at ``root``.

    folder: one of ``grid_files``, or one with an ``.npy`` per picture. Raises DatasetError where its grids
    are of another size than the recipe's.
    """
    return features_reader((vision.rows, vision.columns, vision.feature_width), folder, root)


def planned_grid(vision: FeaturesConfig) -> tuple[NDArray[np.float32], None]:
    """The features of no picture, (N, F), and no truth."""
    return np.zeros((vision.rows * vision.columns, vision.feature_width), np.float32), None
