"""Read and write ``compared.json``: the pictures that a comparison showed, for the command ``accept``.

    {"signature": "...", "record": {"format": 1, "results": "...", "source": "old and new", "tool": "",
     "folder": "../old", "pairs": [...], "groups": [...]}}

A folder of results may be untrusted, and this file determines which pictures are replaced. It is therefore
signed with the key of this machine (``signing``) and cannot be used on another machine. Its paths are
relative to the folder. In a copy of a project, they therefore refer to the pictures of the copy.
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

if TYPE_CHECKING:  # reading a record must not import slow modules
    from whatchanged.compare.comparison import Comparison
    from whatchanged.compare.run import Outcome

RECORD = "compared.json"
"""The name of the file in the folder of results."""
RESULTS = "results.jsonl"
"""The name of the results that people and programs read. The record contains the hash of this file."""
FORMAT = 1
MOST_BYTES = 200_000_000
"""The largest size of the file in bytes. A hundred thousand pairs need less."""
AGAIN = "Compare again, look, then accept."
"""The advice for a report that is no longer valid."""


@dataclass(frozen=True)
class RecordedPair:
    """One pair as shown on the page of the report.

    pair_id  the name of the pair
    new      the path of the new picture; None if there is none
    old      the path to which the new picture is copied; None if the picture cannot be accepted
    was      the SHA-256 of the old picture; None if there was none
    became   the SHA-256 of the new picture; None if there is none
    why      the reason why the pair cannot be accepted; empty if the pair can be accepted
    same     whether the two files are identical, so that there is nothing to accept
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
    """One group: its number, the indices of its members and odd members in the pairs, and its sentence."""

    number: int
    members: tuple[int, ...]
    odd: tuple[int, ...]
    sentence: str


@dataclass(frozen=True)
class Record:
    """The record of a comparison.

    results  the SHA-256 of ``results.jsonl``
    source   the origin of the pairs, in a few words
    tool     the way to accept these pictures if they must not be copied; empty if they can be
    folder   the folder of the old pictures; None if they have no common folder
    """

    results: str
    source: str
    tool: str
    folder: Path | None
    pairs: tuple[RecordedPair, ...]
    groups: tuple[RecordedGroup, ...]


def digest_of_results(text: str) -> str:
    """Return the SHA-256 of the text of ``results.jsonl`` as written to the file.

    This hash identifies a report.
    """
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def record_of(comparison: "Comparison", results: str) -> Record:
    """Return the record of a comparison.

    results: the hash of its ``results.jsonl``.
    """
    matched = comparison.matched
    folder = None if matched.old is None else matched.old.absolute()
    groups = tuple(
        RecordedGroup(group.number, group.members, group.odd, group.sentence) for group in comparison.groups
    )
    pairs = tuple(_pair(outcome, folder, matched.ending) for outcome in comparison.outcomes)
    return Record(results, matched.source, matched.accepted, folder, pairs, groups)


def write_record(record: Record, folder: Path) -> None:
    """Write the record into a folder of results, completely or not at all.

    Raises OutputError if this fails.
    """
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
    """Return the record in a folder of results.

    Raises OutputError if the record is missing or invalid, if it was not written by this user on this
    machine, or if it does not belong to the results in the folder.
    """
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
    """Check that the results in the folder belong to the record. Raises OutputError if they do not."""
    try:
        found = hashlib.sha256(read_regular(path)).hexdigest()
    except OSError as error:
        raise OutputError(f"{path}: cannot be read ({error.strerror or error}). {AGAIN}") from error
    if found != record.results:
        raise OutputError(f"{path}: these are others than the results that were compared. {AGAIN}")


def _pair(outcome: "Outcome", folder: Path | None, ending: str) -> RecordedPair:
    """Return the recorded pair of an outcome."""
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
    """Return the fields of a pair for the file. Fields that do not apply are omitted."""
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
    """Return the pair that ``_fields`` wrote."""
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
    """Return a path relative to a folder."""
    if path is None:
        return None
    try:
        return os.path.relpath(path, folder.absolute())
    except ValueError:  # the paths are on different drives
        return str(path)


def _path(folder: Path, value: str | None) -> Path | None:
    """Return the path that ``_from`` wrote."""
    return None if value is None else Path(os.path.normpath(folder.absolute() / value))


def _text(fields: Any) -> str:
    """Return the text of a record that is signed. Equal records have equal texts."""
    return json.dumps(fields, sort_keys=True)
