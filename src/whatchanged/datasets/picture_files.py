"""Which files of a folder are pictures, by the endings of their names; and when two names are one.

Whoever made a folder may have put links into it: those that lead out of what a person named are left out.
"""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Literal

from whatchanged.errors import DatasetError
from whatchanged.pdf import can_draw, is_pdf
from whatchanged.urls import is_remote

_READ = "png jpg jpeg webp gif bmp tif tiff ppm pgm pbm pnm avif"
ENDINGS = frozenset(f".{ending}" for ending in _READ.split())
"""Endings of the formats that are read, in small letters."""
DRAWINGS = frozenset((".svg", ".pdf", ".eps", ".heic", ".jxl", ".psd"))
"""Endings of pictures that are not read; a comparison says that it leaves them out."""
MOST_FILES = 200_000
_FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


@dataclass
class ListedPictures:
    """What lies in a folder and below it.

    pictures  by their paths relative to the folder, with "/" between the parts
    others    ending -> number of the pictures of a format that is not read
    outside   links to something that nobody named; they are not among the pictures
    """

    pictures: dict[str, Path] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    outside: list[Path] = field(default_factory=list)


def is_picture(name: str) -> bool:
    """Whether a file of this name is one of the pictures that are read."""
    return PurePath(name).suffix.lower() in ENDINGS


def is_compared(name: str) -> bool:
    """Whether ``compare`` takes a file of this name: a picture, or pages where they can be drawn."""
    return is_picture(name) or (is_pdf(name) and can_draw())


def pictures_below(
    folder: Path, leave_out: Sequence[Path] = (), named: Sequence[Path] = (), pages: bool = False
) -> ListedPictures:
    """The pictures in a folder and below it, in the order of their names.

    Left out are names that begin with a dot, links to folders, the folders of ``leave_out``, and what links
    lead to outside of the folders that a person named; named: if they are others than this one. pages: PDF
    files are among the pictures where their pages can be drawn; never of a folder that lies elsewhere.
    Raises DatasetError where the folder cannot be listed or holds too many files.
    """
    if not folder.is_dir():
        wrong = "this is a file, a folder is wanted" if folder.exists() else "there is no such folder"
        raise DatasetError(f"{folder}: {wrong}.")
    if is_remote(folder):
        return _pictures_elsewhere(folder)
    skipped = {path.resolve() for path in leave_out}
    inside = [path.resolve() for path in named or (folder,)]
    away = not any(folder.resolve().is_relative_to(path) for path in inside)
    found = ListedPictures()
    seen = 0
    for parent, folders, names in os.walk(folder, onerror=_refuse):
        here = Path(parent)
        folders[:] = sorted(
            name for name in folders if name[0] != "." and (here / name).resolve() not in skipped
        )
        seen += len(names)
        if seen > MOST_FILES:
            raise DatasetError(f"{folder}: more than {MOST_FILES:,} files. Name a folder further down.")
        for name in sorted(names):
            ending = PurePath(name).suffix.lower()
            if name[0] != "." and (is_compared(name) if pages else ending in ENDINGS):
                path = here / name
                if away or leads_out(path, inside):
                    found.outside.append(path)
                else:
                    found.pictures[path.relative_to(folder).as_posix()] = path
            elif ending in DRAWINGS:
                found.others[ending] += 1
    found.pictures = dict(sorted(found.pictures.items()))
    return found


def leads_out(path: Path, inside: Sequence[Path]) -> bool:
    """Whether this is a link to something below none of these folders, whose own links are resolved."""
    if not path.is_symlink():
        return False
    try:
        target = path.resolve()
    except (OSError, RuntimeError):  # links in a circle: what opens the file says so
        return False
    return not any(target.is_relative_to(folder) for folder in inside)


def composed(name: str) -> str:
    """One spelling of a name: a letter and its accent are one character or two, as systems differ (NFC)."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def as_spelled(folder: Path, name: str) -> Path:
    """The file of this name in a folder, which may be spelled there with accents of their own, or without."""
    if name.isascii():
        return folder / name
    places = [folder / name, *(folder / unicodedata.normalize(form, name) for form in _FORMS)]
    return next((place for place in places if os.path.lexists(place)), places[0])


def _pictures_elsewhere(folder: Any) -> ListedPictures:
    """The same for a folder that lies elsewhere."""
    found = ListedPictures()
    base = folder.path.rstrip("/")
    names = sorted(name.removeprefix(base).lstrip("/") for name in folder.fs.find(base))
    if len(names) > MOST_FILES:
        raise DatasetError(f"{folder}: more than {MOST_FILES:,} files. Name a folder further down.")
    for name in names:
        ending = PurePath(name).suffix.lower()
        hidden = any(part[0] == "." for part in name.split("/") if part)
        if not hidden and ending in ENDINGS:
            found.pictures[name] = folder / name
        elif ending in DRAWINGS:
            found.others[ending] += 1
    return found


def listed(paths: Iterable[Path]) -> set[Path]:
    """Which of these files there are; each folder is listed once, which asks a store less often."""
    by_folder: dict[Path, set[Path]] = {}
    for path in paths:
        by_folder.setdefault(path.parent, set()).add(path)
    results: set[Path] = set()
    for folder, wanted in by_folder.items():
        if folder.is_dir():
            names = _names_in(folder)
            results |= {path for path in wanted if path.name in names}
    return results


def _names_in(folder: Path) -> set[str]:
    """The names of what lies in a folder. In a store one may look like a URL that no path can be made of."""
    if is_remote(folder):
        store: Any = folder
        return {name.rstrip("/").rpartition("/")[2] for name in store.fs.ls(store.path, detail=False)}
    return {entry.name for entry in folder.iterdir()}


def _refuse(error: OSError) -> None:
    """A folder that cannot be listed must not be left out in silence."""
    raise DatasetError(f"{error.filename}: cannot list this folder ({error.strerror}).") from error
