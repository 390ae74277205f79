"""Which pictures differ between two revisions of a repository, or between one and the work tree.

``git diff`` against the work tree would pass files through the filters that the repository names, which are
programs. So the files of the work tree are hashed here, as git hashes them, and no filter runs. Two things
make up for the filters: a file that the index knows as unchanged is not read, as by git itself; and a file
that a Git LFS pointer stands for is the same as that pointer.
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
"""Modes of files; others are links and submodules."""
_INDEXED = re.compile(
    r"(?P<status>(?:  .*\n)*)(?:(?P<tag>\w) \d+ (?P<blob>[0-9a-f]+) \d\t(?P<path>(?s:.+)))?"
)
"""Between two zeros of what git tells of the index: the status of the file before, and the next file."""
_STATUS = re.compile(r"(ctime|mtime|ino|uid|gid|size): (\d+)(?::(\d+))?")
_NO_BLOB = "0" * 40


@dataclass(frozen=True)
class Entry:
    """One path: the name of the object before and after; None where there is no file.

    Of a file in the work tree the name of the object after is zeros.
    """

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class _Indexed:
    """What the index says of a path.

    blob     the object
    assumed  whether git takes the file for that object without a look (assume-unchanged, skip-worktree)
    stat     the file's (ctime, mtime, inode, user, group, size) as it was that object, times in ns; None
             where git does not tell
    """

    blob: str
    assumed: bool
    stat: tuple[int, ...] | None


def pictures_of(root: Path, commit: str, here: str) -> dict[str, str | None]:
    """Path -> object of each picture of a revision below ``here``; None for links and submodules."""
    listed = _listed(run_git(root, "ls-tree", "-r", "-z", commit, "--", here if here != "." else "./"))
    results: dict[str, str | None] = {}
    for line in listed:
        about, _, path = line.partition("\t")
        if is_compared(path):
            mode, _, blob = about.split(" ")
            results[path] = blob if mode in _FILES else None
    return results


def between(root: Path, commits: Sequence[str], here: str) -> list[Entry]:
    """The pictures below ``here`` that differ between two revisions; renamed ones are told as two."""
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
    """The pictures below ``here`` that differ between a revision and the work tree.

    revision: what ``pictures_of`` found. Files that git ignores are not there.
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
    """The entries of pictures that are there on one side at least, in the order of their paths."""
    wanted = [e for e in entries if (e.before or e.after) and is_compared(e.path) and not leaves(e.path)]
    return sorted(wanted, key=lambda entry: entry.path)


def _listed(raw: bytes) -> list[str]:
    """The parts of what git prints with zeros between them."""
    return [part for part in raw.decode("utf-8", "surrogateescape").split("\0") if part]


def _index(root: Path, here: str) -> tuple[dict[str, _Indexed], int]:
    """The pictures of the index below ``here``, and the second in which the index was written."""
    # After each path comes, on lines of its own, what the index holds of the file's status.
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
    """The status in what follows a path: (ctime, mtime, inode, user, group, size)."""
    values = {
        name: int(number) * 10**9 + int(rest) if rest else int(number)
        for name, number, rest in _STATUS.findall(part["status"] if part else "")
    }
    wanted = ("ctime", "mtime", "ino", "uid", "gid", "size")
    return tuple(values[name] for name in wanted) if values.keys() >= set(wanted) else None


def _untouched(entry: _Indexed, there: os.stat_result | None, index_seconds: int) -> bool:
    """Whether a file is as it was when the index got its object, by its status alone.

    A file that may have changed again in the second in which the index was written is not.
    """
    if there is None or entry.stat is None or there.st_mtime_ns // 10**9 >= index_seconds:
        return False
    numbers = (there.st_ino, there.st_uid, there.st_gid, there.st_size)
    known = tuple(number % 2**32 for number in numbers)  # as many bits as the index has
    return entry.stat == (there.st_ctime_ns, there.st_mtime_ns, *known)


def _status(path: Path, root: Path, folders: dict[Path, bool]) -> os.stat_result | None:
    """The status of a regular file of the work tree; None where there is none, or a link leads to it.

    folders: what is known of those that were asked for, whether one is a folder without links.
    """
    if path.parent not in folders:
        folders[path.parent] = path.parent.resolve() == root.resolve() / path.parent.relative_to(root)
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    return found if folders[path.parent] and stat.S_ISREG(found.st_mode) else None


def _blob_of(path: Path, digits: int, size: int) -> str:
    """The name that git gives to a file's bytes as they are; empty where they cannot be read.

    digits: 40 of SHA-1, 64 of SHA-256. size: bytes of the file.
    """
    start = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    start.update(b"blob %d\0" % size)
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, lambda: start).hexdigest()
    except OSError:
        return ""  # the comparison says what is wrong


def _behind_pointers(root: Path, entries: Sequence[Entry]) -> Iterator[Entry]:
    """Those entries whose object is a Git LFS pointer to the very file that lies in the work tree."""
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
            continue  # the comparison says what is wrong
