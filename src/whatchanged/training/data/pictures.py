"""How a picture of a data set is read for training: its pixels, or its precomputed features."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whatchanged.arrays import mapped_array
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.images import open_image, resize
from whatchanged.recipes.schema import FeaturesConfig, VisionConfig
from whatchanged.training.batches import PictureReader
from whatchanged.training.data.grid_files import GridFiles, is_grid_folder, picture_name

MOST_BYTES = 2**29
"""Of decoded pictures in memory: 17,000 of 128x80. Those beyond are decoded anew each time."""


def picture_reader(vision: VisionConfig, features: str, root: Path) -> PictureReader:
    """How a picture of the data set at ``root`` is read: features (N, F) float32, or pixels (H, W, 3) uint8.

    features: a folder of ``grid_files``, or one with an ``.npy`` per picture; unused by a vision that reads
    pixels. Raises RecipeError where it is empty, DatasetError where its grids are of another size than the
    recipe's.
    """
    if not isinstance(vision, FeaturesConfig):
        return kept_pixels((vision.image_width, vision.image_height))
    if not features:
        raise RecipeError(
            "data.features is empty. Say where the precomputed features lie: --features FOLDER; or learn from"
            " the pictures themselves: --set vision.kind=patches"
        )
    grid = (vision.rows, vision.columns, vision.feature_width)
    if not is_grid_folder(Path(features)):
        return lambda path: read_features(Path(features), path, *grid)
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


def read_features(folder: Path, picture: Path, rows: int, columns: int, width: int) -> NDArray[np.float32]:
    """The features of one picture as (N, F), N = rows x columns, cell number = columns x row + column.

    Looked for as FOLDER/<picture's file name>.npy, then as FOLDER/<its folder>/<file name>.npy, then as that
    with "images" in the folder's name replaced by "features" (sc_images: sc_features), as published
    extractors do. Stored as (F, rows, columns), (F, N) or (N, F). Raises DatasetError if the file is missing
    or of another shape.
    """
    inside = [picture.parent.name, picture.parent.name.replace("images", "features")]
    places = [folder / f"{picture.name}.npy", *(folder / name / f"{picture.name}.npy" for name in inside)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise DatasetError(
            f"{places[0]}: no features of {picture.name} (nor at {places[2]}). Extract them first."
        )
    cells = rows * columns
    try:
        stored = mapped_array(found)
        if stored.dtype.kind != "f":
            raise ValueError("it holds no array of real numbers")
        if stored.size == cells * width and not np.isfinite(stored).all():
            raise ValueError("it holds what is not a finite number")
    except ValueError as error:
        raise DatasetError(f"{found}: cannot read the features: {error}. Extract them again.") from error
    if stored.shape == (cells, width):
        return np.ascontiguousarray(stored, np.float32)
    if stored.shape in ((width, rows, columns), (width, cells)):
        return np.ascontiguousarray(stored.reshape(width, cells).T, np.float32)
    raise DatasetError(
        f"{found}: got the shape {stored.shape}, wanted ({width}, {rows}, {columns}), ({width}, {cells}) or"
        f" ({cells}, {width}). Set vision.rows, columns and feature_width to what is stored."
    )
