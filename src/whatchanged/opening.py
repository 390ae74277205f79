"""Opening files that strangers may have put there: regular files alone, so that no read waits or never ends.

A pipe waits for its other end, a device may have no end, and a link hides both. Whoever reads a file by its
path opens it here. What is no regular file is an OSError with a message for people, so each reader's own
handling of files that cannot be read tells it.
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
"""What is said of everything that is neither a regular file nor a folder."""
_DESCRIPTOR = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
)


def open_regular(path: Path, piped: bool = False) -> io.BufferedReader:
    """The file at a path, open for its bytes, where it is a regular file or lies elsewhere (a URL).

    piped: a pipe that the caller's shell holds open (``/dev/stdin``, ``/dev/fd/63`` of a process
    substitution) will do, too; for files that a person names, never for those that are found.
    Raises OSError: FileNotFoundError, IsADirectoryError, or ``NO_FILE`` for pipes, devices and sockets.
    """
    if is_remote(path) or (piped and is_descriptor(path)):
        return path.open("rb")
    regular(path)  # before it is opened: that alone makes some devices do things
    opened = os.open(path, _FLAGS)
    try:
        _require_file(os.fstat(opened), path)  # another file may have its name by now
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def open_regular_text(path: Path, encoding: str, newline: str | None = None) -> TextIO:
    """The same as text. Raises OSError as ``open_regular`` does."""
    return io.TextIOWrapper(open_regular(path), encoding=encoding, newline=newline)


def read_regular(path: Path, piped: bool = False) -> bytes:
    """All bytes of a file. Raises OSError as ``open_regular`` does."""
    with open_regular(path, piped) as file:
        return file.read()


def read_regular_text(path: Path, encoding: str = "utf-8", piped: bool = False) -> str:
    """All text of a file, its line ends as "\\n". Raises OSError, UnicodeDecodeError where it is none."""
    content = read_regular(path, piped).decode(encoding)
    return content.replace("\r\n", "\n").replace("\r", "\n")


def regular(path: Path) -> Path:
    """The path, if ``open_regular`` would open it, for libraries that open files. Raises OSError."""
    if not is_remote(path):
        _require_file(path.stat(), path)
    return path


def is_descriptor(path: Path) -> bool:
    """Whether a path names what this process has open already, as shells pass pipes."""
    return _DESCRIPTOR.fullmatch(str(path)) is not None


def _require_file(result: os.stat_result, path: Path) -> None:
    """That this is a regular file. Raises OSError."""
    if stat.S_ISDIR(result.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(result.st_mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
