"""Regions on disk: what a model reads of each place that may have changed, computed once.

    OUT/00000.safetensors   "numbers" (R, NUMBERS) float32
                            "boxes" (R, 2, 4) int32, in pixels of their own picture
                            "sizes" (n, 2, 2) int32, width and height of the pictures
                            "first" (n + 1) int64, where each pair's regions begin
                            metadata "regions", JSON: "about" (regions), "pairs" (n x before, after),
                            "sha256" (of all arrays)

R: regions of all n pairs of a shard. For training a pair is its numbers, and each picture a row of ``ROW``
float32 for each region: its box, and 1 where there is a region at all.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from whatchanged.datasets import Dataset
from whatchanged.errors import DatasetError, OutputError
from whatchanged.files import write_whole
from whatchanged.json_values import read_json
from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.reading import read_picture
from whatchanged.opening import regular
from whatchanged.processes import in_order, worker_pool
from whatchanged.records import PairRecord
from whatchanged.regions.numbers import NUMBERS, read_proposals
from whatchanged.training.data.grid_files import PATTERN, picture_name, shard_file

REGIONS = 12
"""Regions of a pair at most, unless a recipe says otherwise."""
SHARD = 128
"""Pairs of a shard."""
ROW = 4 + 1
"""Numbers of a region of one picture in training."""
TENSORS = ("numbers", "boxes", "sizes", "first")
"""The arrays of a shard."""
RegionNumbers = NDArray[np.float32]
Tensors = dict[str, NDArray[Any]]


def regions_of(before: Path, after: Path, regions: int = REGIONS) -> Tensors:
    """The regions of one pair, as a shard of one pair holds them. Raises ImageError."""
    one, other = (read_picture(path).on_white for path in (before, after))
    proposals = read_proposals(Compared(one, other), regions)
    first = np.array([0, len(proposals.boxes)], np.int64)
    return {
        "numbers": proposals.numbers,
        "boxes": proposals.boxes,
        "sizes": proposals.sizes[None],
        "first": first,
    }


def store_regions(
    dataset: Dataset,
    root: Path,
    out: Path,
    workers: int = 1,
    quiet: bool = False,
    regions: int = REGIONS,
) -> int:
    """Write the regions of every pair into ``out``, shard by shard; returns how many shards were written.

    root: the data set's folder or list. Shards that are there are kept. Raises OutputError where one of them
    holds other pairs, or another number of regions; ImageError where a picture cannot be read.
    """
    out.mkdir(parents=True, exist_ok=True)
    records = [record for record in dataset.records if record.after is not None]
    parts = [records[start : start + SHARD] for start in range(0, len(records), SHARD)]
    about = {"regions": regions}
    jobs = [
        (shard_file(out, number), part, about, root)
        for number, part in enumerate(parts)
        if not _is_there(shard_file(out, number), _names(part, root), about)
    ]
    with worker_pool(workers) as pool:
        written = in_order(pool.submit(_write_shard, *job) for job in jobs)
        for _ in track(written, "regions", total=len(jobs), disable=quiet):
            pass
    return len(jobs)


def _names(records: Sequence[PairRecord], root: Path) -> list[list[str]]:
    results = []
    for record in records:
        assert record.after is not None
        results.append([picture_name(record.before, root), picture_name(record.after, root)])
    return results


def _is_there(path: Path, names: list[list[str]], about: dict[str, int]) -> bool:
    if not path.exists():
        return False
    header = _read_header(path)
    if header["pairs"] != names or header["about"] != about:
        raise OutputError(
            f"{path}: it holds the regions of other pairs, or other regions. Choose another folder."
        )
    return True


def _write_shard(path: Path, records: Sequence[PairRecord], about: dict[str, int], root: Path) -> None:
    """Compute and write one shard, whole or not at all."""
    parts = []
    for record in records:
        assert record.after is not None
        parts.append(regions_of(record.before, record.after, about["regions"]))
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "first"}
    counts = [int(part["first"][1]) for part in parts]
    joined["first"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    header = {"about": about, "pairs": _names(records, root), "sha256": _checksum(joined)}
    write_whole(path, save(joined, {"regions": json.dumps(header)}))


def _checksum(tensors: Tensors) -> str:
    """The SHA-256 of all arrays of a shard."""
    found = hashlib.sha256()
    for name in TENSORS:
        found.update(np.ascontiguousarray(tensors[name]).data)
    return found.hexdigest()


def _read_header(path: Path) -> dict[str, Any]:
    """What a shard holds. Raises DatasetError."""
    try:
        with safe_open(regular(path), framework="numpy") as file:
            header = dict(read_json((file.metadata() or {})["regions"]))
            slices = {name: file.get_slice(name) for name in TENSORS}
            shapes = {name: (part.get_dtype(), part.get_shape()) for name, part in slices.items()}
        _check(header, shapes)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"{path}: no regions that whatchanged wrote can be read here ({error}). Delete the file and run"
            " `whatchanged features` again."
        ) from error
    return header


def _check(header: Mapping[str, Any], shapes: Mapping[str, tuple[str, list[int]]]) -> None:
    """That a header and its arrays belong together. Raises ValueError, KeyError or TypeError."""
    about, pairs = header["about"], header["pairs"]
    if set(about) != {"regions"} or type(about["regions"]) is not int or about["regions"] < 1:
        raise ValueError(f"about {about!r}")
    if not isinstance(header["sha256"], str):
        raise ValueError("its sha256 is no text")
    if not isinstance(pairs, list) or not all(
        isinstance(names, list) and len(names) == 2 and all(isinstance(name, str) for name in names)
        for names in pairs
    ):
        raise ValueError("its names are not those of pairs")
    rows = shapes["numbers"][1][0] if shapes["numbers"][1] else 0
    wanted = {
        "numbers": ("F32", [rows, NUMBERS]),
        "boxes": ("I32", [rows, 2, 4]),
        "sizes": ("I32", [len(pairs), 2, 2]),
        "first": ("I64", [len(pairs) + 1]),
    }
    for name, expected in wanted.items():
        if shapes[name] != expected:
            raise ValueError(f"{name}: {shapes[name]} in place of {expected}")


def _open_checked(path: Path, about: Mapping[str, int]) -> Any:
    """An open shard whose arrays are those that were written. Raises DatasetError."""
    shard: Any = safe_open(regular(path), framework="numpy")
    sha256 = read_json(shard.metadata()["regions"])["sha256"]
    first = shard.get_tensor("first")
    counts = np.diff(first)
    rows = shard.get_slice("numbers").get_shape()[0]
    fits = first[0] == 0 and first[-1] == rows and ((counts >= 0) & (counts <= about["regions"])).all()
    if not fits or _checksum({name: shard.get_tensor(name) for name in TENSORS}) != sha256:
        raise DatasetError(
            f"{path}: its content was changed. Delete the file and run `whatchanged features` again."
        )
    return shard


class StoredRegions(NamedTuple):
    """The regions of a pair: its numbers (regions, NUMBERS), and (regions, ROW) of each picture.

    sizes: (2, 2), width and height of both pictures.
    """

    numbers: RegionNumbers
    before: RegionNumbers
    after: RegionNumbers
    sizes: NDArray[np.int32]


class RegionFiles:
    """The shards of one folder; a pair's regions are read when asked for.

    Raises DatasetError where there is no shard, or shards differ in their number of regions.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, int] = {}
        self._index: dict[tuple[str, str], tuple[Path, int]] = {}
        self._open: dict[Path, Any] = {}
        for path in sorted(folder.glob(PATTERN)):
            header = _read_header(path)
            if self.about and header["about"] != self.about:
                raise DatasetError(f"{path}: it holds more or fewer regions a pair than those beside it.")
            self.about = header["about"]
            for row, (before, after) in enumerate(header["pairs"]):
                self._index[before, after] = (path, row)
        if not self.about:
            raise DatasetError(
                f"{folder}: no regions lie here. Run: whatchanged features DATA {folder} --backbone regions"
            )

    def check(self, regions: int) -> None:
        """Raise DatasetError where another number of regions is stored."""
        if self.about != {"regions": regions}:
            stored = self.about["regions"]
            raise DatasetError(
                f"{self.folder}: {stored} regions a pair; the recipe wants {regions}. Pass --set"
                f" method.regions={stored}."
            )

    def read(self, before: str, after: str) -> StoredRegions:
        """The regions of a pair. Raises DatasetError."""
        index = self._index.get((before, after))
        if index is None:
            raise DatasetError(
                f"{self.folder}: no regions of {before} and {after}. Run `whatchanged features` on the whole"
                " data set."
            )
        path, row = index
        if path not in self._open:
            self._open[path] = _open_checked(path, self.about)
        shard = self._open[path]
        first, last = (int(end) for end in shard.get_slice("first")[row : row + 2])
        count, most = last - first, self.about["regions"]
        numbers = np.zeros((most, NUMBERS), np.float32)
        boxes = np.zeros((2, most, ROW), np.float32)
        if count:
            own = slice(first, first + count)
            numbers[:count] = shard.get_slice("numbers")[own]
            boxes[:, :count, :4] = shard.get_slice("boxes")[own].swapaxes(0, 1)
            boxes[:, :count, 4] = 1
        return StoredRegions(numbers, boxes[0], boxes[1], shard.get_slice("sizes")[row])
