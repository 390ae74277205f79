"""What is to be compared: pairs of a list, or of two folders by relative path, and what only one has."""

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

    pair_id  its name: for two folders the relative path
    before   where the old picture lies; None where the file was added
    after    where the new picture lies; None where the file was removed
    was      the relative path that the same bytes had before, of a file that was renamed
    trouble  why the pictures cannot be compared although they are there
    part_of  the file that the new picture is a page of, which cannot be accepted page by page; empty for
             others
    """

    pair_id: str
    before: Path | None
    after: Path | None
    was: str | None = None
    trouble: str = ""
    part_of: str = ""

    @property
    def status(self) -> str:
        """What became of the file: "both", "added", "removed" or "renamed"."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "both" if self.was is None else "renamed"


@dataclass(frozen=True)
class Matched:
    """Everything that one call compares.

    pairs     in the order of their names
    source    where they come from, in a few words
    notes     what was left out, each in one sentence
    accepted  how new pictures become the accepted ones where copying them over the old ones would not do;
              empty where it does
    old       the folder in which an accepted picture that was added gets its place; None: there is none
    ending    what the names of the old pictures have at their end, beside those of their pairs
    """

    pairs: tuple[PairToCompare, ...]
    source: str
    notes: tuple[str, ...] = ()
    accepted: str = ""
    old: Path | None = None
    ending: str = ""


def match_list(path: Path) -> Matched:
    """The pairs of a list, as ``caption`` reads it, in its order. Raises DatasetError."""
    records = open_dataset(path).records
    pairs = [PairToCompare(record.pair_id, record.before, record.after) for record in records]
    return Matched(checked(pairs), str(path))


def match_folders(old: Path, new: Path, leave_out: Sequence[Path] = (), pages: bool = False) -> Matched:
    """The pictures of two folders, matched by relative path.

    leave_out: folders that are not looked into, such as the one that the results go to. pages: PDF files are
    among them, too, where their pages can be drawn.
    Raises DatasetError where a folder cannot be read, both are the same, or none holds a picture.
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
    """One pair a relative path; a file that only moved is one pair, called as it is called now.

    So is a file whose name is spelled in another Unicode form, as systems do it: that is no other name.
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
    """The pairs, if there are not too many. Raises DatasetError."""
    if len(pairs) > MOST_PAIRS:
        raise DatasetError(
            f"{len(pairs):,} pairs of pictures; at most {MOST_PAIRS:,} are compared at once. "
            "Name folders further down."
        )
    return tuple(pairs)


def _spelled_otherwise(before: Mapping[str, Path], after: Mapping[str, Path]) -> dict[str, str]:
    """New name -> old name of files whose names differ by their Unicode form alone; each is used once."""
    old: dict[str, list[str]] = {}
    for name in sorted(before.keys() - after.keys()):
        if not name.isascii():
            old.setdefault(composed(name), []).append(name)
    new = sorted(name for name in after.keys() - before.keys() if composed(name) in old)
    return {name: old[composed(name)].pop(0) for name in new if old[composed(name)]}


def notes_of(where: str, *result: ListedPictures) -> tuple[str, ...]:
    """What was left out of the folders that were looked into; where: what the person named."""
    formats = sum((one.others for one in result), Counter[str]())
    return (*notes_of_formats(formats), *notes_of_links(where, *result))


def notes_of_links(where: str, *result: ListedPictures) -> tuple[str, ...]:
    """A sentence about links that lead out of what the person named; none where there are none."""
    links = [str(path) for one in result for path in one.outside]
    return (f"{with_examples(f'Links that lead out of {where}, not compared', links)}.",) if links else ()


def notes_of_formats(counts: Mapping[str, int]) -> tuple[str, ...]:
    """A sentence about the pictures whose formats are not read; none where there are none."""
    if not counts:
        return ()
    listed = ", ".join(f"{count:,} {ending}" for ending, count in sorted(counts.items()))
    read = ""
    if ENDING in counts and not can_draw():
        read = f' PDF files are where the extra "pdf" is installed: {install_command("pdf")}'
    return (f"Not compared, as their formats are not read: {listed}.{read}",)


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes. Raises ImageError where it cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ImageError(f"{path}: cannot read the file: {error.strerror}.") from error


def digest_if_read(path: Path) -> str | None:
    """The SHA-256 of a file's bytes; None where there is none that can be read."""
    with suppress(ImageError):
        return digest(path)
    return None


def size_of(path: Path) -> int | None:
    """The bytes of a file; None where the file system does not tell."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def _renamed(removed: Mapping[str, Path], added: Mapping[str, Path]) -> dict[str, str]:
    """Added name -> removed name of files of the same bytes; each is used once, the first one first.

    A file that cannot be read is like no other.
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
