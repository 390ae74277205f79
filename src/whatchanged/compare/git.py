"""Pictures of a git revision against the work tree or against another revision, by the git program.

Only pictures that git says differ are compared. Those of a revision are copied into a folder, so that a page
can show them. A Git LFS pointer stands for a picture that is not there; it is named, not compared.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whatchanged.compare.pairs import Matched, PairToCompare, checked, matched
from whatchanged.compare.written import begin_anew, write_picture
from whatchanged.datasets.picture_files import is_picture
from whatchanged.datasets.reading import leaves
from whatchanged.errors import DatasetError, ImageError
from whatchanged.programs import find_program, program_environment

LFS_START = b"version https://git-lfs.github.com/spec/"
LFS_MOST = 1024
"""A pointer is smaller than this."""
POINTER = "a Git LFS pointer"
"""Why an object was not written that is one."""
MOST_BYTES = 500_000_000
"""Of one picture in a revision."""
_FILES = ("100644", "100755")
"""Modes of files; others are links and submodules."""


@dataclass(frozen=True)
class Entry:
    """What git says of one path: the name of the object before and after; None where there is no file.

    Of a file in the work tree the name of the object after may be zeros.
    """

    path: str
    before: str | None
    after: str | None


def match_revisions(wanted: str, folder: Path, scratch: Path, leave_out: Path | None = None) -> Matched:
    """The pictures in ``folder`` that differ between two revisions, or between one and the work tree.

    wanted: REV, or REV..REV. scratch: where the pictures of revisions go, in old/ and new/.
    leave_out: a folder whose files are not compared.
    Raises DatasetError where git, the repository or a revision is not there.
    """
    old, _, new = wanted.partition("..")
    if not old or (".." in wanted and (not new or new.startswith("."))):
        raise DatasetError(f"--git {wanted!r}: name one revision, or two as OLD..NEW.")
    root = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel")).rstrip("\n"))
    commits = [_commit(folder, revision) for revision in (old, new) if revision]
    here = folder.resolve().relative_to(root.resolve()).as_posix()
    skipped = _inside(leave_out, root)
    entries = [
        entry
        for entry in _entries(root, commits, here)
        if is_picture(entry.path) and not (skipped and entry.path.startswith(f"{skipped}/"))
    ]
    pairs = _pairs(root, entries, scratch, work_tree=not new)
    total = _count(root, commits[0], here)
    if not entries and not total:
        raise DatasetError(f"{folder}: git knows no pictures there. Name another folder or revision.")
    same = total - sum(entry.before is not None for entry in entries)
    notes = (f"Pictures that git says are the same, not listed: {same:,}.",)
    source = f"git: {old} and {new or 'the work tree'}"
    accepted = (
        "the work tree holds the new pictures already; commit them" if not new else "both are revisions"
    )
    return Matched(checked(pairs), source, notes, accepted)


def is_pointer(path: Path) -> bool:
    """Whether a file is a Git LFS pointer instead of what it is called; not so where it cannot be read."""
    try:
        if path.stat().st_size >= LFS_MOST:
            return False
        with path.open("rb") as file:
            return file.read(len(LFS_START)) == LFS_START
    except OSError:
        return False  # the comparison says what is wrong


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """What the git program prints. Raises DatasetError with its words."""
    program = find_program("git")
    if program is None:
        raise DatasetError("--git needs the git program, which is not installed.")
    if not folder.is_dir():
        raise DatasetError(f"{folder}: there is no such folder.")
    done = subprocess.run(
        [program, "-C", str(folder), "-c", "core.fsmonitor=false", *arguments],
        input=given,
        capture_output=True,
        # A folder's name is no pattern, and a repository names no program that is run to look at it.
        env=program_environment(GIT_OPTIONAL_LOCKS="0", GIT_LITERAL_PATHSPECS="1", LC_ALL="C"),
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").splitlines()
        raise DatasetError(f"git in {folder}: {said[0] if said else f'ended with {done.returncode}'}.")
    return done.stdout


def _commit(folder: Path, revision: str) -> str:
    """The full name of a revision's commit."""
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except DatasetError as error:
        raise DatasetError(f"--git {revision}: git knows no such revision in {folder}.") from error
    return found.decode().strip()


