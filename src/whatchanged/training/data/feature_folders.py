"""Reads a folder of stored grid features, in one of two layouts: ``grid_files`` or ``npy_files``.

This module reads a picture's features for the vision of stored features, and makes placeholders for estimates
without data. Nothing here needs torch, because exported models of stored features use this module, too.
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
    """Return a function that reads a picture's features (N, F) for a recipe's vision. root: the data set's
    folder.

    The errors are the errors of ``features_reader``.
    """
    return features_reader((vision.rows, vision.columns, vision.feature_width), folder, root)


def planned_grid(vision: FeaturesConfig) -> tuple[NDArray[np.float32], None]:
    """Return a placeholder for a picture's features, (N, F), and None as the ground truth."""
    return np.zeros((vision.rows * vision.columns, vision.feature_width), np.float32), None


def features_reader(
    grid: tuple[int, int, int], folder: Path, root: Path
) -> Callable[[Path], NDArray[np.float32]]:
    """Return a function that reads a picture's features (N, F), N cells of F numbers. root: the data set's
    folder.

    grid: rows, columns, F. Raises DatasetError where the stored grids have another size.
    """
    if not is_grid_folder(folder):
        return lambda path: read_features(features_paths(folder, path, root), *grid)
    stored = GridFiles(folder)
    stored.check(*grid)
    return lambda path: stored.read(picture_name(path, root))


def made_by(folder: Path) -> str:
    """Return the origin of the features: the backbone and the first digits of the SHA-256 of its weights.

    The result is "" where the folder does not record the origin, as with published features.
    """
    if is_grid_folder(folder):
        return _in_words(GridFiles(folder).about)
    try:
        about = read_json(read_regular_text(folder / ABOUT))
    except (OSError, ValueError):
        return ""
    return _in_words(about) if isinstance(about, dict) else ""


def check_made_by(folder: Path, wanted: str) -> None:
    """Raise DatasetError where the folder and ``wanted`` (a ``made_by``) give different origins of the
    features.
    """
    actual = made_by(folder)
    if actual and wanted and actual != wanted:
        raise DatasetError(
            f"{folder}: its features were made by {actual}; the model learned from those of {wanted}. Name"
            " features of that kind."
        )


def _in_words(about: Mapping[str, Any]) -> str:
    return f"{about.get('backbone', '')} {str(about.get('sha256', ''))[:12]}".strip()
