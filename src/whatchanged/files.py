"""Files and folders that are there whole or not at all: written beside their place, then moved into it.

A draft is called after its place, the machine and the process that writes it: ``.NAME.HOST-PID.draft``. A
folder that is being replaced is called ``.NAME.HOST-PID.replaced`` for the moment between two renames. A
process that is killed cannot clean up; ``clear_drafts`` does so, for whoever writes to that place next.
"""

import errno
import hashlib
import os
import re
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from whatchanged.errors import OutputError
from whatchanged.links import check_link
from whatchanged.urls import is_remote

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system answers where a disk, a share of it, or a file is full."""
_LONGEST = 120
"""Bytes of a name that a draft's name repeats; file systems take 255 for the whole name."""
_LEFT = re.compile(r"\.(?P<name>.+)\.(?P<host>[^.]+)-(?P<pid>\d+)\.(?P<kind>draft|replaced)")


def cache_folder() -> Path:
    """Where what can be made or fetched again is kept: ``whatchanged`` in the user's folder for caches.

    A relative XDG_CACHE_HOME, which would be a folder of whoever made the working directory, does not count.
    Raises RuntimeError where the user has no home.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if not base.is_absolute():
        base = Path("~/.cache").expanduser()
    return base / "whatchanged"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields an empty file beside ``path`` to write to; what was written there takes its place at the end.

    A link at ``path`` gives way, too; a file that is replaced hands on who may read and write it. If the end
    is not reached, what was there before stays, and nothing else lies beside it. Raises OutputError where the
    disk is full.
    """
    draft = draft_of(path)
    permissions = _permissions(path)
    try:
        with room_for(path, draft):
            _begin(draft, private=permissions is not None)
            yield draft
            if permissions is not None:
                draft.chmod(permissions)
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path, replace: bool = False) -> Iterator[Path]:
    """Yields a new folder beside ``path``, which takes its place at the end.

    If the end is not reached, what was there before stays, and nothing else lies beside it. replace: a folder
    that is at ``path`` gives way, and goes only when the new one stands. Raises OutputError where the disk
    is full, OSError where something is at ``path`` that does not give way.

    A folder that lies elsewhere cannot be moved: it is written in its place, and removed if the end is not
    reached.
    """
    if is_remote(path):
        try:
            yield path
        except BaseException:
            with suppress(Exception):
                path.fs.rm(path.path, recursive=True)  # type: ignore[attr-defined]
            raise
        return
    draft = draft_of(path)
    try:
        with room_for(path, draft):
            remove(draft)  # of an earlier process of the same number, or a stranger's
            draft.mkdir(parents=True)
            yield draft
            if replace and path.exists():
                _replace(path, draft)
            else:
                draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _replace(path: Path, draft: Path) -> None:
    """The draft takes the place of the folder that is at ``path``."""
    old = draft.with_suffix(".replaced")
    remove(old)  # of an earlier process of the same number, or a stranger's
    path.rename(old)
    try:
        draft.rename(path)
    except BaseException:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _begin(draft: Path, private: bool) -> None:
    """Make an empty file for a draft. What lies there goes first: a stranger's link must not be followed.

    private: for this user alone, until it is known who else may read it.
    """
    remove(draft)
    mode = 0o600 if private else 0o666
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode))


def _permissions(path: Path) -> int | None:
    """Who may read, write and run the file; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mode & 0o777 if stat.S_ISREG(found.st_mode) else None


def remove(path: Path) -> None:
    """Remove a file, a folder with all that is in it, or a link, never what a link leads to; or nothing.

    Raises OSError.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes, synced: bool = False) -> None:
    """Write a file that appears whole or not at all, and its folder.

    synced: it is on the disk, not only handed to the system, before it takes its place.
    """
    if is_remote(path):
        path.write_bytes(data)  # a store shows a file when it is whole
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as draft, room_for(path, draft, len(data)), draft.open("wb") as file:
        file.write(data)
        if synced:
            file.flush()
            os.fsync(file.fileno())


