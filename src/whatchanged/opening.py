"""Open files that strangers may have put there: regular files only, so that no read blocks or never ends.

A pipe waits for its other end, a device may have no end, and a link hides both. Every module that reads a
file by its path opens it here. Anything but a regular file raises an OSError with a readable message, which
the caller reports like any other unreadable file.
"""

import errno
import io
import os
import re
import stat
from pathlib import Path
from typing import TextIO

from whatchanged.urls import is_remote

NO_FILE = "this is a pipe or a device, a file is wanted"
"""The message for everything that is neither a regular file nor a folder."""
_DESCRIPTOR = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
)


def open_regular(path: Path, piped: bool = False) -> io.BufferedReader:
    """Open the file at a path for reading bytes, where it is a regular file or remote (a URL).

    piped: also accept a pipe that the caller's shell holds open (``/dev/stdin``, or ``/dev/fd/63`` of a
    process substitution). It is meant for files that the user names, never for files that are found.
    Raises OSError: FileNotFoundError, IsADirectoryError, or ``NO_FILE`` for pipes, devices and sockets.
    """
    if is_remote(path) or (piped and is_descriptor(path)):
        return path.open("rb")
    regular(path)  # before opening: opening alone makes some devices act
    opened = os.open(path, _FLAGS)
    try:
        _require_file(os.fstat(opened), path)  # another file may have its name by now
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def open_regular_text(path: Path, encoding: str, newline: str | None = None) -> TextIO:
    """Open the file at a path for reading text. Raises OSError as ``open_regular`` does."""
    return io.TextIOWrapper(open_regular(path), encoding=encoding, newline=newline)


def read_regular(path: Path, piped: bool = False) -> bytes:
    """Read all bytes of a file. Raises OSError as ``open_regular`` does."""
    with open_regular(path, piped) as file:
        return file.read()


def read_regular_text(path: Path, encoding: str = "utf-8", piped: bool = False) -> str:
    """Read all text of a file, with line ends as "\n". Raises OSError, and UnicodeDecodeError for other
    encodings.
    """
    content = read_regular(path, piped).decode(encoding)
    return content.replace("\r\n", "\n").replace("\r", "\n")


def regular(path: Path) -> Path:
    """Return the path if ``open_regular`` would open it, for libraries that open files themselves. Raises
    OSError.
    """
    if not is_remote(path):
        _require_file(path.stat(), path)
    return path


def is_descriptor(path: Path) -> bool:
    """Return whether a path names a descriptor that this process has open, as shells pass pipes."""
    return _DESCRIPTOR.fullmatch(str(path)) is not None


def _require_file(result: os.stat_result, path: Path) -> None:
    """Check that this is a regular file. Raises OSError."""
    if stat.S_ISDIR(result.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(result.st_mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
