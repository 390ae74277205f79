"""Grid features on disk as shards of float16 grids, the format that the command ``features`` writes.

OUT/00000.safetensors   "features" (n, N, F) float16; metadata "grids", JSON: "about" (the backbone and its
                        hash), "pictures" (n names, paths below the data set's folder) and "sha256" (of the
                        features' bytes; shards before 0.2 have none)

Each shard can be read without the other shards. Features of several data sets may lie in folders side by
side, OUT/a/00000.safetensors. These folders are read as one set of features. For features with one ``.npy``
per picture see ``npy_files``.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from whatchanged.errors import DatasetError
from whatchanged.files import write_whole
from whatchanged.json_values import read_json
from whatchanged.opening import regular
from whatchanged.urls import is_remote

PATTERN = "[0-9]*.safetensors"
MOST_HEADER = 100_000_000
"""The largest size of a shard's header in bytes, as in the safetensors format."""


def shard_file(folder: Path, number: int) -> Path:
    """Return the path of shard ``number``."""
    return folder / f"{number:05d}.safetensors"


def write_shard(
    path: Path, about: Mapping[str, Any], pictures: Sequence[str], grids: NDArray[np.float16]
) -> None:
    """Write one shard atomically. grids: (n, N, F)."""
    grids = np.ascontiguousarray(grids)
    header = {"about": about, "pictures": pictures, "sha256": hashlib.sha256(grids.data).hexdigest()}
    metadata = {"grids": json.dumps(header)}  # one key: several come in any order
    write_whole(path, save({"features": grids}, metadata))


def read_header(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the ``FrozenBackbone.about`` that a shard records, and the names of the shard's pictures. Raises
    DatasetError.
    """
    try:
        metadata, shape = _header(path)
        grids = read_json(metadata["grids"])
        about, pictures = dict(grids["about"]), list(grids["pictures"])
        sizes = [about["rows"], about["columns"], about["width"]]
        names = [*pictures, about["backbone"], about["sha256"], about.get("precision", "fp32")]
        if any(type(size) is not int for size in sizes) or not all(isinstance(name, str) for name in names):
            raise ValueError("its sizes are not whole numbers, or its names not texts")
        wanted = [len(pictures), about["rows"] * about["columns"], about["width"]]
        if shape != wanted:
            raise ValueError(f"its features are {shape}, its metadata says {wanted}")
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"{path}: no features that whatchanged wrote can be read here ({error}). Delete the file and run"
            " `whatchanged features` again."
        ) from error
    return about, pictures


def _header(path: Path) -> tuple[dict[str, str], list[int]]:
    """Return the metadata of a shard and the shape of its features. Raises the errors of safetensors, or
    ValueError.
    """
    if not is_remote(path):
        with safe_open(regular(path), framework="numpy") as file:
            return file.metadata() or {}, file.get_slice("features").get_shape()
    with path.open("rb") as stream:  # safetensors opens files of this machine alone
        size = int.from_bytes(stream.read(8), "little")
        if size > MOST_HEADER:
            raise ValueError(f"its header has {size:,} bytes")
        header = dict(read_json(stream.read(size)))
    return dict(header.get("__metadata__", {})), list(header["features"]["shape"])


def is_grid_folder(folder: Path) -> bool:
    """Return whether the folder, or one of its subfolders, holds shards."""
    return any(True for pattern in (PATTERN, f"*/{PATTERN}") for _ in folder.glob(pattern))


def _named(about: Mapping[str, Any]) -> str:
    """Return the name of the backbone, with its precision if the precision is not fp32."""
    return " in ".join([about["backbone"], *([about["precision"]] if "precision" in about else [])])


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob(PATTERN)) or sorted(folder.glob(f"*/{PATTERN}"))


class GridFiles:
    """The shards of one folder and its subfolders. A picture's features are read on demand.

    Raises DatasetError where shards come from different backbones, or where two shards hold the same picture.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, Any] = {}
        self._rows: dict[str, tuple[Path, int]] = {}
        self._open: dict[Path, Any] = {}
        for path in _shards(folder):
            about, pictures = read_header(path)
            if self.about and about != self.about:
                raise DatasetError(
                    f"{path}: its features come from another backbone ({_named(about)}) than those beside"
                    f" it ({_named(self.about)}). Keep each in a folder of its own."
                )
            twice = next((name for name in pictures if name in self._rows), None)
            if twice is not None:
                raise DatasetError(
                    f"{path}: features of {twice} lie in {self._rows[twice][0]}, too. Remove one of them,"
                    " or name the folder of one data set."
                )
            self.about = about
            self._rows |= {name: (path, row) for row, name in enumerate(pictures)}

    def __len__(self) -> int:
        return len(self._rows)

    def check(self, rows: int, columns: int, width: int) -> None:
        """Raise DatasetError where the grids have another size."""
        got = tuple(self.about[key] for key in ("rows", "columns", "width"))
        if got != (rows, columns, width):
            raise DatasetError(
                f"{self.folder}: {self.about['backbone']} gives grids of {got[0]} x {got[1]} with {got[2]}"
                f" numbers a cell; the recipe wants {rows} x {columns} with {width}. Pass --set"
                f" vision.rows={got[0]} --set vision.columns={got[1]} --set vision.feature_width={got[2]}."
            )

    def read(self, name: str) -> NDArray[np.float32]:
        """Return the features (N, F) of the picture ``name``, cells row by row. Raises DatasetError."""
        place = self._rows.get(name)
        if place is None:
            raise DatasetError(
                f"{self.folder}: no features of {name} among those of {len(self)} pictures. Run `whatchanged"
                " features` on the whole data set."
            )
        path, row = place
        if path not in self._open:
            self._open[path] = _open_checked(path)
        grid: NDArray[np.float16] = self._open[path].get_slice("features")[row]
        return grid.astype(np.float32)


def _open_checked(path: Path) -> Any:
    """Open a shard and compare its features with their checksum. Raises DatasetError."""
    shard: Any = safe_open(regular(path), framework="numpy")
    sha256 = read_json(shard.metadata()["grids"]).get("sha256")
    features = np.ascontiguousarray(shard.get_tensor("features"))
    if sha256 is not None and hashlib.sha256(features.data).hexdigest() != sha256:
        raise DatasetError(
            f"{path}: its content was changed: its SHA-256 differs. Delete the file and run `whatchanged"
            " features` again."
        )
    return shard


def picture_name(picture: Path, root: Path) -> str:
    """Return a picture's name in the shards: the picture's path below the folder of the data set or list,
    with slashes.
    """
    base = root if root.is_dir() else root.parent
    return (picture.relative_to(base) if picture.is_relative_to(base) else picture).as_posix()
