"""Reads and writes the records of ``same_answers``, and finds the differences between two of them.

A record is a folder: ``answers/SET.jsonl`` has a line a pair, ``commands/NAME/`` has the outputs of a command
as files. A difference has the name PART/NAME/ID/FIELD or commands/NAME/FILE.
``--except`` takes patterns of these names.
"""

import fnmatch
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHOWN = 300
"""Characters of a value that are shown."""
MISSING = "(nothing)"
"""What is shown for a field or file that one side does not have."""


@dataclass(frozen=True)
class Difference:
    """One field, or one file, that is not the same in both records."""

    name: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.name}\n    was {self.was[:SHOWN]}\n    is  {self.now[:SHOWN]}"


def read_whole_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSON lines file; a last one that is cut short is removed from it. None: no lines."""
    if not path.exists():
        return []
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        path.write_bytes(whole)
    return [json.loads(line) for line in whole.splitlines()]


def unexcepted(differences: Sequence[Difference], excepted: Sequence[str]) -> list[Difference]:
    """The differences that no pattern of ``--except`` names, by the whole name or its beginning."""
    patterns = [form for pattern in excepted for form in (pattern, f"{pattern}/*")]
    return [
        one for one in differences if not any(fnmatch.fnmatchcase(one.name, pattern) for pattern in patterns)
    ]


def answer_differences(
    name: str, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    """Every field of every pair of a set that differs; numbers must be equal in every digit."""
    before, after = ({line["id"]: line for line in side} for side in (old, new))
    for pair in dict.fromkeys([*before, *after]):
        was, now = before.get(pair, {}), after.get(pair, {})
        for field in dict.fromkeys([*was, *now]):
            mine, theirs = (
                json.dumps(side[field], ensure_ascii=False) if field in side else MISSING
                for side in (was, now)
            )
            if mine != theirs:
                yield Difference(f"{name}/{pair}/{field}", mine, theirs)


def output_differences(name: str, old: Path, new: Path) -> Iterator[Difference]:
    """Every file of a command's outputs that differs by a byte."""
    files = sorted(
        {path.relative_to(side) for side in (old, new) for path in side.rglob("*") if path.is_file()}
    )
    for file in files:
        was, now = ((side / file).read_bytes() if (side / file).is_file() else None for side in (old, new))
        if was != now:
            yield Difference(f"{name}/{file.as_posix()}", *first_difference(was, now))


def first_difference(was: bytes | None, now: bytes | None) -> tuple[str, str]:
    """The first line, or only the lengths of what is no text, in which two files differ."""
    if was is None or now is None:
        mine, theirs = (MISSING if side is None else f"a file of {len(side)} bytes" for side in (was, now))
        return mine, theirs
    try:
        lines = was.decode().split("\n"), now.decode().split("\n")
    except UnicodeDecodeError:
        return f"{len(was)} bytes", f"{len(now)} other bytes"
    number = next((i for i, (a, b) in enumerate(zip(*lines, strict=False)) if a != b), min(map(len, lines)))
    mine, theirs = (around(side, number, lines) for side in lines)
    return mine, theirs


def around(side: Sequence[str], number: int, lines: tuple[Sequence[str], Sequence[str]]) -> str:
    """A line with its number; of a long one the part from shortly before where the two sides differ."""
    if number >= len(side):
        return f"line {number + 1}: {MISSING}"
    if any(number >= len(other) for other in lines):
        return f"line {number + 1}: {side[number]!r}"
    at = next((i for i, (a, b) in enumerate(zip(*(o[number] for o in lines), strict=False)) if a != b), 0)
    start = max(0, at - SHOWN // 3) if len(side[number]) > SHOWN // 2 else 0
    return f"line {number + 1}: {'...' * bool(start)}{side[number][start:]!r}"
