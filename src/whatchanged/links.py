"""Check links at output paths: whoever made the working directory may have planted them.

A link that the user names is followed to a pipe, to a terminal, and to a file below the link's own folder.
Any other link would let a stranger choose which file is overwritten. So would a link inside an output folder
that leads out of it. Both are refused.
"""

import os
import stat
from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.urls import is_remote

_PROTECTED = ".git"
"""The name of git's own folders: git may run programs that lie in them."""


def check_link(path: Path) -> None:
    """Check that the output which the user named is no link to somewhere else. Raises OutputError where it
    is.

    The system's own links, /dev/stdout and those of /dev/fd, may lead anywhere.
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
    """Check that no link in an output folder, at any depth, leads out of it.

    Raises OutputError, which names such a link, and where the folder cannot be read.
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
    """Check that this link in an output folder leads to something below the folder. Raises OutputError."""
    target = _target(link)
    if _leads_out(target, folder):
        raise OutputError(
            f"{link}: this link in an output folder leads out of it, to {target}. Remove the link, or choose"
            " another folder."
        )


def _is_of_the_system(link: Path) -> bool:
    """Return whether the system made this link: it lies in /dev itself, or in /proc, as /dev/fd does."""
    folder = link.parent.resolve()
    return folder == Path("/dev") or folder.is_relative_to("/proc")


def _target(link: Path) -> Path:
    """Return the target of a link, whether it exists or not. Raises OutputError where links lead in a
    circle.
    """
    try:
        return link.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError until Python 3.12
        raise OutputError(f"{link}: this link leads nowhere. Remove it, or choose another name.") from error


def _kind(path: Path) -> int:
    """Return the file mode at a path; 0 where nothing exists."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _leads_out(target: Path, folder: Path) -> bool:
    """Return whether a resolved path is outside the folder, or in a folder of git's below it."""
    here = folder.resolve()
    if not target.is_relative_to(here):
        return True
    return _PROTECTED in (part.lower() for part in target.relative_to(here).parts)
