"""Answers as JSON and back, and the file that keeps those of earlier runs.

The file belongs to one folder of results. Its first line names the settings; each further line holds the
hashes of two pictures, the boxes ignored in them and their answer. A run that was interrupted, or is repeated
after some pictures changed, decodes only what it has no answer for.
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
from whatchanged.opening import open_regular_text

FORMAT = 1
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
    found = {name: getattr(answer, name) for name in sorted(names)}
    found["changes"] = [asdict(change) for change in answer.changes]
    found["measured"] = None if answer.measured is None else asdict(answer.measured)
    return found


def answer_from_json(found: Mapping[str, Any]) -> Answer:
    """What ``answer_to_json`` wrote. Raises KeyError, TypeError or ValueError where it is something else."""
    plain = dict(found)
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

    Lines that are torn or of another form are left out. Raises OutputError where it cannot be written.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], anew: bool = False) -> None:
        """path: the file. identity: the settings; answers under others are dropped; if ``anew``, all."""
        self.path = path
        self._head = json.dumps({"format": FORMAT, **identity}, sort_keys=True)
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
        found = answer_to_json(answer)
        self._known[key] = found
        self._used.add(key)
        if self._stream is not None:
            with room_for(self.path):
                self._stream.write(self._line(key, found))
                self._stream.flush()

    def _write(self, answers: Mapping[str, Any]) -> None:
        try:
            with whole(self.path) as draft, draft.open("w", encoding="utf-8") as stream:
                stream.write(self._head + "\n")
                stream.writelines(self._line(key, answer) for key, answer in answers.items())
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written ({error.strerror}).") from error

    def _read(self) -> dict[str, Any]:
        """Key -> answer of a file of the same settings."""
        try:
            with open_regular_text(self.path, "utf-8") as stream:
                if stream.readline().rstrip("\n") != self._head:
                    return {}
                return dict(filter(None, map(_entry, stream)))
        except (OSError, UnicodeDecodeError):
            return {}

    @staticmethod
    def _line(key: str, answer: Any) -> str:
        return json.dumps([key, answer], allow_nan=False) + "\n"


def is_stored(path: Path) -> bool:
    """Whether this is such a file, or the empty one from which a run begins."""
    try:
        with open_regular_text(path, "utf-8") as stream:
            first = stream.readline(MOST_HEAD)
        head = read_json(first) if first else {"format": FORMAT, "signature": 0}
    except (OSError, ValueError):
        return False
    return isinstance(head, dict) and {"format", "signature"} <= head.keys()


def key_of(before: Path, after: Path, boxes: Sequence[Box]) -> str:
    """What an answer is stored under: the bytes of the two pictures and the boxes ignored in them.

    Raises ImageError where one of them cannot be read.
    """
    return f"{digest(before)} {digest(after)} {json.dumps(boxes)}"


def _entry(line: str) -> tuple[str, Any] | None:
    """(key, answer) of one line; None where it is torn."""
    try:
        key, answer = read_json(line, finite=True)
    except (ValueError, TypeError):
        return None
    return (key, answer) if isinstance(key, str) else None


def _statement(found: Mapping[str, Any]) -> Statement:
    boxes = tuple(_box(box) for box in found["boxes"])
    return Statement(
        **{
            **found,
            "box_before": None if found["box_before"] is None else _box(found["box_before"]),
            "box_after": None if found["box_after"] is None else _box(found["box_after"]),
            "boxes": boxes,
        }
    )


def _measured(found: Mapping[str, Any]) -> Measured:
    return Measured(
        **{
            **found,
            "statements": tuple(_statement(one) for one in found["statements"]),
            "notes": tuple(found["notes"]),
            "size_before": _pair_of(found["size_before"]),
            "size_after": _pair_of(found["size_after"]),
            "signature": tuple(found["signature"]),
            "idle": tuple(found["idle"]),
        }
    )


def _box(value: Sequence[int]) -> Box:
    left, top, right, bottom = value
    return left, top, right, bottom


def _pair_of(value: Sequence[int]) -> tuple[int, int]:
    first, second = value
    return first, second
