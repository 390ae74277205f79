"""List the pictures of a folder, recognised by their extensions, and match equivalent spellings of names.

An untrusted folder may contain links to other places. Links that lead out of the folder that the user named
are therefore left out.
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
"""The file extensions of the formats that are read, in lower case."""
DRAWINGS = frozenset((".svg", ".pdf", ".eps", ".heic", ".jxl", ".psd"))
"""The file extensions of picture formats that are not read.

A comparison reports files with these extensions.
"""
MOST_FILES = 200_000
_FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


@dataclass
class ListedPictures:
    """The files in a folder and in its subfolders.

    pictures  a mapping from the path relative to the folder, with "/" between the parts, to the file
    others    a mapping from file extension to the number of pictures in a format that is not read
    outside   links that lead out of the folders that the user named, and are not among the pictures
    """

    pictures: dict[str, Path] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    outside: list[Path] = field(default_factory=list)


def is_picture(name: str) -> bool:
    """Return whether a file name has the extension of a picture format that is read."""
    return PurePath(name).suffix.lower() in ENDINGS


def is_compared(name: str) -> bool:
    """Return whether ``compare`` accepts a file with this name.

    Pictures are accepted, and PDF files are accepted if pages can be drawn.
    """
    return is_picture(name) or (is_pdf(name) and can_draw())


def pictures_below(
    folder: Path, leave_out: Sequence[Path] = (), named: Sequence[Path] = (), pages: bool = False
) -> ListedPictures:
    """Return the pictures in a folder and in its subfolders, in the order of their names.

    The result does not contain names that begin with a dot, links to folders, the folders in ``leave_out``,
    and links that lead out of the folders that the user named. named: the folders that the user named, if
    different from ``folder``. pages: whether to include PDF files if their pages can be drawn. PDF files in a
    remote folder are never included. Raises DatasetError if the folder cannot be listed, or contains too many
    files.
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
    """Return whether a path is a link to a target outside all ``inside`` folders.

    Links in the paths of the ``inside`` folders must be resolved already.
    """
    if not path.is_symlink():
        return False
    try:
        target = path.resolve()
    except (OSError, RuntimeError):  # links in a circle: an error follows when the file is opened
        return False
    return not any(target.is_relative_to(folder) for folder in inside)


def composed(name: str) -> str:
    """Return the name in Unicode form NFC.

    A letter with an accent is one character on some systems and two characters on others.
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def as_spelled(folder: Path, name: str) -> Path:
    """Return the path of a name in a folder.

    The name is spelled in the Unicode form (NFC or NFD) of the file in the folder.
    """
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
    """Return the paths of files that exist.

    Each folder is listed once, so that a remote store gets fewer requests.
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
    """Raise DatasetError for a folder that cannot be listed, because such a folder must not be skipped
    silently.
    """
    raise DatasetError(f"{error.filename}: cannot list this folder ({error.strerror}).") from error
