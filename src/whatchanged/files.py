"""Write files and folders completely or not at all.

Each file or folder is written as a draft beside its target. The finished draft is then renamed to the target.

The name of a draft consists of the name of its target, the machine and the id of the writing process:
``.NAME.HOST-PID.draft``. A folder that is being replaced is called ``.NAME.HOST-PID.replaced`` for the moment
between two renames. A killed process cannot remove its drafts. ``clear_drafts`` removes these drafts before
the next write to the same target.
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
"""The largest number of bytes of a target's name that the name of its draft repeats.

File systems allow 255 bytes for a whole name.
"""
_LEFT = re.compile(r"\.(?P<name>.+)\.(?P<host>[^.]+)-(?P<pid>\d+)\.(?P<kind>draft|replaced)")


def cache_folder() -> Path:
    """Return the folder for files that can be computed or fetched again.

    This folder is ``whatchanged`` in the user's cache folder.

    A relative XDG_CACHE_HOME is ignored, because such a path leads into the working directory, which may be
    untrusted. Raises RuntimeError if the user has no home folder.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if not base.is_absolute():
        base = Path("~/.cache").expanduser()
    return base / "whatchanged"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield an empty draft beside ``path``, to which the block writes.

    At the end of the block the draft replaces ``path``. If ``path`` is a link, the draft replaces the link.
    The new file gets the permissions of the replaced file. If the block fails, ``path`` is not changed and
    the draft is removed. Raises OutputError if the disk is full.
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
    """Yield a new folder beside ``path``, to which the block writes.

    At the end of the block the new folder is renamed to ``path``.

    If the block fails, ``path`` is not changed and the new folder is removed. replace: whether an existing
    folder at ``path`` may be replaced. The old folder is removed only after the new folder has the name
    ``path``. Raises OutputError if the disk is full. Raises OSError if ``path`` exists and may not be
    replaced.

    A folder in a remote store cannot be renamed. Such a folder is therefore written under its final name, and
    removed if the block fails.
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
    """Create an empty draft file.

    An older file or link with the name of the draft is removed first, because an untrusted link must not be
    followed.

    private: whether only this user may read the draft until its final permissions are set.
    """
    remove(draft)
    mode = 0o600 if private else 0o666
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode))


def _permissions(path: Path) -> int | None:
    """Return the permissions of a file; None if the file does not exist."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mode & 0o777 if stat.S_ISREG(found.st_mode) else None


def remove(path: Path) -> None:
    """Remove a file, a folder with its content, or a link.

    The target of a link is never removed. Nothing happens if nothing exists at the path.

    Raises OSError.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes, synced: bool = False) -> None:
    """Write a file completely or not at all. The folder of the file is created if the folder is missing.

    synced: whether to flush the data to the disk before the file gets its final name.
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

    A pipe is written to directly. A link to a file below the folder of the link is followed and stays a link.
    Text is encoded as UTF-8. Half of a surrogate pair, as in a file name with another encoding, becomes a
    JSON escape. Raises OutputError if the file cannot be written, or if the path is a link to a file outside
    the folder of the link.
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
    """Yield a stream to a file in a remote store.

    Data is sent while the block writes. The file appears at the end of the block. If the block fails, an
    older file at the path stays unchanged. Raises OutputError if the file cannot be written.
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

    path: the path in the error message. draft: the file that is written, if this file is not ``path`` itself.
    size: the number of bytes to write, or None if the number is unknown.
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
    """Return a sentence that says how much space is free at ``path``."""
    target = path.absolute()
    while not target.is_dir():
        target = target.parent
    return f"Free on that disk: {shutil.disk_usage(target).free:,} bytes."


def draft_of(path: Path) -> Path:
    """Return the path of this process's draft of ``path``."""
    return path.with_name(f".{short_name(path.name)}.{_host()}-{os.getpid()}.draft")


def clear_drafts(path: Path) -> None:
    """Remove the drafts of ``path`` that killed processes of this machine left.

    If ``path`` is a folder, the drafts in this folder are removed too.

    If a process was killed between the two renames, the old folder gets its name back. A link is removed
    without following the link.
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
    """Return the drafts in a folder whose process ran on this machine and has ended.

    name: the name of the target; None for the drafts of all targets.
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
    """Return whether a process with this process id runs on this machine."""
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
    """Return the part of a target's name that the name of its draft repeats.

    A long name is cut and followed by a hash.
    """
    data = os.fsencode(name)
    if len(data) <= _LONGEST:
        return name
    return f"{os.fsdecode(data[: _LONGEST - 20])}~{hashlib.sha256(data).hexdigest()[:16]}"
