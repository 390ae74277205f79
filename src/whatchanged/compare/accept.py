"""Accepting: new pictures take the place of old ones, for groups and pairs that a person names.

Only pictures that are still those that were shown are copied: both files of a pair are held against the
hashes in the report's record (``record``). What was accepted before is left as it is, so that an interrupted
command can be given again.
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
"""In the folder of results: a line a picture that was accepted or rejected, added to by every run."""
ODD_NAMED = 5
"""Odd members of a group that a message names."""


@dataclass(frozen=True)
class Copy:
    """One picture to copy: of which pair, from where, to where; hashes of what lay and will lie there.

    was  None where nothing lay there
    """

    pair_id: str
    source: Path
    target: Path
    was: str | None
    became: str


def plan(record: Record, wanted: Sequence[str]) -> list[Copy]:
    """The copies that accept what is named: a group's number, or a pair's name.

    Raises WhatchangedError where something named is not there or cannot be accepted, where a group has odd
    members that are not named beside it, or where a link among the old pictures leads elsewhere; nothing is
    copied then. A pair whose two files were the same needs no copy.
    """
    check_source(record)
    spelled = defaultdict[str, list[int]](list)
    for place, pair in enumerate(record.pairs):
        spelled[composed(pair.pair_id)].append(place)
    named = {composed(name) for name in wanted}
    return _copies(record, [place for name in wanted for place in _members(record, name, named, spelled)])


def plan_decided(record: Record, accepted: Collection[str]) -> list[Copy]:
    """The copies that accept these pairs, named as they are in the record. Raises WhatchangedError as
    ``plan`` does."""
    check_source(record)
    wanted = set(accepted)
    return _copies(record, [place for place, pair in enumerate(record.pairs) if pair.pair_id in wanted])


def _copies(record: Record, members: Iterable[int]) -> list[Copy]:
    """One copy for each picture that is to be replaced. Raises WhatchangedError."""
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
    """That the pictures of a report can be accepted at all. Raises WhatchangedError."""
    if record.tool:
        raise WhatchangedError(f"Pictures of {record.source} cannot be copied: {record.tool}.")


def to_do(copies: Sequence[Copy]) -> list[Copy]:
    """Those that were not carried out before. Raises OutputError where a picture, old or new, is another
    than the one that was compared: then nobody has seen what would be copied, or overwritten."""
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
    """Copy every picture, each whole or not at all. Raises OutputError that says how many were copied.

    A picture that is replaced hands on who may read and write it. What a killed process left among the old
    pictures goes. report: the folder of results, whose log gets a line for each picture that was copied and
    each pair that was rejected; by: what named them.
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
        except OutputError as error:  # the disk is full: the error names the file, and says what to do
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
    """That the log of a report can be added to: it is a file of its own, or not there. Raises OutputError."""
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
    """Add lines to the log, each with the time. Raises OutputError."""
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
    """How far the copying came."""
    return f"{done:,} of {len(copies):,} were accepted before it."


def group_called(record: Record, name: str) -> RecordedGroup | None:
    """The group of this number, if it is one."""
    return next((group for group in record.groups if str(group.number) == name), None)


def _members(
    record: Record, name: str, named: Collection[str], spelled: Mapping[str, Sequence[int]]
) -> Sequence[int]:
    """The places of the pairs that a name means. Raises WhatchangedError.

    named: all that is named, in one spelling. spelled: the places of the pairs by their names in it.
    """
    group = group_called(record, name)
    places = spelled.get(composed(name), ())
    exact = [place for place in places if record.pairs[place].pair_id == name]
    # Of two files in one folder whose names look alike, the exact one is meant.
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
    """That the members of a group that show something beyond it are named too. Raises WhatchangedError."""
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
    """The copy that accepts one pair; None where its files were the same. Raises WhatchangedError where it
    cannot be accepted."""
    if pair.why:
        raise WhatchangedError(f"{pair.pair_id}: {pair.why}.")
    if pair.same:
        return None
    assert pair.new is not None and pair.old is not None and pair.became is not None
    return Copy(pair.pair_id, pair.new, pair.old, pair.was, pair.became)


def _check_target(copy: Copy, old: Path | None) -> None:
    """That no link leads from a picture's place to somewhere else. Raises WhatchangedError.

    old: the folder of the old pictures; None where they have none in common.
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
