"""Convert answers to JSON and back, and store the answers of earlier runs in a file.

The file belongs to one folder of results. Its first line contains the settings. Each further line contains
the hashes of two pictures, the ignored boxes, the policy, and the answer. A run that was interrupted, or that
is repeated after some pictures changed, decodes only the pictures without a stored answer.

A folder of results may be untrusted, for example in a pull request. Each line therefore ends with a signature
by the key of this machine (``signing``). The signature of an answer also covers the settings. Lines without a
valid signature are not read.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from whatchanged.answers import Answer
from whatchanged.compare.pairs import digest
from whatchanged.errors import OutputError
from whatchanged.files import room_for, whole
from whatchanged.json_values import read_json
from whatchanged.measured import Box, Measured, Statement
from whatchanged.measured.policy import Policy
from whatchanged.opening import open_regular_text
from whatchanged.signing import is_signed, machine_key, sign

FORMAT = 2
MOST_HEAD = 10_000
"""The largest number of characters in the first line."""
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "sentence": str,
    "no_change": (float, int),
    "verdict": str,
    "doubtful": bool,
    "answer": str,
}
"""The types of the simple fields of a stored answer."""


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """Return all fields of an answer except the internal data of a model and the paths of its files."""
    names = {one.name for one in fields(answer)} - {"description", "sources"}
    results = {name: getattr(answer, name) for name in sorted(names)}
    results["changes"] = [asdict(change) for change in answer.changes]
    results["measured"] = None if answer.measured is None else _measured_to_json(answer.measured)
    return results


def _measured_to_json(measured: Measured) -> dict[str, Any]:
    """Return all fields of a measurement. The many numbers of the signature are not converted."""
    results = {one.name: getattr(measured, one.name) for one in fields(measured)}
    return {**results, "statements": [asdict(one) for one in measured.statements]}


def answer_from_json(fields: Mapping[str, Any]) -> Answer:
    """Return the answer that ``answer_to_json`` wrote.

    Raises KeyError, TypeError or ValueError for other data.
    """
    plain = dict(fields)
    measured = plain.pop("measured")
    for name, wanted in _TYPES.items():
        if not isinstance(plain[name], wanted):
            raise TypeError(f"{name}: got {plain[name]!r}")
    return Answer(
        **{
            **plain,
            "size_before": _pair_of(plain["size_before"]),
            "size_after": _pair_of(plain["size_after"]),
            "changes": tuple(_statement(change) for change in plain["changes"]),
        },
        measured=None if measured is None else _measured(measured),
    )


class StoredAnswers:
    """The answers of one folder of results.

    Stored answers are read at the start, and new answers are added during the run.

    Lines that are incomplete, of another form or not signed here are left out. Raises OutputError if the file
    cannot be written.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], anew: bool = False) -> None:
        """Read the stored answers.

        path: the path of the file.
        identity: the settings. Answers with other settings are dropped.
        anew: whether to drop all answers.
        """
        self.path = path
        self._key = machine_key()
        self._head = _head({"format": FORMAT, **identity})
        self._known: dict[str, Any] = {} if anew else self._read()
        self._used: set[str] = set()
        self._stream: IO[str] | None = None

    def __enter__(self) -> Self:
        self._write(self._known)
        try:
            self._stream = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written ({error.strerror}).") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            with room_for(self.path):
                self._stream.close()
        if kind is None:  # drop the answers that no pair requested
            self._write({key: answer for key, answer in self._known.items() if key in self._used})

    def find(self, key: str) -> Answer | None:
        """Return the answer that is stored under the key, or None if there is none."""
        self._used.add(key)
        try:
            return answer_from_json(self._known[key]) if key in self._known else None
        except (KeyError, TypeError, ValueError):
            return None

    def add(self, key: str, answer: Answer) -> None:
        """Store an answer. The answer is in the file when this method returns."""
        results = answer_to_json(answer)
        self._known[key] = results
        self._used.add(key)
        if self._stream is not None:
            with room_for(self.path):
                self._stream.write(self._line(key, results))
                self._stream.flush()

    def _write(self, answers: Mapping[str, Any]) -> None:
        try:
            with whole(self.path) as draft, draft.open("w", encoding="utf-8") as stream:
                stream.write(_first_line(self._key, self._head))
                stream.writelines(self._line(key, answer) for key, answer in answers.items())
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written ({error.strerror}).") from error

    def _read(self) -> dict[str, Any]:
        """Return the answers by key if the file has the same settings; {} otherwise."""
        try:
            with open_regular_text(self.path, "utf-8") as stream:
                if stream.readline(MOST_HEAD) != _first_line(self._key, self._head):
                    return {}
                return dict(filter(None, map(self._entry, stream)))
        except (OSError, UnicodeDecodeError):
            return {}

    def _line(self, key: str, answer: Any) -> str:
        return json.dumps([key, answer, self._signature(key, answer)], allow_nan=False) + "\n"

    def _entry(self, line: str) -> tuple[str, Any] | None:
        """Return the key and the answer of one line; None if the line is incomplete or not signed for these
        settings.
        """
        try:
            key, answer, signature = read_json(line, finite=True)
        except (ValueError, TypeError):
            return None
        if not isinstance(key, str) or not is_signed(self._key, signature, *self._signed(key, answer)):
            return None
        return key, answer

    def _signature(self, key: str, answer: Any) -> str:
        return sign(self._key, *self._signed(key, answer))

    def _signed(self, key: str, answer: Any) -> tuple[str, ...]:
        """Return the texts that the signature of an answer covers."""
        return "answer", self._head, key, json.dumps(answer)


