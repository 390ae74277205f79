"""Accept changes: replace old pictures by new ones, for the groups and pairs that a person names.

Only pictures that have not changed since the comparison are copied. For this, both files of a pair are
checked against the hashes in the record of the report (``record``). Pictures that were accepted before are
skipped, so an interrupted command can be repeated.
"""

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whatchanged.compare.pairs import digest_if_read
from whatchanged.compare.record import AGAIN, Record, RecordedGroup, RecordedPair
from whatchanged.datasets.picture_files import composed
from whatchanged.errors import OutputError, WhatchangedError
from whatchanged.files import clear_drafts, room_for, whole
from whatchanged.links import check_link
from whatchanged.opening import regular

LOG = "accepted.jsonl"
"""The name of the log in the folder of results.

Every run adds one line for each picture that was accepted or rejected.
"""
ODD_NAMED = 5
"""The largest number of odd members of a group that a message names.

The odd members show a further change.
"""


@dataclass(frozen=True)
class Copy:
    """One copy of a new picture over an old one.

    pair_id  the name of the pair
    source   the path of the new picture
    target   the path of the old picture
    was      the SHA-256 of the old picture; None if there was none
    became   the SHA-256 of the new picture
    """

    pair_id: str
    source: Path
    target: Path
    was: str | None
    became: str


def plan(record: Record, wanted: Sequence[str]) -> list[Copy]:
    """Return the copies that accept the named groups and pairs.

    wanted: numbers of groups and names of pairs.

    If the two files of a pair were identical, no copy is needed. Raises WhatchangedError, before anything is
    copied, if a name is unknown or its pictures cannot be accepted, if a group has odd members that are not
    named too, or if the path of an old picture contains a link to another location.
    """
    check_source(record)
    spelled = defaultdict[str, list[int]](list)
    for place, pair in enumerate(record.pairs):
        spelled[composed(pair.pair_id)].append(place)
    named = {composed(name) for name in wanted}
    return _copies(record, [place for name in wanted for place in _members(record, name, named, spelled)])


def plan_decided(record: Record, accepted: Collection[str]) -> list[Copy]:
    """Return the copies that accept the pairs with these names in the record.

    Raises WhatchangedError in the same cases as ``plan``.
    """
    check_source(record)
    wanted = set(accepted)
    return _copies(record, [place for place, pair in enumerate(record.pairs) if pair.pair_id in wanted])


def _copies(record: Record, members: Iterable[int]) -> list[Copy]:
    """Return one copy for each picture to replace.

    Raises WhatchangedError if two copies have the same target.
    """
    copies: dict[Path, Copy] = {}
    for place in members:
        copy = _copy(record.pairs[place])
        if copy is None:
            continue
        _check_target(copy, record.folder)
        if copies.setdefault(copy.target, copy) != copy:
            raise WhatchangedError(
                f"{copy.pair_id}: {copy.source} and {copies[copy.target].source} would both become"
                f" {copy.target}. Accept one of them."
            )
    return list(copies.values())


def check_source(record: Record) -> None:
    """Check that the pictures of a report can be accepted by copying.

    Raises WhatchangedError if they cannot.
    """
    if record.tool:
        raise WhatchangedError(f"Pictures of {record.source} cannot be copied: {record.tool}.")


def to_do(copies: Sequence[Copy]) -> list[Copy]:
    """Return the copies that have not been made yet.

    Raises OutputError if an old or new picture has changed since the comparison. Otherwise, a picture that
    nobody has seen would be copied or overwritten.
    """
    results = []
    for copy in copies:
        now = digest_if_read(copy.target)
        if digest_if_read(copy.source) != copy.became:
            raise _other(copy.source)
        if now == copy.became:
            continue
        if now != copy.was:
            raise _other(copy.target)
        results.append(copy)
    return results


def carry_out(
    copies: Sequence[Copy], report: Path | None = None, by: str = "", rejected: Sequence[str] = ()
) -> None:
    """Copy every picture, each completely or not at all.

    A new file gets the permissions of the replaced file. Temporary files of a killed process are removed from
    the folders of the old pictures.

    report: the folder of results. Its log gets a line for each copied picture and each rejected pair.
    by: the command or file that named the pairs, for the log.
    rejected: the names of the rejected pairs.

    Raises OutputError that says how many pictures were copied.
    """
    if report is not None:
        check_log(report)
    for folder in {copy.target.parent for copy in copies}:
        clear_drafts(folder)
    for done, copy in enumerate(copies):
        try:
            copy.target.parent.mkdir(parents=True, exist_ok=True)
            with whole(copy.target.resolve()) as draft:
                shutil.copyfile(regular(copy.source), draft)
                if digest_if_read(draft) != copy.became:
                    raise _other(copy.source)
        except OutputError as error:  # its message already names the file
            raise OutputError(f"{error} {_accepted(done, copies)}") from error
        except OSError as error:
            raise OutputError(
                f"{copy.target}: cannot be replaced ({error.strerror or error}); {_accepted(done, copies)}"
            ) from error
        if report is not None:
            _log(report, [_line(copy, by)])
    if report is not None:
        _log(report, [{"id": name, "decision": "rejected", "by": by} for name in rejected])


