"""Lock outputs, so that only one process at a time writes an output.

A second process gets an error with the id of the first process.

A lock is a small file beside the output, ``.NAME.lock``. The file describes the process that holds the lock.
The system locks the file (``flock``), and releases the lock when the process ends for any reason. A lock file
from a killed process therefore blocks no other process. A link or folder with the name of a lock file may be
untrusted, and is not followed, written or removed.
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
"""The fields of a lock file, which describe the process that holds the lock."""
_MOST_BYTES = 100_000
"""The largest size of a lock file in bytes."""
_MOST_COMMAND = 4000
"""The largest number of characters of a process's command that a lock file contains."""
_IN_THE_WAY = (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO)
"""The system's error codes for opening a lock file if a link, a folder or a socket has its name."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock ``path``, a file or folder, during the block.

    Drafts of ``path`` from killed processes are removed. Missing parent folders are created for the lock, and
    removed if they stay empty. A path that is neither a file nor a folder, such as a pipe, is not locked.
    Remote files are not locked. Without ``flock`` on the system, nothing is locked.

    Raises OutputError if another process holds the lock, if no file can be created beside ``path``, or if a
    file of another user has the name of the lock. Raises OutputError also if ``path`` is a link to another
    folder, or if a link inside the folder ``path`` leads out of this folder.
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
            _unlock(place, lock, held, made)


def _unlock(target: Path, lock: Path, descriptor: int, made: Sequence[Path]) -> None:
    """Remove the drafts of an output, its lock file, and the folders made for it that are empty.

    descriptor: of the opened lock file.
    """
    gone = False
    try:
        with _signals_wait():
            clear_drafts(target)  # of workers that were ended
            if _lies_at(lock, descriptor):
                lock.unlink()  # while it is locked, so that nobody takes a file about to go
            _release(descriptor)
            _remove_empty(made)
            gone = True
    except (KeyboardInterrupt, SystemExit):
        if not gone:  # the signal came just before signals wait
            _unlock(target, lock, descriptor, made)
        raise


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Delay SIGINT and SIGTERM until the end of the block.

    Without the delay, a signal could leave the lock's file behind. In a thread, which receives no signals,
    this function does nothing.
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
    """Return the descriptor of the locked lock file, after this process is recorded in the file.

    Raises OutputError if another process holds the lock, or if a file of another user has the name of the
    lock.
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
            os.close(found)  # the holder removed the file after we had opened it
            continue
        if not _is_ours(found):
            os.close(found)
            raise _in_the_way(lock)
        _sign(found)
        return found


def _open(lock: Path) -> int:
    """Open the lock file, and create the file if it is missing.

    A link is not followed. Opening does not wait for a pipe. Raises OutputError if a link, folder or socket
    has the name of the lock file.
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
        f"{lock}: this has the name of a lock, but is a link or a file of another user. Check it and"
        " remove it, or choose another name for the output."
    )


def _lies_at(lock: Path, result: int) -> bool:
    """Return whether the opened lock file is still the file at the path of the lock."""
    try:
        return os.path.samestat(os.fstat(result), lock.lstat())
    except FileNotFoundError:
        return False


def _is_ours(lock: int) -> bool:
    """Return whether an opened file is a lock file, either new or from a killed process."""
    content = os.pread(lock, _MOST_BYTES, 0)
    try:
        who = read_json(content) if content else dict.fromkeys(_SIGNED)
    except ValueError:
        return False
    return isinstance(who, dict) and who.keys() == set(_SIGNED)


def _sign(lock: int) -> None:
    """Write our process, host and command into the lock's file."""
    who = {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])[:_MOST_COMMAND],
    }
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(who).encode(), 0)


def _holder(lock: int) -> str:
    """Return a phrase that describes the process that holds a lock."""
    try:
        who = read_json(os.pread(lock, _MOST_BYTES, 0))
        return f"process {who['process']} on {who['host']}, since {who['since']} ({who['command']}),"
    except (ValueError, KeyError, TypeError):  # it has not signed yet
        return "another process"


def _release(lock: int) -> None:
    fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough: processes that were forked have it open, too
    os.close(lock)


def _make_folders(folder: Path) -> Sequence[Path]:
    """Create a folder and its missing parent folders. Return the new folders, the outermost folder first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # it holds something now
            folder.rmdir()
