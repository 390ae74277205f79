"""Reads a picture of a data set for training: the picture's pixels, or features that were computed
beforehand.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import RecipeError
from whatchanged.images import open_image, resize
from whatchanged.plugins import imported
from whatchanged.recipes.visions import VisionSettings
from whatchanged.training.batches import PictureReader

MOST_BYTES = 2**29
"""The largest total size in bytes of the decoded pictures in memory: 17,000 pictures of 128 x 80 pixels.

Further pictures are decoded again each time.
"""


def picture_reader(vision: VisionSettings, features: str, root: Path) -> PictureReader:
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


def pixel_reader(vision: VisionSettings, stored: Path, root: Path) -> PictureReader:
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


def kept_pixels(size: tuple[int, int], most_bytes: int = MOST_BYTES) -> PictureReader:
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
