"""Which files of a folder are pictures, by the endings of their names."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any

from whatchanged.errors import DatasetError
from whatchanged.places import is_remote

ENDINGS = frozenset(
    (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm")
)
"""Endings of the formats that are read, in small letters."""
DRAWINGS = frozenset((".svg", ".pdf", ".eps", ".avif", ".heic", ".jxl", ".psd"))
"""Endings of pictures that are not read; a comparison says that it leaves them out."""
MOST_FILES = 200_000


def is_picture(name: str) -> bool:
    """Whether a file of this name is one of the pictures that are read."""
    return PurePath(name).suffix.lower() in ENDINGS


def pictures_below(folder: Path, leave_out: Sequence[Path] = ()) -> tuple[dict[str, Path], Counter[str]]:
    """The pictures in a folder and below it, by their paths relative to it, with "/" between the parts.

    Left out are names that begin with a dot, links to folders, and the folders of ``leave_out``. The second
    result counts the pictures of other formats by their endings. Raises DatasetError where the folder cannot
    be listed or holds too many files.
    """
    if not folder.is_dir():
        wrong = "this is a file, a folder is wanted" if folder.exists() else "there is no such folder"
        raise DatasetError(f"{folder}: {wrong}.")
    if is_remote(folder):
        return _pictures_elsewhere(folder)
    skipped = {path.resolve() for path in leave_out}
    found: dict[str, Path] = {}
    others: Counter[str] = Counter()
    seen = 0
    for place, folders, names in os.walk(folder, onerror=_refuse):
        here = Path(place)
        folders[:] = sorted(
            name for name in folders if name[0] != "." and (here / name).resolve() not in skipped
        )
        seen += len(names)
        if seen > MOST_FILES:
            raise DatasetError(f"{folder}: more than {MOST_FILES:,} files. Name a folder further down.")
        for name in sorted(names):
            ending = PurePath(name).suffix.lower()
            if name[0] != "." and ending in ENDINGS:
                path = here / name
                found[path.relative_to(folder).as_posix()] = path
            elif ending in DRAWINGS:
                others[ending] += 1
    return dict(sorted(found.items())), others


def _pictures_elsewhere(folder: Any) -> tuple[dict[str, Path], Counter[str]]:
    """The same for a folder that lies elsewhere."""
    found: dict[str, Path] = {}
    others: Counter[str] = Counter()
    base = folder.path.rstrip("/")
    names = sorted(name.removeprefix(base).lstrip("/") for name in folder.fs.find(base))
    if len(names) > MOST_FILES:
        raise DatasetError(f"{folder}: more than {MOST_FILES:,} files. Name a folder further down.")
    for name in names:
        ending = PurePath(name).suffix.lower()
        hidden = any(part[0] == "." for part in name.split("/") if part)
        if not hidden and ending in ENDINGS:
            found[name] = folder / name
        elif ending in DRAWINGS:
            others[ending] += 1
    return found, others


def listed(paths: Iterable[Path]) -> set[Path]:
    """Which of these files there are; each folder is listed once, which asks a store less often."""
    by_folder: dict[Path, set[Path]] = {}
    for path in paths:
        by_folder.setdefault(path.parent, set()).add(path)
    found: set[Path] = set()
    for folder, wanted in by_folder.items():
        if folder.is_dir():
            names = {entry.name for entry in folder.iterdir()}
            found |= {path for path in wanted if path.name in names}
    return found


def _refuse(error: OSError) -> None:
    """A folder that cannot be listed must not be left out in silence."""
    raise DatasetError(f"{error.filename}: cannot list this folder ({error.strerror}).") from error
