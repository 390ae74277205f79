"""Which files of a folder are pictures, by the endings of their names."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath

from whatchanged.errors import DatasetError

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


def _refuse(error: OSError) -> None:
    """A folder that cannot be listed must not be left out in silence."""
    raise DatasetError(f"{error.filename}: cannot list this folder ({error.strerror}).") from error
