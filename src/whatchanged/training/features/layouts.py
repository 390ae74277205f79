"""How a folder stores the features of a data set's pictures: in shards, or one file per picture."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whatchanged.datasets.picture_files import is_picture
from whatchanged.errors import OutputError
from whatchanged.files import write_whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.training.data.grid_files import PATTERN, read_header, shard_file, write_shard
from whatchanged.training.data.npy_files import ABOUT, npy_bytes, npy_file


@dataclass(frozen=True)
class Job:
    """Pictures whose features are computed and written together, by name and by path.

    number: the number of the shard.
    """

    number: int
    names: tuple[str, ...]
    pictures: tuple[Path, ...]


class FeatureLayout(Protocol):
    """The methods that a layout must have."""

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """The type in which numbers are stored."""
        ...

    def pictures(self, root: Path, named: Mapping[str, Path]) -> dict[str, Path]:
        """Return the pictures that get features, by name: the pictures of the records, and further pictures
        that readers need.
        """
        ...

    def missing(self, pictures: Mapping[str, Path], size: int) -> list[Job]:
        """Return the jobs that remain, ``size`` pictures each. Raises OutputError where other features
        lie.
        """
        ...

    def write(self, job: Job, grids: NDArray[np.floating[Any]]) -> None:
        """Write the features (n, N, F) of a job; each file appears whole or not at all."""
        ...

    def files(self, pictures: Mapping[str, Path], size: int) -> list[Path]:
        """Every file that holds features of these pictures."""
        ...


@dataclass(frozen=True)
class Shards:
    """Numbered files of float16 grids, each of several pictures (``grid_files``)."""

    folder: Path
    about: Mapping[str, Any]
    dtype = np.float16

    def pictures(self, root: Path, named: Mapping[str, Path]) -> dict[str, Path]:
        """Return the pictures of the records."""
        return dict(named)

    def missing(self, pictures: Mapping[str, Path], size: int) -> list[Job]:
        """Return the jobs of the missing shards."""
        jobs = _jobs(pictures, size)
        results = [job for job in jobs if not self._is_there(job)]
        own = {self._file(job).name for job in jobs}
        extra = sorted({path.name for path in self.folder.glob(PATTERN)} - own)
        if extra:
            raise OutputError(
                f"{self.folder}: it holds shards of another data set (first: {extra[0]}). Choose another"
                " folder."
            )
        return results

    def write(self, job: Job, grids: NDArray[np.floating[Any]]) -> None:
        """Write one shard."""
        write_shard(self._file(job), self.about, job.names, grids.astype(np.float16, copy=False))

    def files(self, pictures: Mapping[str, Path], size: int) -> list[Path]:
        """Return the path of every shard."""
        return [self._file(job) for job in _jobs(pictures, size)]

    def _file(self, job: Job) -> Path:
        return shard_file(self.folder, job.number)

    def _is_there(self, job: Job) -> bool:
        path = self._file(job)
        if not path.exists():
            return False
        about, names = read_header(path)
        if about != self.about:
            raise _of_another(path, about, self.about)
        if tuple(names) != job.names:
            raise OutputError(
                f"{path}: it holds other pictures, or another number of them: the data set or --shard-size"
                " has changed. Choose another folder."
            )
        return True


@dataclass(frozen=True)
class FilePerPicture:
    """``features/NAME.npy`` for ``images/NAME``, float32 (F, rows, columns), as released programs read them.

    Those programs find a scene's file by its position in the sorted folder. Therefore every picture in a
    folder of the data set gets a file, whether or not a record names it.
    """

    folder: Path
    about: Mapping[str, Any]
    dtype = np.float32

    def pictures(self, root: Path, named: Mapping[str, Path]) -> dict[str, Path]:
        """Return the pictures of the records. In a data set's folder, all pictures in the same folders are
        added. Pictures are sorted by name.
        """
        for name in named:
            npy_file(self.folder, name)  # a name that leaves the folder stops here
        found = dict(named)
        if root.is_dir():
            for inside in sorted({(Path(name).parent, picture.parent) for name, picture in named.items()}):
                beside = (path for path in inside[1].iterdir() if is_picture(path.name))
                found |= {(inside[0] / path.name).as_posix(): path for path in beside}
        return dict(sorted(found.items()))

    def missing(self, pictures: Mapping[str, Path], size: int) -> list[Job]:
        """Return the jobs for pictures without a file."""
        self._claim()
        left = {name: path for name, path in pictures.items() if not npy_file(self.folder, name).exists()}
        return _jobs(left, size)

    def write(self, job: Job, grids: NDArray[np.floating[Any]]) -> None:
        """A file for each picture."""
        shape = tuple(self.about[key] for key in ("width", "rows", "columns"))
        for name, grid in zip(job.names, grids, strict=True):
            write_whole(npy_file(self.folder, name), npy_bytes(grid.T.reshape(shape)))

    def files(self, pictures: Mapping[str, Path], size: int) -> list[Path]:
        """A file for each picture."""
        return [npy_file(self.folder, name) for name in pictures]

    def _claim(self) -> None:
        """Record whose features the folder holds. Raises OutputError where they are another backbone's."""
        noted = self.folder / ABOUT
        if not noted.exists():
            if self.folder.exists() and any(self.folder.iterdir()):
                raise OutputError(
                    f"{self.folder}: this folder holds files of others. Choose another one for the features."
                )
            write_whole(noted, json.dumps(dict(self.about), indent=1).encode())
            return
        try:
            about = read_json(read_regular_text(noted))
        except (OSError, ValueError) as error:
            raise OutputError(f"{noted}: cannot be read ({error}). Choose another folder.") from error
        if not isinstance(about, dict) or about != self.about:
            raise _of_another(noted, about if isinstance(about, dict) else {}, self.about)


def _jobs(pictures: Mapping[str, Path], size: int) -> list[Job]:
    names = tuple(pictures)
    parts = [names[first : first + size] for first in range(0, len(names), size)]
    return [Job(i, part, tuple(pictures[name] for name in part)) for i, part in enumerate(parts)]


def _of_another(path: Path, actual: Mapping[str, Any], wanted: Mapping[str, Any]) -> OutputError:
    theirs, ours = (about.get("precision", "fp32") for about in (actual, wanted))
    if {**actual, "precision": ours} == {**wanted, "precision": ours}:
        return OutputError(
            f"{path}: its features were computed in {theirs}, not in {ours}. Choose another folder, or"
            f" --precision {theirs}."
        )
    return OutputError(
        f"{path}: its features are those of {actual.get('backbone')} with weights"
        f" {str(actual.get('sha256'))[:12]}, not of {wanted['backbone']} with {wanted['sha256'][:12]}. Choose"
        " another folder."
    )
