"""Open untrusted files, but only regular files.

Reading a pipe may block, and reading a device may never end. A link may lead to a pipe or a device. Every
module that reads a file by its path uses the functions here. A path that is not a regular file raises an
OSError with a readable message. The caller reports the path like any other unreadable file.
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
"""The error message for a path that is neither a regular file nor a folder."""
_DESCRIPTOR = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
)


def open_regular(path: Path, piped: bool = False) -> io.BufferedReader:
    """Open a regular file, or a remote file (a URL), for reading bytes.

    piped: whether to accept also a pipe that the caller's shell opened (``/dev/stdin``, or ``/dev/fd/63`` of
    a process substitution). Pipes may only be accepted for a path that the user typed, never for a path that
    the program found. Raises FileNotFoundError, IsADirectoryError, or an OSError with the message ``NO_FILE``
    for pipes, devices and sockets.
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
    """Return the path if ``open_regular`` would open the file at the path.

    Use this function before a library opens a file itself. Raises OSError for other paths.
    """
    if not is_remote(path):
        _require_file(path.stat(), path)
    return path


def is_descriptor(path: Path) -> bool:
    """Return whether a path stands for an open descriptor of this process. Shells pass pipes in this way."""
    return _DESCRIPTOR.fullmatch(str(path)) is not None


def _require_file(result: os.stat_result, path: Path) -> None:
    """Check that a file is a regular file. Raises OSError if not."""
    if stat.S_ISDIR(result.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(result.st_mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
