"""Check links at output paths. An untrusted person may have placed a link in the working directory.

A link that the user names is followed to a pipe, to a terminal, and to a file below the link's own folder.
Any other link is refused, because its creator would choose which file is overwritten. A link inside an output
folder to a target outside this folder is refused for the same reason.
"""

import os
import stat
from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.urls import is_remote

_PROTECTED = ".git"
"""The name of git's own folders. Git may run programs in such a folder."""


def check_link(path: Path) -> None:
    """Check that the path of an output is not a link to a file outside the folder of the link.

    Raises OutputError if the path is such a link.

    The system's own links, /dev/stdout and the links in /dev/fd, may lead anywhere.
    """
    if is_remote(path) or not os.path.islink(path) or _is_of_the_system(path):  # noqa: PTH114 - never raises
        return
    target = _target(path)
    kind = _kind(target)
    if stat.S_ISFIFO(kind) or stat.S_ISCHR(kind) or not _leads_out(target, path.parent):
        return
    what = "folder" if stat.S_ISDIR(kind) else "file"
    raise OutputError(f"{path}: this is a link to {target}; name that {what} itself, or remove the link.")


def check_inside(folder: Path) -> None:
    """Check that no link at any depth of an output folder leads out of this folder.

    Raises OutputError if there is such a link, or if the folder cannot be read.
    """
    waiting = [folder]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        _check_inner(Path(entry.path), folder)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
    except OSError as error:
        raise OutputError(f"{error.filename}: cannot be read ({error.strerror}).") from error


def _check_inner(link: Path, folder: Path) -> None:
    """Check that the target of a link is below the output folder.

    Raises OutputError if the target is outside.
    """
    target = _target(link)
    if _leads_out(target, folder):
        raise OutputError(
            f"{link}: this link in an output folder leads out of it, to {target}. Remove the link, or choose"
            " another folder."
        )


def _is_of_the_system(link: Path) -> bool:
    """Return whether a link was made by the system.

    Such a link is directly in /dev, or in /proc, to which /dev/fd leads.
    """
    folder = link.parent.resolve()
    return folder == Path("/dev") or folder.is_relative_to("/proc")


def _target(link: Path) -> Path:
    """Return the target of a link. The target need not exist. Raises OutputError if links form a circle."""
    try:
        return link.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError until Python 3.12
        raise OutputError(f"{link}: this link leads nowhere. Remove it, or choose another name.") from error


def _kind(path: Path) -> int:
    """Return the file mode at a path; 0 if nothing exists at the path."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _leads_out(target: Path, folder: Path) -> bool:
    """Return whether a resolved path is outside a folder, or inside a ``.git`` folder below that folder."""
    here = folder.resolve()
    if not target.is_relative_to(here):
        return True
    return _PROTECTED in (part.lower() for part in target.relative_to(here).parts)
