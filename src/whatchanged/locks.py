"""Locks on outputs: one process writes to a place at a time, and a second one is told who does.

A lock is a small file beside the output, ``.NAME.lock``, which says who holds it. The lock itself is the
system's (``flock``): it ends with the process that holds it, however that ends. What then is left of the file
holds nobody up. Anything else of that name, such as a link, is a stranger's: it is neither followed, written
nor removed.
"""

import errno
import json
import os
import shlex
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.files import clear_drafts, short_name
from whatchanged.json_values import read_json
from whatchanged.links import check_inside, check_link
from whatchanged.urls import is_remote

if sys.platform != "win32":
    import fcntl

_SIGNED = ("host", "process", "since", "command")
"""What the file of a lock says of its holder."""
_MOST_BYTES = 100_000
"""Of such a file."""
_MOST_COMMAND = 4000
"""Characters of a command in it."""
_IN_THE_WAY = (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO)
"""What the system answers where a link, a folder or a socket has the name of a lock."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else may write ``path``, a file or folder, meanwhile; what killed processes left of it goes.

    Folders above it are made for the lock, and removed if they stay empty. What is neither a file nor a
    folder, such as a pipe, is not locked; nor is what lies elsewhere, or on a system without ``flock``.

    Raises OutputError where another process holds it, saying which; where no file can lie beside it; where
    ``path`` is a link to somewhere else, or a link in the folder leads out of it; and where something of
    others has the lock's name.
    """
    check_link(path)
    # Before it is resolved: /dev/stdout leads to a name that no folder holds.
    if sys.platform == "win32" or is_remote(path):
        yield
        return
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield
        return
    place = path.resolve()
    lock = place.with_name(f".{short_name(place.name)}.lock")
    made: Sequence[Path] = ()
    held = None
    try:
        with _signals_wait():
            try:
                made = _make_folders(place.parent)
                held = _take(lock, path)
                clear_drafts(place)
                if place.is_dir():
                    check_inside(place)
            except OSError as error:
                raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error
        yield
    finally:
        if held is not None:
            with _signals_wait():
                clear_drafts(place)  # of workers that were ended
                if _lies_at(lock, held):
                    lock.unlink()  # while it is held, so that nobody takes a file about to go
                _release(held)
                _remove_empty(made)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """SIGINT and SIGTERM that come meanwhile are heard at its end: they would leave the lock's file behind.

    In a thread, which hears no signals, nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)


def _take(lock: Path, path: Path) -> int:
    """The descriptor of the lock's file, held and signed.

    Raises OutputError where another process has it, or where something of others has its name.
    """
    while True:
        found = _open(lock)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _holder(found)
            os.close(found)
            raise OutputError(
                f"{path}: {holder} is writing it. Wait until it has ended, or choose another name."
            ) from error
        if not _lies_at(lock, found):
            os.close(found)  # whoever held it removed the file after we had opened it
            continue
        if not _is_ours(found):
            os.close(found)
            raise _in_the_way(lock)
        _sign(found)
        return found


def _open(lock: Path) -> int:
    """The lock's file, made where it is missing; a link is not followed, and a pipe not waited for.

    Raises OutputError where something else has its name.
    """
    try:
        found = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in _IN_THE_WAY:
            raise _in_the_way(lock) from error
        raise
    about = os.fstat(found)
    if stat.S_ISREG(about.st_mode) and about.st_nlink <= 1:
        return found
    os.close(found)
    raise _in_the_way(lock)


def _in_the_way(lock: Path) -> OutputError:
    return OutputError(
        f"{lock}: this has the name of a lock and is none, but a link or a file of others. Look at it and"
        " remove it, or choose another name for the output."
    )


def _lies_at(lock: Path, result: int) -> bool:
    """Whether the file that was opened has this name still."""
    try:
        return os.path.samestat(os.fstat(result), lock.lstat())
    except FileNotFoundError:
        return False


def _is_ours(lock: int) -> bool:
    """Whether an opened file is new, or the lock of a process that was killed, and not of others."""
    content = os.pread(lock, _MOST_BYTES, 0)
    try:
        who = read_json(content) if content else dict.fromkeys(_SIGNED)
    except ValueError:
        return False
    return isinstance(who, dict) and who.keys() == set(_SIGNED)


def _sign(lock: int) -> None:
    """Write down who holds the lock."""
    who = {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])[:_MOST_COMMAND],
    }
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(who).encode(), 0)


def _holder(lock: int) -> str:
    """Who holds a lock, in words."""
    try:
        who = read_json(os.pread(lock, _MOST_BYTES, 0))
        return f"process {who['process']} on {who['host']}, since {who['since']} ({who['command']}),"
    except (ValueError, KeyError, TypeError):  # it has not signed yet
        return "another process"


def _release(lock: int) -> None:
    fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough: processes that were forked have it open, too
    os.close(lock)


def _make_folders(folder: Path) -> Sequence[Path]:
    """Make a folder and those above it; returns the new ones, the outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # it holds something now
            folder.rmdir()
