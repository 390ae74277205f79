"""Reads a picture of a data set for training: the picture's pixels, or features that were computed
beforehand.

A folder of stored grid features has one of two layouts: ``grid_files`` or ``npy_files``. Nothing here needs
torch, because exported models of stored features use this module, too.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import DatasetError, RecipeError
from whatchanged.images import open_image, resize
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.plugins import imported
from whatchanged.recipes.visions import VisionSettings
from whatchanged.training.data.grid_files import GridFiles, is_grid_folder, picture_name
from whatchanged.training.data.npy_files import ABOUT, features_paths, read_features

if TYPE_CHECKING:
    from whatchanged.recipes.visions.features import FeaturesConfig
    from whatchanged.training.batches import PictureReader

MOST_BYTES = 2**29
"""The largest total size in bytes of the decoded pictures in memory: 17,000 pictures of 128 x 80 pixels.

Further pictures are decoded again each time.
"""


def picture_reader(vision: VisionSettings, features: str, root: Path) -> "PictureReader":
    """Return a function that reads a picture of the data set at ``root`` for a vision. The function returns
    pixels (H, W, 3) uint8, or stored data such as features (N, F) float32.

    features: the folder of stored features. A vision that reads pixels ignores this folder. Raises
    RecipeError where ``features`` is empty, DatasetError where the folder does not hold what the recipe
    needs.
    """
    if vision.stored and not features:
        raise RecipeError(
            "data.features is empty. Say where the precomputed features lie: --features FOLDER"
            + vision.instead_of_stored
        )
    reader: PictureReader = imported(vision.reader)(vision, Path(features), root)
    return reader


def pixel_reader(vision: VisionSettings, stored: Path, root: Path) -> "PictureReader":
    """Return a function that reads pixels (H, W, 3) uint8, resized to the vision's picture size. No stored
    data is used.

    Raises RecipeError where the vision has no picture size.
    """
    return kept_pixels(pixel_size(vision))


def planned_pixels(vision: VisionSettings) -> tuple[NDArray[np.uint8], None]:
    """Return a black picture of the vision's picture size, and None as the ground truth. Raises RecipeError
    where the vision has no picture size.
    """
    width, height = pixel_size(vision)
    return np.zeros((height, width, 3), np.uint8), None


def pixel_size(vision: VisionSettings) -> tuple[int, int]:
    """Return the width and height of the pictures that a vision reads. Raises RecipeError where the vision
    has no picture size.
    """
    if vision.picture_size is None:
        raise RecipeError(
            f"vision.kind = {vision.kind!r} reads pixels and names no size of pictures. Its settings should"
            " have a picture_size."
        )
    return vision.picture_size


def kept_pixels(size: tuple[int, int], most_bytes: int = MOST_BYTES) -> "PictureReader":
    """Return a function that reads pixels (H, W, 3) uint8. The function stores decoded pictures in memory up
    to ``most_bytes``.

    size: width and height to which pictures are resized. Later calls for a picture return the stored array,
    so no caller may write into the array.
    """
    kept = dict[Path, NDArray[np.uint8]]()

    def read(path: Path) -> NDArray[np.uint8]:
        if path in kept:
            return kept[path]
        pixels = resize(open_image(path), size)
        if (len(kept) + 1) * pixels.nbytes <= most_bytes:
            kept[path] = pixels
        return pixels

    return read


def grid_reader(vision: "FeaturesConfig", folder: Path, root: Path) -> Callable[[Path], NDArray[np.float32]]:
    """Return a function that reads a picture's features (N, F) for a recipe's vision. root: the data set's
    folder.

    The errors are the errors of ``features_reader``.
    """
    return features_reader((vision.rows, vision.columns, vision.feature_width), folder, root)


def planned_grid(vision: "FeaturesConfig") -> tuple[NDArray[np.float32], None]:
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