def check_log(report: Path) -> None:
    """Check that the log of a report is a regular file or does not exist. Raises OutputError otherwise."""
    path = report / LOG
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OutputError(f"{path}: this is no file of its own. Remove it.")


def _line(copy: Copy, by: str) -> dict[str, Any]:
    return {
        "id": copy.pair_id,
        "decision": "accepted",
        "by": by,
        "new": str(copy.source),
        "old": str(copy.target),
        "was": copy.was,
        "became": copy.became,
    }


def _log(report: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Add lines to the log, each with the time. Raises OutputError if the log cannot be written."""
    if not lines:
        return
    path = report / LOG
    time = datetime.now(UTC).isoformat(timespec="seconds")
    text = "".join(json.dumps({"time": time, **line}) + "\n" for line in lines)
    try:
        with room_for(path):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(path, flags, 0o666), "w", encoding="utf-8") as stream:
                stream.write(text)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _accepted(done: int, copies: Sequence[Copy]) -> str:
    """Return a sentence that says how many pictures were accepted before an error."""
    return f"{done:,} of {len(copies):,} were accepted before it."


def group_called(record: Record, name: str) -> RecordedGroup | None:
    """Return the group with this number, or None if there is none."""
    return next((group for group in record.groups if str(group.number) == name), None)


def _members(
    record: Record, name: str, named: Collection[str], spelled: Mapping[str, Sequence[int]]
) -> Sequence[int]:
    """Return the indices in the record of the pairs that a name refers to.

    named: all names of the command, in composed Unicode form.
    spelled: the indices of the pairs by name, in composed Unicode form.

    Raises WhatchangedError if the name is unknown or ambiguous.
    """
    group = group_called(record, name)
    places = spelled.get(composed(name), ())
    exact = [place for place in places if record.pairs[place].pair_id == name]
    # If two file names in one folder differ only in their Unicode form, an exact match takes precedence.
    found = exact[:1] or (places if len(places) == 1 else ())
    if group is not None and found:
        raise WhatchangedError(
            f"{name}: both a group and a pair are called so. Give the pairs of the list other ids."
        )
    if group is not None:
        _check_odd(record, group, named)
        return group.members
    if not found and name.isdecimal():
        raise WhatchangedError(f"{name}: there is no such group; there are {len(record.groups):,}.")
    if not found:
        raise WhatchangedError(f"{name}: no pair has this name. Give its id of results.jsonl.")
    return found


def _check_odd(record: Record, group: RecordedGroup, named: Collection[str]) -> None:
    """Check that the odd members of a group are named too. Raises WhatchangedError if they are not."""
    ids = [record.pairs[place].pair_id for place in group.odd]
    left = [pair_id for pair_id in ids if composed(pair_id) not in named]
    if left:
        names = ", ".join(left[:ODD_NAMED]) + (", ..." if len(left) > ODD_NAMED else "")
        shows = "picture of this group shows" if len(left) == 1 else "pictures of this group show"
        raise WhatchangedError(
            f"{group.number}: {len(left):,} {shows} more than what the group shares: {names}. Look at them,"
            " and name beside the group what is right."
        )


def _copy(pair: RecordedPair) -> Copy | None:
    """Return the copy that accepts one pair, or None if its two files are identical.

    Raises WhatchangedError if the pair cannot be accepted.
    """
    if pair.why:
        raise WhatchangedError(f"{pair.pair_id}: {pair.why}.")
    if pair.same:
        return None
    assert pair.new is not None and pair.old is not None and pair.became is not None
    return Copy(pair.pair_id, pair.new, pair.old, pair.was, pair.became)


def _check_target(copy: Copy, old: Path | None) -> None:
    """Check that no link leads the target of a copy to another location.

    If there was no old picture, the target must not be a link. The folder of the target must be inside
    ``old``.

    old: the folder of the old pictures; None if they have no common folder.

    Raises WhatchangedError otherwise.
    """
    target = copy.target
    if copy.was is None and target.is_symlink():
        raise WhatchangedError(f"{copy.pair_id}: {target} is a link, which was left out. Remove it.")
    check_link(target)
    if old is not None and not target.parent.resolve().is_relative_to(old.resolve()):
        raise OutputError(
            f"{target}: its folder is a link that leads out of {old}. Remove the link, or copy the picture"
            " yourself."
        )


def _other(path: Path) -> OutputError:
    return OutputError(f"{path}: this is another picture than the one that was compared. {AGAIN}")