def write_output(path: Path, content: bytes | str) -> None:
    """Write the file that a person named, whole or not at all: a pipe is written to, and a link stays a link
    where it leads to a file below its own folder.

    Text is UTF-8; half a surrogate pair, as in a file's name in another encoding, becomes its escape,
    which JSON reads as the same. Raises OutputError where it cannot be written, or is a link that leads
    elsewhere.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if is_remote(path):
        with whole_elsewhere(path) as stream:
            stream.write(data)
        return
    check_link(path)
    try:
        # Before it is resolved: /dev/stdout leads to a name that no folder holds.
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        path = path.resolve()
        with whole(path) as draft, room_for(path, draft, len(data)):
            draft.write_bytes(data)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error


@contextmanager
def whole_elsewhere(path: Path) -> Iterator[BinaryIO]:
    """Yields a stream to a file that lies elsewhere; it is sent as it comes, and is there at the end.

    If the end is not reached, what was there before stays. Raises OutputError where it cannot be written.
    """
    place: Any = path
    try:
        stream = place.fs.open(place.path, "wb", autocommit=False)
    except Exception as error:  # each kind of store raises what it likes
        raise OutputError(f"{path}: cannot be written ({error}).") from error
    try:
        yield stream
    except BaseException:
        with suppress(Exception):
            stream.discard()
        raise
    try:
        stream.close()
        stream.commit()
        place.fs.invalidate_cache()
    except Exception as error:
        raise OutputError(f"{path}: cannot be written ({error}).") from error


@contextmanager
def room_for(path: Path, draft: Path | None = None, size: int | None = None) -> Iterator[None]:
    """Writing that ends in OutputError where the disk is full, or the file larger than the system allows.

    path: for the message. draft: what is written to, where that is not ``path`` itself, which then stays as
    it was. size: the bytes that it will have, where that is known.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        needed = "" if size is None else f" It needs {size:,} bytes."
        stays = f"{path.name} has all that was written before."
        if draft is not None:
            stays = "What was there before is untouched." if path.exists() else "Nothing of it is left."
        raise OutputError(
            f"{path}: cannot be written: {error.strerror}.{needed} {_free(path)} {stays} Make room, then run"
            " the same command again."
        ) from error


def _free(path: Path) -> str:
    """How much room is left where ``path`` is."""
    target = path.absolute()
    while not target.is_dir():
        target = target.parent
    return f"Free on that disk: {shutil.disk_usage(target).free:,} bytes."


def draft_of(path: Path) -> Path:
    """Where this process writes what will be ``path``."""
    return path.with_name(f".{short_name(path.name)}.{_host()}-{os.getpid()}.draft")


def clear_drafts(path: Path) -> None:
    """Remove what killed processes of this machine left of ``path``, and below it where it is a folder.

    A folder that had given way to a new one which never came goes back to its place. Links are removed, not
    followed.
    """
    left = _left_in(path.parent, short_name(path.name))
    if path.is_dir():
        left += [draft for folder, _, _ in os.walk(path) for draft in _left_in(Path(folder))]
    for entry in left:
        if entry.suffix == ".replaced" and not entry.is_symlink() and not os.path.lexists(path):
            entry.rename(path)
        else:
            with suppress(OSError):
                remove(entry)


def _left_in(folder: Path, name: str | None = None) -> list[Path]:
    """What lies in a folder, of one name or of any, whose process ran on this machine and is gone."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        results = [(Path(entry.path), _LEFT.fullmatch(entry.name)) for entry in entries]
    return [
        path
        for path, left in results
        if left and left["host"] == _host() and name in (None, left["name"]) and not alive(int(left["pid"]))
    ]


def alive(pid: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname()) or "host"


def short_name(name: str) -> str:
    """A name that a draft's can repeat; of a long one the beginning, and a hash in place of the rest."""
    data = os.fsencode(name)
    if len(data) <= _LONGEST:
        return name
    return f"{os.fsdecode(data[: _LONGEST - 20])}~{hashlib.sha256(data).hexdigest()[:16]}"
