"""A folder of stored grid features, whichever of its two forms it has: ``grid_files`` or ``npy_files``.

How the vision of such features reads a picture, and what plans without data take for one. Nothing here needs
torch: a model that was exported from such a run reads them, too.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import DatasetError
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.recipes.visions.features import FeaturesConfig
from whatchanged.training.data.grid_files import GridFiles, is_grid_folder, picture_name
from whatchanged.training.data.npy_files import ABOUT, features_paths, read_features


def grid_reader(vision: FeaturesConfig, folder: Path, root: Path) -> Callable[[Path], NDArray[np.float32]]:
    """What reads the features (N, F) of a picture of the data set at ``root``, as a recipe's vision wants
    them. Raises as ``features_reader`` does.
    """
    return features_reader((vision.rows, vision.columns, vision.feature_width), folder, root)


def planned_grid(vision: FeaturesConfig) -> tuple[NDArray[np.float32], None]:
    """The features of no picture, (N, F), and no truth."""
    return np.zeros((vision.rows * vision.columns, vision.feature_width), np.float32), None


def features_reader(
    grid: tuple[int, int, int], folder: Path, root: Path
) -> Callable[[Path], NDArray[np.float32]]:
    """What reads the features (N, F) of a picture of the data set at ``root``, N cells of F numbers.

    grid: rows, columns, F. Raises DatasetError where the folder's grids are of another size.
    """
    if not is_grid_folder(folder):
        return lambda path: read_features(features_paths(folder, path, root), *grid)
    stored = GridFiles(folder)
    stored.check(*grid)
    return lambda path: stored.read(picture_name(path, root))


def made_by(folder: Path) -> str:
    """What computed the features: a backbone and the first letters of its weights' SHA-256; "" where the
    folder does not say, as published ones."""
    if is_grid_folder(folder):
        return _in_words(GridFiles(folder).about)
    try:
        about = read_json(read_regular_text(folder / ABOUT))
    except (OSError, ValueError):
        return ""
    return _in_words(about) if isinstance(about, dict) else ""


def check_made_by(folder: Path, wanted: str) -> None:
    """Raise DatasetError where both say what computed them, and it is not the same. wanted: ``made_by``."""
    actual = made_by(folder)
    if actual and wanted and actual != wanted:
        raise DatasetError(
            f"{folder}: its features were made by {actual}; the model learned from those of {wanted}. Name"
            " features of that kind."
        )


def _in_words(about: Mapping[str, Any]) -> str:
    return f"{about.get('backbone', '')} {str(about.get('sha256', ''))[:12]}".strip()
