"""List the pictures of a folder, recognised by their extensions, and match equivalent spellings of names.

A folder may contain links that its maker planted: links that lead out of the folder that the user named are
left out.
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
"""Extensions of the formats that are read, in lower case."""
DRAWINGS = frozenset((".svg", ".pdf", ".eps", ".heic", ".jxl", ".psd"))
"""Extensions of picture formats that are not read; a comparison reports files with them."""
MOST_FILES = 200_000
_FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


@dataclass
class ListedPictures:
    """The files in a folder and below it.

    pictures  by their paths relative to the folder, with "/" between the parts
    others    ending -> number of the pictures of a format that is not read
    outside   links that lead out of the named folders; they are not among the pictures
    """

    pictures: dict[str, Path] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    outside: list[Path] = field(default_factory=list)


def is_picture(name: str) -> bool:
    """Return whether a file of this name is a picture of a format that is read."""
    return PurePath(name).suffix.lower() in ENDINGS


def is_compared(name: str) -> bool:
    """Return whether ``compare`` takes a file of this name: a picture, or a PDF file where pages can be
    drawn.
    """
    return is_picture(name) or (is_pdf(name) and can_draw())


def pictures_below(
    folder: Path, leave_out: Sequence[Path] = (), named: Sequence[Path] = (), pages: bool = False
) -> ListedPictures:
    """Return the pictures in a folder and below it, in the order of their names.

    Left out are names that begin with a dot, links to folders, the folders of ``leave_out``, and links that
    lead out of the folders that the user named. named: these folders, if they differ from ``folder``. pages:
    include PDF files where their pages can be drawn, but never from a remote folder. Raises DatasetError
    where the folder cannot be listed or contains too many files.
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
    """Return whether this is a link that leads out of all of these folders, given with their own links
    resolved.
    """
    if not path.is_symlink():
        return False
    try:
        target = path.resolve()
    except (OSError, RuntimeError):  # links in a circle: an error follows when the file is opened
        return False
    return not any(target.is_relative_to(folder) for folder in inside)


def composed(name: str) -> str:
    """Return the name in Unicode form NFC: a letter with an accent is one or two characters on different
    systems.
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def as_spelled(folder: Path, name: str) -> Path:
    """Return the path of this name in a folder, in the spelling (NFC or NFD) that the folder uses."""
    if name.isascii():
        return folder / name
    places = [folder / name, *(folder / unicodedata.normalize(form, name) for form in _FORMS)]
    return next((place for place in places if os.path.lexists(place)), places[0])


def _pictures_elsewhere(folder: Any) -> ListedPictures:
    """List the pictures of a remote folder."""
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
    """Return which of these files exist; each folder is listed once, which needs fewer requests to a
    store.
    """
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
    """Return the names of a folder's entries. In a store, a name that looks like a URL may not be a valid
    path.
    """
    if is_remote(folder):
        store: Any = folder
        return {name.rstrip("/").rpartition("/")[2] for name in store.fs.ls(store.path, detail=False)}
    return {entry.name for entry in folder.iterdir()}


def _refuse(error: OSError) -> None:
    """Raise the error for a folder that cannot be listed: it must not be skipped silently."""
    raise DatasetError(f"{error.filename}: cannot list this folder ({error.strerror}).") from error
