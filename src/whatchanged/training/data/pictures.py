"""How a picture of a data set is read for training: its pixels, or its precomputed features."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whatchanged.errors import RecipeError
from whatchanged.images import open_image, resize
from whatchanged.recipes.schema import FeaturesConfig, VisionConfig
from whatchanged.training.batches import PictureReader
from whatchanged.training.data.grid_files import GridFiles, is_grid_folder, picture_name
from whatchanged.training.data.npy_files import features_places, read_features

MOST_BYTES = 2**29
"""Of decoded pictures in memory: 17,000 of 128x80. Those beyond are decoded anew each time."""


def picture_reader(vision: VisionConfig, features: str, root: Path) -> PictureReader:
    """How a picture of the data set at ``root`` is read: features (N, F) float32, or pixels (H, W, 3) uint8.

    features: a folder of ``grid_files``, or one with an ``.npy`` per picture; unused by a vision that reads
    pixels. Raises RecipeError where it is empty, DatasetError where its grids are of another size than the
    recipe's.
    """
    if vision.stored and not features:
        raise RecipeError(
            "data.features is empty. Say where the precomputed features lie: --features FOLDER;"
            " or learn from the pictures themselves: --set vision.kind=patches"
        )
    if vision.picture_size is not None:
        return kept_pixels(vision.picture_size)
    if not isinstance(vision, FeaturesConfig):
        raise RecipeError(f"vision.kind = {vision.kind!r} reads no pictures and no features of them.")
    grid = (vision.rows, vision.columns, vision.feature_width)
    if not is_grid_folder(Path(features)):
        return lambda path: read_features(features_places(Path(features), path, root), *grid)
    stored = GridFiles(Path(features))
    stored.check(*grid)
    return lambda path: stored.read(picture_name(path, root))


def kept_pixels(size: tuple[int, int], most_bytes: int = MOST_BYTES) -> PictureReader:
    """A reader of pixels (H, W, 3) uint8 that decodes a picture once and keeps it, as long as there is room.

    size: width and height that pictures are resized to. The next reader is given the same array:
    nobody may write into it.
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
