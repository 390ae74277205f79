"""Features with one ``.npy`` file per picture, as released extractors write and loaders read them.

OUT/features/NAME.npy for the picture images/NAME, and likewise sc_features, nsc_features: float32
(F, rows, columns).
"""

import io
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from whatchanged.arrays import mapped_array
from whatchanged.errors import DatasetError, OutputError
from whatchanged.training.data.grid_files import picture_name

ABOUT = "features.json"
"""The file that records the backbone of the features in its folder. `whatchanged features --npy` writes this
file.
"""


def npy_file(folder: Path, name: str) -> Path:
    """Return the path of a picture's features. name: the picture's path below the data set's folder, with
    slashes.

    "images" in the names of the picture's folders becomes "features". Raises OutputError where the path
    leaves the folder.
    """
    parts = PurePosixPath(name).parts
    if _leaves(name):
        raise OutputError(
            f"{name}: the picture lies outside the data set's folder, so its features have no place in"
            f" {folder}. Leave --npy out, or move the picture."
        )
    inside = [part.replace("images", "features") for part in parts[:-1]]
    return folder.joinpath(*inside, f"{parts[-1]}.npy")


def _leaves(name: str) -> bool:
    return PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts


def npy_bytes(array: NDArray[np.floating]) -> bytes:
    """Return the bytes of an array's ``.npy`` file: float32, row by row."""
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array, np.float32), allow_pickle=False)
    return stream.getvalue()


def features_paths(folder: Path, picture: Path, root: Path) -> list[Path]:
    """Return the paths that may hold the features of a picture of the data set at ``root``, in order of
    preference.

    The paths are: FOLDER/<picture's file name>.npy; FOLDER/<picture's folder>/<picture's file name>.npy; the
    second path with "images" in the folder's name replaced by "features" (sc_images: sc_features); and the
    picture's whole path below ``root``, with the same replacement (``npy_file``).
    """
    file = f"{picture.name}.npy"
    parent = picture.parent.name
    paths = [folder / file, folder / parent / file, folder / parent.replace("images", "features") / file]
    name = picture_name(picture, root)
    return paths if _leaves(name) else [*paths, npy_file(folder, name)]


def read_features(paths: Sequence[Path], rows: int, columns: int, width: int) -> NDArray[np.float32]:
    """Return the features of one picture as (N, F), N = rows x columns, cell number = columns x row + column.

    paths: the paths that may hold the features. The array may have the shape (F, rows, columns), (F, N) or
    (N, F). Raises DatasetError if no file exists or the array has another shape.
    """
    path = next((file for file in paths if file.is_file()), None)
    if path is None:
        raise DatasetError(
            f"{paths[0]}: no features of {paths[0].stem} (nor at {paths[2]}). Extract them first."
        )
    cells = rows * columns
    try:
        stored = mapped_array(path)
        if stored.dtype.kind != "f":
            raise ValueError("it holds no array of real numbers")
        if stored.size == cells * width and not np.isfinite(stored).all():
            raise ValueError("it holds what is not a finite number")
    except ValueError as error:
        raise DatasetError(f"{path}: cannot read the features: {error}. Extract them again.") from error
    if stored.shape == (cells, width):
        return np.ascontiguousarray(stored, np.float32)
    if stored.shape in ((width, rows, columns), (width, cells)):
        return np.ascontiguousarray(stored.reshape(width, cells).T, np.float32)
    raise DatasetError(
        f"{path}: got the shape {stored.shape}, wanted ({width}, {rows}, {columns}), ({width}, {cells}) or"
        f" ({cells}, {width}). Set vision.rows, columns and feature_width to what is stored."
    )