def _entries(root: Path, commits: Sequence[str], here: str) -> list[Entry]:
    """Every file below ``here`` that differs, in the order of the paths; renamed ones are told as two."""
    raw = _git(
        root, "diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", *commits, "--", here
    )
    fields = raw.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        mode_before, mode_after, before, after, _ = about.removeprefix(":").split(" ")
        entry = Entry(
            path,
            before if mode_before in _FILES else None,
            after if mode_after in _FILES else None,
        )
        if (entry.before or entry.after) and not leaves(path):
            found.append(entry)
    if len(commits) == 1:
        listed = _git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", here)
        names = listed.decode("utf-8", "surrogateescape").split("\0")
        found += [Entry(name, None, "0" * 40) for name in names if name]
    return sorted(found, key=lambda entry: entry.path)


def _count(root: Path, commit: str, here: str) -> int:
    """How many pictures the revision holds below ``here``."""
    listed = _git(root, "ls-tree", "-r", "-z", "--name-only", commit, "--", here if here != "." else "./")
    return sum(is_picture(name) for name in listed.decode("utf-8", "surrogateescape").split("\0"))


def _inside(folder: Path | None, root: Path) -> str:
    """The folder's path in the repository; empty where it lies elsewhere."""
    if folder is None or not folder.resolve().is_relative_to(root.resolve()):
        return ""
    return folder.resolve().relative_to(root.resolve()).as_posix()


def _pairs(root: Path, entries: Sequence[Entry], scratch: Path, work_tree: bool) -> list[PairToCompare]:
    """The pairs; pictures of revisions are written below ``scratch``, where no others are left."""
    before: dict[str, Path] = {}
    after: dict[str, Path] = {}
    troubles: dict[Path, str] = {}
    for side in ("old", "new"):
        begin_anew(scratch / side)
    for entry in entries:
        if entry.before is not None:
            path = before[entry.path] = scratch / "old" / entry.path
            troubles[path] = _written(root, entry.before, path, f"{entry.path} in the old revision")
        if entry.after is None:
            continue
        path = root / entry.path
        if not work_tree:
            path = after[entry.path] = scratch / "new" / entry.path
            troubles[path] = _written(root, entry.after, path, f"{entry.path} in the new revision")
        elif path.is_file():
            after[entry.path] = path
    return [_with_trouble(pair, troubles) for pair in matched(before, after)]


def _written(root: Path, blob: str, place: Path, name: str) -> str:
    """Write the picture of an object to its place; returns why not, of an object that is none, or "".

    name: what messages call it.
    """
    size = int(_git(root, "cat-file", "-s", blob))
    if size > MOST_BYTES:
        raise DatasetError(f"{place.name}: {size:,} bytes in the revision; at most {MOST_BYTES:,} are read.")
    data = _git(root, "cat-file", "blob", blob)
    if size < LFS_MOST and data.startswith(LFS_START):
        return POINTER
    try:
        write_picture(data, place, name)
    except ImageError as error:
        return str(error)
    return ""


def _with_trouble(pair: PairToCompare, troubles: Mapping[Path, str]) -> PairToCompare:
    """The pair, marked where one of its files is a pointer, or no picture. troubles: what was not written."""
    files = [(side, path) for side, path in (("old", pair.before), ("new", pair.after)) if path is not None]
    pointers = [side for side, path in files if troubles.get(path) == POINTER or is_pointer(path)]
    if pointers:
        which = f"the {pointers[0]} file is" if len(pointers) == 1 else "both files are"
        what = "Git LFS pointers" if len(pointers) == 2 else POINTER
        fetch = "Fetch it with: git lfs fetch --all, then git lfs checkout"
        return replace(pair, trouble=f"{which} {what}, not a picture. {fetch}")
    return replace(pair, trouble=" ".join(filter(None, (troubles.get(path) for _, path in files))))
