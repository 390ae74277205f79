"""``compared.json``: which pictures a comparison showed, kept for whoever accepts them.

    {"signature": "...", "record": {"format": 1, "results": "...", "source": "old and new", "tool": "",
     "folder": "../old", "pairs": [...], "groups": [...]}}

A folder of results may come from a stranger, and this file says which pictures are to be replaced. So it is
signed with the key of this machine (``signing``), and read nowhere else. Paths in it are as seen from the
folder, so that in a copy of a project the copy's pictures are meant.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatchanged.errors import OutputError
from whatchanged.files import write_output
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular
from whatchanged.signing import is_signed, machine_key, sign

if TYPE_CHECKING:  # who only reads a record imports nothing heavy
    from whatchanged.compare.comparison import Comparison
    from whatchanged.compare.run import Outcome

RECORD = "compared.json"
"""Its name in the folder of results."""
RESULTS = "results.jsonl"
"""What a person or a program has read of the comparison; the record holds its hash."""
FORMAT = 1
MOST_BYTES = 200_000_000
"""Of the file: a hundred thousand pairs have less."""
AGAIN = "Compare again, look, then accept."
"""What to do where a report is not what it was."""


@dataclass(frozen=True)
class RecordedPair:
    """One pair as it was shown.

    pair_id  its name
    new      where the new picture lies; None where there is none
    old      where it goes when it is accepted; None where it cannot be
    was      SHA-256 of the old picture; None where there was none
    became   SHA-256 of the new picture; None where there is none
    why      why it cannot be accepted; empty where it can
    same     the two files were the same, so that there is nothing to accept
    """

    pair_id: str
    new: Path | None = None
    old: Path | None = None
    was: str | None = None
    became: str | None = None
    why: str = ""
    same: bool = False


@dataclass(frozen=True)
class RecordedGroup:
    """One group: its number, its members' and its odd members' places among the pairs, what they share."""

    number: int
    members: tuple[int, ...]
    odd: tuple[int, ...]
    sentence: str


@dataclass(frozen=True)
class Record:
    """What a comparison showed.

    results  SHA-256 of its ``results.jsonl``
    source   what was compared, in a few words
    tool     how these pictures are accepted where copying them would not do; empty where it does
    folder   of the old pictures; None where they have none in common
    """

    results: str
    source: str
    tool: str
    folder: Path | None
    pairs: tuple[RecordedPair, ...]
    groups: tuple[RecordedGroup, ...]


def digest_of_results(text: str) -> str:
    """SHA-256 of the text of ``results.jsonl`` as it is written; it names a report."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def record_of(comparison: "Comparison", results: str) -> Record:
    """The record of a comparison. results: the hash of its ``results.jsonl``."""
    matched = comparison.matched
    folder = None if matched.old is None else matched.old.absolute()
    groups = tuple(
        RecordedGroup(group.number, group.members, group.odd, group.sentence) for group in comparison.groups
    )
    pairs = tuple(_pair(outcome, folder, matched.ending) for outcome in comparison.outcomes)
    return Record(results, matched.source, matched.accepted, folder, pairs, groups)


def write_record(record: Record, folder: Path) -> None:
    """Write the record into a folder of results, whole or not at all. Raises OutputError."""
    fields = {
        "format": FORMAT,
        "results": record.results,
        "source": record.source,
        "tool": record.tool,
        "folder": _from(folder, record.folder),
        "pairs": [_fields(pair, folder) for pair in record.pairs],
        "groups": [[one.number, one.members, one.odd, one.sentence] for one in record.groups],
    }
    signature = sign(machine_key(), "record", _text(fields))
    document = json.dumps({"signature": signature, "record": fields}, separators=(",", ":"))
    write_output(folder / RECORD, document + "\n")


