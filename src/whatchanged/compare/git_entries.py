"""Find the pictures that differ between two revisions of a repository, or between one and the work tree.

For a comparison with the work tree, ``git diff`` would run the filter programs that the repository names.
This module therefore hashes the files of the work tree itself, as git does, and runs no filter. Two rules
compensate for the missing filters. A file that is unchanged according to the index is not read, as in git
itself. A file that matches a Git LFS pointer is treated as identical to that pointer.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from whatchanged.compare import lfs
from whatchanged.compare.git_program import run_git
from whatchanged.datasets.picture_files import is_compared
from whatchanged.datasets.reading import leaves
from whatchanged.opening import open_regular

_FILES = ("100644", "100755")
"""The modes of regular files. Other modes are links and submodules."""
_INDEXED = re.compile(
    r"(?P<status>(?:  .*\n)*)(?:(?P<tag>\w) \d+ (?P<blob>[0-9a-f]+) \d\t(?P<path>(?s:.+)))?"
)
"""The pattern of git's output for the index between two zero bytes: the status of the previous file, and the
next file.
"""
_STATUS = re.compile(r"(ctime|mtime|ino|uid|gid|size): (\d+)(?::(\d+))?")
_NO_BLOB = "0" * 40


@dataclass(frozen=True)
class Entry:
    """One path with the names of its objects before and after. A name is None if there is no file.

    For a file in the work tree, the name of the object after consists of zeros.
    """

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class _Indexed:
    """The entry of a path in the index.

    blob     the name of the object
    assumed  whether git assumes that the file matches the object (assume-unchanged, skip-worktree)
    stat     the status of the file when the file matched the object: (ctime, mtime, inode, user, group,
             size), with times in ns; None if git does not report the status
    """

    blob: str
    assumed: bool
    stat: tuple[int, ...] | None


def pictures_of(root: Path, commit: str, here: str) -> dict[str, str | None]:
    """Return the object of each picture of a revision below ``here``; None for links and submodules."""
    listed = _listed(run_git(root, "ls-tree", "-r", "-z", commit, "--", here if here != "." else "./"))
    results: dict[str, str | None] = {}
    for line in listed:
        about, _, path = line.partition("\t")
        if is_compared(path):
            mode, _, blob = about.split(" ")
            results[path] = blob if mode in _FILES else None
    return results


def between(root: Path, commits: Sequence[str], here: str) -> list[Entry]:
    """Return the pictures below ``here`` that differ between two revisions.

    A renamed file gives two entries.
    """
    raw = run_git(root, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", *commits, "--", here)
    fields = raw.decode("utf-8", "surrogateescape").split("\0")
    results = []
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        mode_before, mode_after, before, after, _ = about.removeprefix(":").split(" ")
        results.append(
            Entry(
                path,
                before if mode_before in _FILES else None,
                after if mode_after in _FILES else None,
            )
        )
    return _usable(results)


def against_work_tree(root: Path, revision: Mapping[str, str | None], here: str) -> list[Entry]:
    """Return the pictures below ``here`` that differ between a revision and the work tree.

    revision: the result of ``pictures_of``.

    Files that git ignores are treated as missing.
    """
    indexed, index_seconds = _index(root, here)
    listed = _listed(run_git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", here))
    known = {*indexed, *(path for path in listed if is_compared(path))}
    folders: dict[Path, bool] = {}
    results = []
    for path in {*revision, *known}:
        before, entry = revision.get(path), indexed.get(path)
        there = _status(root / path, root, folders) if path in known else None
        same = entry is not None and entry.blob == before
        if entry is not None and same and (entry.assumed or _untouched(entry, there, index_seconds)):
            continue
        if there is None:
            results.append(Entry(path, before, None))
        elif before is None or _blob_of(root / path, len(before), there.st_size) != before:
            results.append(Entry(path, before, _NO_BLOB))
    pointed = set(_behind_pointers(root, results))
    return _usable([entry for entry in results if entry not in pointed])


def _usable(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries of pictures that exist on at least one side, ordered by path."""
    wanted = [e for e in entries if (e.before or e.after) and is_compared(e.path) and not leaves(e.path)]
    return sorted(wanted, key=lambda entry: entry.path)


