"""Write files and folders completely or not at all: each is written as a draft beside its target, then
renamed.

A draft is named after its target, the machine and the process that writes it: ``.NAME.HOST-PID.draft``. A
folder that is being replaced is called ``.NAME.HOST-PID.replaced`` for the moment between two renames. A
process that is killed cannot remove its drafts; ``clear_drafts`` removes them before the next write to the
same target.
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
"""The system's error codes for a full disk, a full quota and a file that is too large."""
_LONGEST = 120
"""How many bytes of a name its draft's name repeats; file systems allow 255 for the whole name."""
_LEFT = re.compile(r"\.(?P<name>.+)\.(?P<host>[^.]+)-(?P<pid>\d+)\.(?P<kind>draft|replaced)")


def cache_folder() -> Path:
    """Return the folder for files that can be made or fetched again: ``whatchanged`` in the user's cache
    folder.

    A relative XDG_CACHE_HOME is ignored: it would name a folder of whoever made the working directory. Raises
    RuntimeError where the user has no home.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if not base.is_absolute():
        base = Path("~/.cache").expanduser()
    return base / "whatchanged"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield an empty draft beside ``path`` to write to; at the end of the block the draft replaces ``path``.

    A link at ``path`` is replaced as well. The new file keeps the permissions of the file that it replaces.
    If the block fails, ``path`` stays as it was and the draft is removed. Raises OutputError where the disk
    is full.
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
    """Yield a new folder beside ``path`` to write to; at the end of the block it takes the name ``path``.

    If the block fails, ``path`` stays as it was and the new folder is removed. replace: a folder that exists
    at ``path`` is replaced, and removed only after the new one has its name. Raises OutputError where the
    disk is full, OSError where something exists at ``path`` that may not be replaced.

    A folder in a remote store cannot be renamed: it is written under its final name, and removed if the block
    fails.
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
    """Replace the folder at ``path`` by the draft."""
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
    """Create an empty draft file. An older file of that name is removed first: a stranger's link must not be
    followed.

    private: only this user may read it, until the final permissions are known.
    """
    remove(draft)
    mode = 0o600 if private else 0o666
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode))


def _permissions(path: Path) -> int | None:
    """Return the permissions of a file; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mode & 0o777 if stat.S_ISREG(found.st_mode) else None


def remove(path: Path) -> None:
    """Remove a file, a folder with its content, or a link (never its target); do nothing where nothing
    exists.

    Raises OSError.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes, synced: bool = False) -> None:
    """Write a file completely or not at all; its folder is made where it is missing.

    synced: flush the data to the disk, not only to the system, before the file takes its name.
    """
    if is_remote(path):
        path.write_bytes(data)  # a remote store shows a file only when it is complete
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as draft, room_for(path, draft, len(data)), draft.open("wb") as file:
        file.write(data)
        if synced:
            file.flush()
            os.fsync(file.fileno())


def write_output(path: Path, content: bytes | str) -> None:
    """Write the output file that the user named, completely or not at all.

    A pipe is written to directly. A link stays a link where it leads to a file below its own folder. Text is
    encoded as UTF-8; half a surrogate pair, as in a file name of another encoding, becomes its escape, which
    JSON reads as the same. Raises OutputError where the file cannot be written, or is a link that leads
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
    """Yield a stream to a file in a remote store; data is sent as it is written, and the file appears at the
    end.

    If the block fails, what was there before stays. Raises OutputError where the file cannot be written.
    """
    place: Any = path
    try:
        stream = place.fs.open(place.path, "wb", autocommit=False)
    except Exception as error:  # each kind of store raises errors of its own
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
    """Turn errors of a full disk, or of a file that is too large for the system, into an OutputError.

    path: for the message. draft: the file that is written, where that is not ``path`` itself; ``path`` then
    stays as it was. size: the bytes to be written, where that is known.
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
    """Return how much space is free at ``path``, as a sentence."""
    target = path.absolute()
    while not target.is_dir():
        target = target.parent
    return f"Free on that disk: {shutil.disk_usage(target).free:,} bytes."


def draft_of(path: Path) -> Path:
    """Return the path of this process's draft of ``path``."""
    return path.with_name(f".{short_name(path.name)}.{_host()}-{os.getpid()}.draft")


def clear_drafts(path: Path) -> None:
    """Remove the drafts of ``path`` that killed processes of this machine left, and those below it if it is a
    folder.

    A folder that was renamed for a replacement which never came gets its name back. Links are removed, not
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
    """Yield the drafts in a folder, of one name or of any, whose process ran on this machine and has
    ended.
    """
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
    """Return whether a process of this number runs on this machine."""
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
    """Return the part of a name that a draft's name repeats; a long name is cut and followed by a hash."""
    data = os.fsencode(name)
    if len(data) <= _LONGEST:
        return name
    return f"{os.fsdecode(data[: _LONGEST - 20])}~{hashlib.sha256(data).hexdigest()[:16]}"
