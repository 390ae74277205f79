"""The pairs to compare, from a list or from two folders, and the files without a counterpart."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from whatchanged.datasets import open_dataset
from whatchanged.datasets.picture_files import ListedPictures, composed, pictures_below
from whatchanged.datasets.reading import with_examples
from whatchanged.errors import DatasetError, ImageError
from whatchanged.installing import install_command
from whatchanged.opening import open_regular
from whatchanged.pdf import ENDING, can_draw
from whatchanged.urls import is_remote

MOST_PAIRS = 100_000


@dataclass(frozen=True)
class PairToCompare:
    """Two pictures to compare, or one that has no counterpart.

    pair_id  the name of the pair; for two folders, the relative path
    before   the path of the old picture; None if the file was added
    after    the path of the new picture; None if the file was removed
    was      the former relative path of a renamed file with the same bytes
    trouble  the reason why the pictures cannot be compared although they exist
    part_of  the file of which the new picture is a page, because single pages cannot be accepted; empty for
             other pictures
    """

    pair_id: str
    before: Path | None
    after: Path | None
    was: str | None = None
    trouble: str = ""
    part_of: str = ""

    @property
    def status(self) -> str:
        """Return the status of the file: "both", "added", "removed" or "renamed"."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "both" if self.was is None else "renamed"


@dataclass(frozen=True)
class Matched:
    """All pairs that one call compares.

    pairs     the pairs, ordered by name
    source    the origin of the pairs, in a few words
    notes     sentences about everything that was left out
    accepted  the way to accept new pictures that cannot be copied over old pictures; otherwise empty
    old       the folder into which an added picture is copied when it is accepted; None if there is none
    ending    the ending that the names of old pictures have in addition to the names of their pairs
    """

    pairs: tuple[PairToCompare, ...]
    source: str
    notes: tuple[str, ...] = ()
    accepted: str = ""
    old: Path | None = None
    ending: str = ""


def match_list(path: Path) -> Matched:
    """Return the pairs of a list in its order, in the format that ``caption`` reads. Raises DatasetError."""
    records = open_dataset(path).records
    pairs = [PairToCompare(record.pair_id, record.before, record.after) for record in records]
    return Matched(checked(pairs), str(path))


def match_folders(old: Path, new: Path, leave_out: Sequence[Path] = (), pages: bool = False) -> Matched:
    """Return the pictures of two folders, matched by relative path.

    leave_out: folders that are not searched, such as the folder of results.
    pages: whether to include PDF files if their pages can be drawn.

    Raises DatasetError if a folder cannot be read, if both are the same, or if neither contains a picture.
    """
    same = old == new if is_remote(old) or is_remote(new) else _same_folder(old, new)
    if same:
        raise DatasetError(f"{old} and {new} are the same folder. Name the old and the new one.")
    before, after = (pictures_below(folder, leave_out, (old, new), pages) for folder in (old, new))
    where = f"{old} and {new}"
    if not before.pictures and not after.pictures:
        links = notes_of_links(where, before, after)
        raise DatasetError(" ".join((f"{where} hold no pictures. Check the paths.", *links)))
    return Matched(
        checked(matched(before.pictures, after.pictures)), where, notes_of(where, before, after), old=old
    )


def _same_folder(old: Path, new: Path) -> bool:
    return old.exists() and new.exists() and old.samefile(new)


def matched(before: Mapping[str, Path], after: Mapping[str, Path]) -> list[PairToCompare]:
    """Return one pair for each relative path. A file that was only moved is one pair with its new name.

    Two names that differ only in their Unicode form count as the same name. The Unicode form depends on the
    operating system.
    """
    spelled = _spelled_otherwise(before, after)
    was_spelled = set(spelled.values())
    pairs = [
        PairToCompare(name, before.get(spelled.get(name, name)), after.get(name))
        for name in sorted({*before, *after} - was_spelled)
    ]
    was = _renamed(
        {pair.pair_id: pair.before for pair in pairs if pair.after is None and pair.before is not None},
        {pair.pair_id: pair.after for pair in pairs if pair.before is None and pair.after is not None},
    )
    gone = set(was.values())
    return [
        replace(pair, before=before[was[pair.pair_id]], was=was[pair.pair_id])
        if pair.pair_id in was
        else pair
        for pair in pairs
        if pair.pair_id not in gone
    ]


def checked(pairs: Sequence[PairToCompare]) -> tuple[PairToCompare, ...]:
    """Return the pairs. Raises DatasetError if there are more than ``MOST_PAIRS``."""
    if len(pairs) > MOST_PAIRS:
        raise DatasetError(
            f"{len(pairs):,} pairs of pictures; at most {MOST_PAIRS:,} are compared at once. "
            "Name folders further down."
        )
    return tuple(pairs)


def _spelled_otherwise(before: Mapping[str, Path], after: Mapping[str, Path]) -> dict[str, str]:
    """Return a mapping from new names to old names that differ only in Unicode form.

    Each old name is used once.
    """
    old: dict[str, list[str]] = {}
    for name in sorted(before.keys() - after.keys()):
        if not name.isascii():
            old.setdefault(composed(name), []).append(name)
    new = sorted(name for name in after.keys() - before.keys() if composed(name) in old)
    return {name: old[composed(name)].pop(0) for name in new if old[composed(name)]}


def notes_of(where: str, *result: ListedPictures) -> tuple[str, ...]:
    """Return sentences about everything that was left out of the searched folders.

    where: the paths that the user named.
    """
    formats = sum((one.others for one in result), Counter[str]())
    return (*notes_of_formats(formats), *notes_of_links(where, *result))


def notes_of_links(where: str, *result: ListedPictures) -> tuple[str, ...]:
    """Return a sentence about links out of the paths that the user named; () if there are none."""
    links = [str(path) for one in result for path in one.outside]
    return (f"{with_examples(f'Links that lead out of {where}, not compared', links)}.",) if links else ()


def notes_of_formats(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return a sentence about the pictures in unsupported formats; () if there are none."""
    if not counts:
        return ()
    listed = ", ".join(f"{count:,} {ending}" for ending, count in sorted(counts.items()))
    read = ""
    if ENDING in counts and not can_draw():
        read = f' PDF files are where the extra "pdf" is installed: {install_command("pdf")}'
    return (f"Not compared, as their formats are not read: {listed}.{read}",)


def digest(path: Path) -> str:
    """Return the SHA-256 of the bytes of a file. Raises ImageError if the file cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ImageError(f"{path}: cannot read the file: {error.strerror}.") from error


def digest_if_read(path: Path) -> str | None:
    """Return the SHA-256 of the bytes of a file, or None if the file cannot be read."""
    with suppress(ImageError):
        return digest(path)
    return None


def size_of(path: Path) -> int | None:
    """Return the size of a file in bytes, or None if the file system does not report the size."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def _renamed(removed: Mapping[str, Path], added: Mapping[str, Path]) -> dict[str, str]:
    """Return a mapping from added names to removed names whose files have the same bytes.

    Each removed name is used once, in order.

    A file that cannot be read matches no other file.
    """
    sizes = {size_of(path) for path in removed.values()} - {None}
    by_digest: dict[str, list[str]] = {}
    wanted = {name: path for name, path in added.items() if size_of(path) in sizes}
    if not wanted:
        return {}
    for name, path in removed.items():
        with suppress(ImageError):
            by_digest.setdefault(digest(path), []).append(name)
    results = {}
    for name, path in wanted.items():
        with suppress(ImageError):
            same = by_digest.get(digest(path))
            if same:
                results[name] = same.pop(0)
    return results
