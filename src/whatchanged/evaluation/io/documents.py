"""Read JSON files of unknown origin, with a single value or one value for each line; convert PCL's names of
pairs.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatchanged.errors import PredictionsError
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text

SHOWN = 80
_PCL_CLEVR = re.compile(r"CLEVR_default_(\d+)(?:\.png)?_CLEVR_(semantic|nonsemantic)_(\d+)(?:\.png)?")


@dataclass(frozen=True)
class FileValues:
    """The content of a file: ``values``, each with its place ("line 3", "entry 7") for messages.

    A file with one value for each line gives its lines as values; a list gives its entries. Any other single
    value is also ``whole``.
    """

    path: Path
    values: tuple[tuple[str, Any], ...]
    whole: Any = None
    repeated: tuple[str, ...] = ()
    """Keys that occur more than once in ``whole``, an object: the last of each counts."""


def read_document(path: Path) -> FileValues:
    """Read a JSON or JSON Lines file in UTF-8. Raises PredictionsError, which names the malformed line."""
    return parse_document(path, read_text(path))


def read_text(path: Path) -> str:
    """Read the text of a file in UTF-8. Raises PredictionsError."""
    try:
        return read_regular_text(path, "utf-8-sig", piped=True)
    except (OSError, UnicodeDecodeError) as error:
        raise PredictionsError(f"{path}: cannot be read ({error}).") from error


def parse_document(path: Path, text: str) -> FileValues:
    """Parse the text of a JSON or JSON Lines file."""
    start = len(text) - len(text.lstrip())
    if start == len(text):
        raise PredictionsError(f"{path}: the file is empty. Was it written to the end?")
    if text[start] not in "{[":
        raise PredictionsError(
            f"{path}, line {text.count(chr(10), 0, start) + 1}: not JSON. JSON or JSON "
            "Lines (one object a line) is wanted."
        )
    keys: list[str] = []

    def keep_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Record repeated keys; the outermost object comes last, so its keys are those that remain."""
        keys[:] = [key for key, _ in pairs]
        return dict(pairs)

    try:
        first, end = json.JSONDecoder(object_pairs_hook=keep_keys).raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _is_lines(text):
            _lines(path, text)  # raises for the first broken line
        raise _malformed(path, error.lineno, error) from error
    except (ValueError, RecursionError) as error:
        raise _malformed(path, text.count("\n", 0, start) + 1, error) from error
    if isinstance(first, list) or not text[end:].strip():
        if text[end:].strip():
            line = text.count("\n", 0, end + len(text[end:]) - len(text[end:].lstrip())) + 1
            raise PredictionsError(f"{path}, line {line}: not JSON: something follows the end of the list.")
        return _single(path, first, keys)
    return FileValues(path, tuple(_lines(path, text)))


def short(value: Any) -> str:
    """Return a value as JSON, cut to a length that fits into a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[:SHOWN] + " ..."


def pcl_id(name: str) -> str:
    """Return the benchmark's own id for PCL's name of a CLEVR-Change pair; other names stay.

    ``CLEVR_default_000123.png_CLEVR_semantic_000123.png`` -> ``000123.png``; nonsemantic -> ``000123.png_n``.
    """
    found = _PCL_CLEVR.fullmatch(name)
    if found is None or found[1] != found[3]:
        return name
    return f"{found[1]}.png" + ("_n" if found[2] == "nonsemantic" else "")


def _single(path: Path, value: Any, keys: Sequence[str]) -> FileValues:
    if isinstance(value, list):
        if not value:
            raise PredictionsError(f"{path}: the list is empty. Was it written to the end?")
        return FileValues(path, tuple((f"entry {i}", v) for i, v in enumerate(value, 1)))
    twice = tuple(key for key, count in Counter(keys).items() if count > 1)
    return FileValues(path, (("line 1", value),), value, twice)


def _is_lines(text: str) -> bool:
    """Return whether the second line is an object of its own, which never occurs in a single multi-line
    value.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and lines[1].startswith("{") and lines[1].endswith("}")


def _lines(path: Path, text: str) -> list[tuple[str, Any]]:
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append((f"line {number}", read_json(line)))
            except ValueError as error:
                raise _malformed(path, number, error) from error
    return values


def _malformed(path: Path, line: int, error: Exception) -> PredictionsError:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
    return PredictionsError(
        f"{path}, line {line}{column}: not JSON ({reason}). Was the file cut off, or edited by hand?"
    )
