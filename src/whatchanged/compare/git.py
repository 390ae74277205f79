"""Pictures of a git revision against the work tree or against another revision, by the git program.

Only pictures that git says differ are compared. Those of a revision are copied into a folder, so that a page
can show them. A Git LFS pointer stands for a picture that is not there; it is named, not compared.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from whatchanged.compare.git_entries import Entry, against_work_tree, between, pictures_of
from whatchanged.compare.git_program import run_git as _git
from whatchanged.compare.lfs import is_pointer
from whatchanged.compare.pairs import Matched, PairToCompare, checked, matched
from whatchanged.errors import DatasetError
from whatchanged.files import write_output

MOST_BYTES = 500_000_000
"""Of one picture in a revision."""


def match_revisions(wanted: str, folder: Path, scratch: Path, leave_out: Path | None = None) -> Matched:
    """The pictures in ``folder`` that differ between two revisions, or between one and the work tree.

    wanted: REV, or REV..REV. scratch: where the pictures of revisions go, in old/ and new/.
    leave_out: a folder whose files are not compared.
    Raises DatasetError where git, the repository or a revision is not there.
    """
    old, _, new = wanted.partition("..")
    if not old or (".." in wanted and (not new or new.startswith("."))):
        raise DatasetError(f"--git {wanted!r}: name one revision, or two as OLD..NEW.")
    root = _root(folder)
    commits = [_commit(folder, revision) for revision in (old, new) if revision]
    here = folder.resolve().relative_to(root.resolve()).as_posix()
    skipped = _inside(leave_out, root)
    listed = pictures_of(root, commits[0], here)
    differing = between(root, commits, here) if new else against_work_tree(root, listed, here)
    entries = [entry for entry in differing if not (skipped and entry.path.startswith(f"{skipped}/"))]
    pairs = _pairs(root, entries, scratch, work_tree=not new)
    if not entries and not listed:
        raise DatasetError(f"{folder}: git knows no pictures there. Name another folder or revision.")
    same = len(listed) - sum(entry.before is not None for entry in entries)
    notes = (f"Pictures that git says are the same, not listed: {same:,}.",)
    source = f"git: {old} and {new or 'the work tree'}"
    accepted = (
        "the work tree holds the new pictures already; commit them" if not new else "both are revisions"
    )
    return Matched(checked(pairs), source, notes, accepted)


def _root(folder: Path) -> Path:
    """The top of the work tree that a folder lies in. Raises DatasetError where it lies in none."""
    root = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    if not (root / ".git").exists() or not folder.resolve().is_relative_to(root.resolve()):
        raise DatasetError(
            f"{folder}: the repository there says that its files lie in {root}. Name a folder of a work tree"
            " that holds its own .git."
        )
    return root


def _commit(folder: Path, revision: str) -> str:
    """The full name of a revision's commit."""
    try:
        found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except DatasetError as error:
        raise DatasetError(f"--git {revision}: git knows no such revision in {folder}.") from error
    return found.decode().strip()


def _inside(folder: Path | None, root: Path) -> str:
    """The folder's path in the repository; empty where it lies elsewhere."""
    if folder is None or not folder.resolve().is_relative_to(root.resolve()):
        return ""
    return folder.resolve().relative_to(root.resolve()).as_posix()


def _pairs(root: Path, entries: Sequence[Entry], scratch: Path, work_tree: bool) -> list[PairToCompare]:
    """The pairs; pictures of revisions are written below ``scratch``."""
    before: dict[str, Path] = {}
    after: dict[str, Path] = {}
    for entry in entries:
        if entry.before is not None:
            before[entry.path] = _written(root, entry.before, scratch / "old" / entry.path)
        if entry.after is None:
            continue
        path = root / entry.path
        if not work_tree:
            path = _written(root, entry.after, scratch / "new" / entry.path)
        if path.is_file():
            after[entry.path] = path
    return [_without_pointer(pair) for pair in matched(before, after)]


def _written(root: Path, blob: str, place: Path) -> Path:
    """The file of an object, written to its place."""
    size = int(_git(root, "cat-file", "-s", blob))
    if size > MOST_BYTES:
        raise DatasetError(f"{place.name}: {size:,} bytes in the revision; at most {MOST_BYTES:,} are read.")
    place.parent.mkdir(parents=True, exist_ok=True)
    write_output(place, _git(root, "cat-file", "blob", blob))
    return place


def _without_pointer(pair: PairToCompare) -> PairToCompare:
    """The pair, marked where one of its files is a pointer."""
    sides = [
        side
        for side, path in (("old", pair.before), ("new", pair.after))
        if path is not None and is_pointer(path)
    ]
    if not sides:
        return pair
    which = (
        "both files are Git LFS pointers" if len(sides) == 2 else f"the {sides[0]} file is a Git LFS pointer"
    )
    return PairToCompare(
        pair.pair_id,
        pair.before,
        pair.after,
        pair.was,
        f"{which}, not a picture. Fetch it with: git lfs fetch --all, then git lfs checkout",
    )