def read_record(folder: Path) -> Record:
    """The record in a folder of results. Raises OutputError where there is none that was written here, by
    this user, together with the results beside it."""
    path = folder / RECORD
    try:
        if path.stat().st_size > MOST_BYTES:
            raise OutputError(f"{path}: larger than {MOST_BYTES:,} bytes. {AGAIN}")
        document = read_json(read_regular(path), finite=True)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be read ({error.strerror or error}). Name the folder of a comparison's results."
        ) from error
    except ValueError as error:
        raise OutputError(f"{path}: not JSON in UTF-8 ({error}). {AGAIN}") from error
    fields = document.get("record") if isinstance(document, dict) else None
    if fields is None or not is_signed(machine_key(), document.get("signature"), "record", _text(fields)):
        raise OutputError(f"{path}: this was not written here, by this user. {AGAIN}")
    if fields["format"] != FORMAT:
        raise OutputError(f"{path}: another version of whatchanged wrote this. {AGAIN}")
    record = Record(
        fields["results"],
        fields["source"],
        fields["tool"],
        _path(folder, fields["folder"]),
        tuple(_read_pair(one, folder) for one in fields["pairs"]),
        tuple(
            RecordedGroup(number, tuple(members), tuple(odd), sentence)
            for number, members, odd, sentence in fields["groups"]
        ),
    )
    _check_results(folder / RESULTS, record)
    return record


def _check_results(path: Path, record: Record) -> None:
    """That the results beside the record are those that were written with it. Raises OutputError."""
    try:
        found = hashlib.sha256(read_regular(path)).hexdigest()
    except OSError as error:
        raise OutputError(f"{path}: cannot be read ({error.strerror or error}). {AGAIN}") from error
    if found != record.results:
        raise OutputError(f"{path}: these are others than the results that were compared. {AGAIN}")


def _pair(outcome: "Outcome", folder: Path | None, ending: str) -> RecordedPair:
    """One pair as it was found."""
    from whatchanged.compare.pairs import digest_if_read

    pair = outcome.pair
    if outcome.failed:
        return RecordedPair(pair.pair_id, why=f"it could not be compared: {outcome.error}")
    if pair.part_of and (outcome.answer is None or outcome.answer.verdict != "identical"):
        why = f"it is a page of {pair.part_of}; copy that file yourself if all its pages are right"
        return RecordedPair(pair.pair_id, why=why)
    if pair.after is None:
        why = "it was removed; delete the old picture yourself if that is right"
        return RecordedPair(pair.pair_id, why=why)
    if pair.status == "renamed":
        why = f"it is the same picture as {pair.was}; move the old one yourself if that is right"
        return RecordedPair(pair.pair_id, why=why)
    new = pair.after.absolute()
    if pair.before is not None:
        answer = outcome.answer
        if outcome.digests is None and answer is not None and answer.verdict == "identical":
            return RecordedPair(pair.pair_id, new, pair.before.absolute(), same=True)
        was, became = outcome.digests or (digest_if_read(pair.before), digest_if_read(pair.after))
        if was is None or became is None:
            return RecordedPair(
                pair.pair_id, why="a picture of it was gone, or no file, when the results were written"
            )
        return RecordedPair(pair.pair_id, new, pair.before.absolute(), was, became)
    if folder is None:
        why = "there is no old picture, and no folder to put the new one in"
        return RecordedPair(pair.pair_id, why=why)
    became = digest_if_read(pair.after)
    if became is None:
        return RecordedPair(pair.pair_id, why="it was gone, or no file, when the results were written")
    place = folder / pair.pair_id
    return RecordedPair(pair.pair_id, new, place.with_stem(place.stem + ending), became=became)


def _fields(pair: RecordedPair, folder: Path) -> dict[str, Any]:
    """What is written of a pair in a folder of results; what does not apply is left out."""
    fields = {
        "id": pair.pair_id,
        "new": _from(folder, pair.new),
        "old": _from(folder, pair.old),
        "was": pair.was,
        "became": pair.became,
        "why": pair.why or None,
        "same": pair.same or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _read_pair(fields: Mapping[str, Any], folder: Path) -> RecordedPair:
    """What ``_fields`` wrote."""
    return RecordedPair(
        fields["id"],
        _path(folder, fields.get("new")),
        _path(folder, fields.get("old")),
        fields.get("was"),
        fields.get("became"),
        fields.get("why", ""),
        fields.get("same", False),
    )


def _from(folder: Path, path: Path | None) -> str | None:
    """A path as seen from a folder."""
    if path is None:
        return None
    try:
        return os.path.relpath(path, folder.absolute())
    except ValueError:  # another drive
        return str(path)


def _path(folder: Path, value: str | None) -> Path | None:
    """The path that ``_from`` wrote."""
    return None if value is None else Path(os.path.normpath(folder.absolute() / value))


def _text(fields: Any) -> str:
    """The one text that a record has, which is signed."""
    return json.dumps(fields, sort_keys=True)