def is_stored(path: Path) -> bool:
    """Return whether a file has the form of stored answers, or is the empty file that a run starts with.

    The origin of the file does not matter.
    """
    head, _ = _read_head(path)
    return isinstance(head, dict) and {"format", "signature"} <= head.keys()


def is_ours(path: Path) -> bool:
    """Return whether this machine wrote the file."""
    head, signature = _read_head(path)
    return is_signed(machine_key(), signature, "results", _head(head))


def _head(settings: Any) -> str:
    """Return the settings of a file as text. Equal settings have equal texts."""
    return json.dumps(settings, sort_keys=True)


def _first_line(key: bytes, head: str) -> str:
    return f'[{head}, "{sign(key, "results", head)}"]\n'


def _read_head(path: Path) -> tuple[Any, Any]:
    """Return the settings of a file and their signature.

    The signature is None in files of earlier versions.
    """
    if not path.is_file():
        return None, None
    try:
        with open_regular_text(path, "utf-8") as stream:
            first = stream.readline(MOST_HEAD)
        found = read_json(first) if first else {"format": FORMAT, "signature": 0}
    except (OSError, ValueError):
        return None, None
    return (found[0], found[1]) if isinstance(found, list) and len(found) == 2 else (found, None)


def key_of(before: Path, after: Path, boxes: Sequence[Box], policy: Policy) -> str:
    """Return the key of an answer: the hashes of the two pictures, the ignored boxes, and the policy.

    Raises ImageError if one of the pictures cannot be read.
    """
    looking = json.dumps([boxes, policy.limits()])
    return f"{digest(before)} {digest(after)} {looking}"


def digests_of(key: str) -> tuple[str, str]:
    """Return the SHA-256 of the two pictures of a key."""
    before, after, _ = key.split(" ", 2)
    return before, after


def _statement(fields: Mapping[str, Any]) -> Statement:
    boxes = tuple(_box(box) for box in fields["boxes"])
    return Statement(
        **{
            **fields,
            "box_before": None if fields["box_before"] is None else _box(fields["box_before"]),
            "box_after": None if fields["box_after"] is None else _box(fields["box_after"]),
            "boxes": boxes,
        }
    )


def _measured(fields: Mapping[str, Any]) -> Measured:
    return Measured(
        **{
            **fields,
            "statements": tuple(_statement(one) for one in fields["statements"]),
            "notes": tuple(fields["notes"]),
            "size_before": _pair_of(fields["size_before"]),
            "size_after": _pair_of(fields["size_after"]),
            "signature": tuple(fields["signature"]),
            "idle": tuple(fields["idle"]),
        }
    )


def _box(value: Sequence[int]) -> Box:
    left, top, right, bottom = value
    return left, top, right, bottom


def _pair_of(value: Sequence[int]) -> tuple[int, int]:
    first, second = value
    return first, second
