"""Locks on outputs: one process writes to a place at a time, and a second one is told who does.

A lock is a small file beside the output, ``.NAME.lock``, which says who holds it. The lock itself is the
system's (``flock``): it ends with the process that holds it, however that ends. What then is left of the file
holds nobody up.
"""

import json
import os
import shlex
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from whatchanged.errors import OutputError
from whatchanged.files import clear_drafts, short_name
from whatchanged.json_values import read_json
from whatchanged.places import is_remote

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else may write ``path``, a file or folder, meanwhile; what killed processes left of it goes.

    Folders above it are made for the lock, and removed if they stay empty. What is neither a file nor a
    folder, such as a pipe, is not locked; nor is what lies elsewhere, or on a system without ``flock``.

    Raises OutputError where another process holds it, saying which, or where no file can lie beside it.
    """
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
            except OSError as error:
                raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error
        yield
    finally:
        if held is not None:
            with _signals_wait():
                clear_drafts(place)  # of workers that were ended
                lock.unlink(missing_ok=True)  # while it is held, so that nobody takes a file about to go
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
    """The descriptor of the lock's file, held and signed. Raises OutputError where another process has it."""
    while True:
        found = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _holder(found)
            os.close(found)
            raise OutputError(
                f"{path}: {holder} is writing it. Wait until it has ended, or choose another name."
            ) from error
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(found), os.stat(lock)):  # noqa: PTH116 - beside fstat
                _sign(found)
                return found
        os.close(found)  # whoever held it removed the file after we had opened it


def _sign(lock: int) -> None:
    """Write down who holds the lock."""
    who = {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(who).encode(), 0)


def _holder(lock: int) -> str:
    """Who holds a lock, in words."""
    try:
        who = read_json(os.pread(lock, 100_000, 0))
        return f"process {who['process']} on {who['host']}, since {who['since']} ({who['command']}),"
    except (ValueError, KeyError, TypeError):  # it has not signed yet
        return "another process"


def _release(lock: int) -> None:
    fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough: processes that were forked have it open, too
    os.close(lock)


def _make_folders(folder: Path) -> Sequence[Path]:
    """Make a folder and those above it; returns the new ones, the outermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # it holds something now
            folder.rmdir()
