"""Match the pictures of a git revision with the work tree or with another revision, using the git program.

Only pictures that differ according to git are compared. Pictures from revisions are copied into a folder, so
that a page can show them. A Git LFS pointer stands for a picture that is not available. It is reported but
not compared.
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whatchanged import other_formats
from whatchanged.compare import lfs
from whatchanged.compare.git_entries import Entry, against_work_tree, between, pictures_of
from whatchanged.compare.git_program import run_git as _git
from whatchanged.compare.pairs import Matched, PairToCompare, checked, matched
from whatchanged.compare.written import begin_anew, write_picture
from whatchanged.errors import DatasetError, ImageError

POINTER = "a Git LFS pointer"
"""The reason why an object that is a Git LFS pointer was not written."""
MOST_BYTES = 500_000_000
"""The largest size, in bytes, of one picture in a revision."""
_DOTS = re.compile(r"\.{2,}")
"""The separator between two revisions. No revision name contains two dots in a row."""


def match_revisions(wanted: str, folder: Path, scratch: Path, leave_out: Path | None = None) -> Matched:
    """Return the pictures in ``folder`` that differ between two revisions, or between one and the work tree.

    wanted: REV, REV..REV, or REV...REV, which starts from the last common commit. Before the first commit,
        HEAD contains no files.
    scratch: the folder for the pictures of revisions, which are written to its subfolders old/ and new/.
    leave_out: a folder whose files are not compared.

    Raises DatasetError if git, the repository or a revision is not available.
    """
    between_dots = _DOTS.search(wanted)
    dots = between_dots[0] if between_dots else ""
    old, _, new = wanted.partition(dots) if dots else (wanted, "", "")
    if not old or (dots and not new) or len(dots) > len("...") or _DOTS.search(new):
        raise DatasetError(f"--git {wanted!r}: name one revision, or two as OLD..NEW or OLD...NEW.")
    root = _root(folder)
    first = old == "HEAD" and not new and _is_before_the_first_commit(folder)
    commits = [_nothing(folder)] if first else [_commit(folder, one) for one in (old, new) if one]
    if dots == "...":
        commits[0] = _where_they_parted(folder, commits, wanted)
    here = folder.resolve().relative_to(root.resolve()).as_posix()
    skipped = _inside(leave_out, root)
    listed = pictures_of(root, commits[0], here)
    differing = between(root, commits, here) if new else against_work_tree(root, listed, here)
    entries = [entry for entry in differing if not (skipped and entry.path.startswith(f"{skipped}/"))]
    pairs = _pairs(root, entries, scratch, work_tree=not new)
    if not entries and not listed and not first:
        raise DatasetError(f"{folder}: git knows no pictures there. Name another folder or revision.")
    same = len(listed) - sum(entry.before is not None for entry in entries)
    notes = (f"Pictures that git says are the same, not listed: {same:,}.",)
    begun = f"where {old} and {new} parted" if dots == "..." else old
    source = f"git: {begun} and {new or 'the work tree'}"
    accepted = (
        "the work tree holds the new pictures already; commit them" if not new else "both are revisions"
    )
    return Matched(checked(pairs), source, notes, accepted)


def _root(folder: Path) -> Path:
    """Return the top folder of the work tree that contains a folder. Raises DatasetError if there is none."""
    root = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    if not (root / ".git").exists() or not folder.resolve().is_relative_to(root.resolve()):
        raise DatasetError(
            f"{folder}: the repository there says that its files lie in {root}. Name a folder of a work tree"
            " that holds its own .git."
        )
    return root


def _commit(folder: Path, revision: str) -> str:
    """Return the full name of a revision's commit. Raises DatasetError if the revision is unknown."""
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except DatasetError as error:
        raise DatasetError(f"--git {revision}: git knows no such revision in {folder}.") from error
    return found.decode().strip()


def _is_before_the_first_commit(folder: Path) -> bool:
    """Return whether the current branch of a repository has no commit yet."""
    try:
        _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
    except DatasetError:
        branch = _git(folder, "symbolic-ref", "HEAD").strip().decode("utf-8", "surrogateescape")
        return not _git(folder, "for-each-ref", "--format=%(refname)", branch).strip()
    return False


def _nothing(folder: Path) -> str:
    """Return the name of the empty tree, which exists in every repository."""
    way = _git(folder, "rev-parse", "--show-object-format").strip().decode()
    return hashlib.new(way, b"tree 0\0", usedforsecurity=False).hexdigest()


def _where_they_parted(folder: Path, commits: Sequence[str], wanted: str) -> str:
    """Return the last common commit of two revisions. Raises DatasetError if there is none."""
    try:
        return _git(folder, "merge-base", *commits).decode().split()[0]
    except DatasetError as error:
        raise DatasetError(f"--git {wanted}: the two share no commit. Name them as OLD..NEW.") from error


def _inside(folder: Path | None, root: Path) -> str:
    """Return the path of a folder in the repository, or "" if the folder is outside."""
    if folder is None or not folder.resolve().is_relative_to(root.resolve()):
        return ""
    return folder.resolve().relative_to(root.resolve()).as_posix()


def _pairs(root: Path, entries: Sequence[Entry], scratch: Path, work_tree: bool) -> list[PairToCompare]:
    """Return the pairs.

    Pictures of revisions are written below ``scratch``, after its old content is removed.
    """
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


def _written(root: Path, blob: str, target: Path, name: str) -> str:
    """Write the picture in an object to a file. Return "", or the reason why nothing was written.

    name: the name of the picture in messages.

    Raises DatasetError if the object is too large, and OutputError if the file cannot be written.
    """
    size = int(_git(root, "cat-file", "-s", blob))
    if size > MOST_BYTES:
        raise DatasetError(f"{target.name}: {size:,} bytes in the revision; at most {MOST_BYTES:,} are read.")
    data = _git(root, "cat-file", "blob", blob)
    if size < lfs.MOST and data.startswith(other_formats.POINTER):
        return POINTER
    try:
        write_picture(data, target, name)
    except ImageError as error:
        return str(error)
    return ""


def _with_trouble(pair: PairToCompare, troubles: Mapping[Path, str]) -> PairToCompare:
    """Return the pair, with an error message if one of its files is a pointer or not a picture.

    troubles: a mapping from each file to the reason why the file was not written, or to "".
    """
    files = [(side, path) for side, path in (("old", pair.before), ("new", pair.after)) if path is not None]
    pointers = [side for side, path in files if troubles.get(path) == POINTER or lfs.is_pointer(path)]
    if pointers:
        which = f"the {pointers[0]} file is" if len(pointers) == 1 else "both files are"
        what = "Git LFS pointers" if len(pointers) == 2 else POINTER
        fetch = "Fetch it with: git lfs pull; for old revisions: git lfs fetch --all, then compare again"
        return replace(pair, trouble=f"{which} {what}, not a picture. {fetch}")
    return replace(pair, trouble=" ".join(filter(None, (troubles.get(path) for _, path in files))))