def _listed(raw: bytes) -> list[str]:
    """Return the parts of git's output, which are separated by zero bytes."""
    return [part for part in raw.decode("utf-8", "surrogateescape").split("\0") if part]


def _index(root: Path, here: str) -> tuple[dict[str, _Indexed], int]:
    """Return the pictures in the index below ``here``, and the time in seconds when the index was written."""
    # The lines after each path give the status of the file according to the index.
    raw = run_git(root, "ls-files", "-z", "--cached", "--stage", "-v", "--debug", "--", here)
    parts = [_INDEXED.fullmatch(part) for part in raw.decode("utf-8", "surrogateescape").split("\0")]
    results = {
        entry["path"]: _Indexed(
            entry["blob"], entry["tag"].islower() or entry["tag"] == "S", _status_of(after)
        )
        for entry, after in pairwise(parts)
        if entry is not None and is_compared(entry["path"] or "")
    }
    try:
        path = run_git(root, "rev-parse", "--git-path", "index").decode("utf-8", "surrogateescape")
        return results, int((root / path.removesuffix("\n")).stat().st_mtime)
    except OSError:
        return results, 0


def _status_of(part: re.Match[str] | None) -> tuple[int, ...] | None:
    """Return the status in the lines after a path: (ctime, mtime, inode, user, group, size)."""
    values = {
        name: int(number) * 10**9 + int(rest) if rest else int(number)
        for name, number, rest in _STATUS.findall(part["status"] if part else "")
    }
    wanted = ("ctime", "mtime", "ino", "uid", "gid", "size")
    return tuple(values[name] for name in wanted) if values.keys() >= set(wanted) else None


def _untouched(entry: _Indexed, there: os.stat_result | None, index_seconds: int) -> bool:
    """Return whether a file is unchanged since its object was added to the index, based only on its status.

    A file that was modified in the second in which the index was written, or later, may have changed again.
    For such a file, the result is False.
    """
    if there is None or entry.stat is None or there.st_mtime_ns // 10**9 >= index_seconds:
        return False
    numbers = (there.st_ino, there.st_uid, there.st_gid, there.st_size)
    known = tuple(number % 2**32 for number in numbers)  # the index stores 32 bits
    return entry.stat == (there.st_ctime_ns, there.st_mtime_ns, *known)


def _status(path: Path, root: Path, folders: dict[Path, bool]) -> os.stat_result | None:
    """Return the status of a regular file in the work tree; None if the file is missing or behind a link.

    folders: a cache that records whether each folder is reached without links.
    """
    if path.parent not in folders:
        folders[path.parent] = path.parent.resolve() == root.resolve() / path.parent.relative_to(root)
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    return found if folders[path.parent] and stat.S_ISREG(found.st_mode) else None


def _blob_of(path: Path, digits: int, size: int) -> str:
    """Return the name of git's object for the bytes of a file, or "" if the file cannot be read.

    digits: 40 for SHA-1, 64 for SHA-256.
    size: the size of the file in bytes.
    """
    start = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    start.update(b"blob %d\0" % size)
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, lambda: start).hexdigest()
    except OSError:
        return ""  # the comparison reports the error


def _behind_pointers(root: Path, entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries whose object is a Git LFS pointer to the content of the file in the work tree."""
    both = [entry for entry in entries if entry.before and entry.after]
    names = "".join(f"{entry.before}\n" for entry in both).encode()
    sizes = run_git(root, "cat-file", "--batch-check=%(objectsize)", given=names).split(b"\n") if both else []
    small = [e for e, size in zip(both, sizes, strict=False) if size.isdigit() and int(size) < lfs.MOST]
    if not small:
        return
    names = "".join(f"{entry.before}\n" for entry in small).encode()
    raw = run_git(root, "cat-file", "--batch=%(objectsize)", given=names)
    for entry in small:
        size, _, raw = raw.partition(b"\n")
        pointer, raw = raw[: int(size)], raw[int(size) + 1 :]
        try:
            if lfs.stands_for(pointer, root / entry.path):
                yield entry
        except OSError:
            continue  # the comparison reports the error
