"""Answers as JSON and back, and the file that keeps those of earlier runs.

The file belongs to one folder of results. Its first line names the settings; each further line holds the
hashes of two pictures, the boxes ignored in them, the policy and their answer. A run that was interrupted, or
is repeated after some pictures changed, decodes only what it has no answer for.

A folder of results may come from a stranger, as in a pull request. Each line therefore ends with a signature
by the key of this machine (``signing``), the answers' over the settings, too; what has none is not read.
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
"""Characters of the first line."""
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "sentence": str,
    "no_change": (float, int),
    "verdict": str,
    "doubtful": bool,
    "answer": str,
}
"""What the plain members of a stored answer are."""


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """Everything but what a model saw, and in which files."""
    names = {one.name for one in fields(answer)} - {"description", "sources"}
    results = {name: getattr(answer, name) for name in sorted(names)}
    results["changes"] = [asdict(change) for change in answer.changes]
    results["measured"] = None if answer.measured is None else asdict(answer.measured)
    return results


def answer_from_json(fields: Mapping[str, Any]) -> Answer:
    """What ``answer_to_json`` wrote. Raises KeyError, TypeError or ValueError where it is something else."""
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
    """The answers of one folder of results, read when it is opened and added to as they come.

    Lines that are torn, of another form or not signed here are left out. Raises OutputError where the file
    cannot be written.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], anew: bool = False) -> None:
        """path: the file. identity: the settings; answers under others are dropped; if ``anew``, all."""
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
        if kind is None:  # what no pair asked for any more is dropped
            self._write({key: answer for key, answer in self._known.items() if key in self._used})

    def find(self, key: str) -> Answer | None:
        """The answer that is stored under the key."""
        self._used.add(key)
        try:
            return answer_from_json(self._known[key]) if key in self._known else None
        except (KeyError, TypeError, ValueError):
            return None

    def add(self, key: str, answer: Answer) -> None:
        """Store an answer; it is in the file before this returns."""
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
        """Key -> answer of a file of the same settings."""
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
        """(key, answer) of one line; None where it is torn, or was not signed here under these settings."""
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
        """What the signature of an answer is of."""
        return "answer", self._head, key, json.dumps(answer)


def is_stored(path: Path) -> bool:
    """Whether this has the form of such a file, whoever wrote it, or is the empty one that a run begins."""
    head, _ = _read_head(path)
    return isinstance(head, dict) and {"format", "signature"} <= head.keys()


def is_ours(path: Path) -> bool:
    """Whether this machine wrote the file."""
    head, signature = _read_head(path)
    return is_signed(machine_key(), signature, "results", _head(head))


def _head(settings: Any) -> str:
    """The settings of a file as the one text that they have."""
    return json.dumps(settings, sort_keys=True)


def _first_line(key: bytes, head: str) -> str:
    return f'[{head}, "{sign(key, "results", head)}"]\n'


def _read_head(path: Path) -> tuple[Any, Any]:
    """The settings of a file, and their signature, None in the files of earlier versions."""
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
    """What an answer is stored under: the bytes of the two pictures, the boxes ignored in them, the policy.

    Raises ImageError where one of them cannot be read.
    """
    looking = json.dumps([boxes, policy.limits()])
    return f"{digest(before)} {digest(after)} {looking}"


def digests_of(key: str) -> tuple[str, str]:
    """SHA-256 of the two pictures that a key is of."""
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
