"""Boxes in which differences do not count, from a file that a person writes.

    {"*": [[0, 0, 200, 24]],
     "dashboard/*.png": [{"box": [620, 8, 790, 40], "reason": "the clock"}]}

A key is a pattern for the names of pairs (``*`` matches any characters). A value is a list of boxes: left,
top, right and bottom in pixels. Right and bottom are exclusive.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from whatchanged.datasets.picture_files import composed
from whatchanged.errors import WhatchangedError
from whatchanged.json_values import read_json
from whatchanged.measured import Box
from whatchanged.opening import read_regular_text

MOST_BYTES = 5_000_000
MOST_BOXES = 1000
"""The largest number of ignored boxes in one pair. Each box costs a copy of its pixels."""
LARGEST = 1_000_000


@dataclass(frozen=True)
class Ignored:
    """One box of the file.

    pattern  the pattern for the names of the pairs that have this box
    box      left, top, right and bottom in pixels
    reason   the reason why differences in the box do not count; empty without a reason
    taught   whether the box was learned from two runs of one state; such a box is never reported as unused
    """

    pattern: str
    box: Box
    reason: str = ""
    taught: bool = False

    def __str__(self) -> str:
        """Return the text for the box in messages."""
        where = f"{self.pattern} {list(self.box)}"
        return f"{where} ({self.reason})" if self.reason else where


def read_ignored(path: Path) -> tuple[Ignored, ...]:
    """Return the boxes in a file. Raises WhatchangedError with the position of the fault in the file."""
    document = read_document(path)
    results = []
    for pattern, boxes in document.items():
        if not isinstance(boxes, list):
            raise WhatchangedError(f"{path}: {pattern!r} should be a list of boxes, not {boxes!r}.")
        results += [_ignored(path, pattern, number, entry) for number, entry in enumerate(boxes, start=1)]
    return tuple(results)


def read_document(path: Path) -> dict[str, Any]:
    """Return the object in a small JSON file.

    Raises WhatchangedError if the file cannot be read or does not contain an object.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise WhatchangedError(f"{path}: larger than {MOST_BYTES:,} bytes. Is this the right file?")
        document = read_json(read_regular_text(path, "utf-8-sig", piped=True))
    except ValueError as error:
        raise WhatchangedError(f"{path}: not JSON in UTF-8 ({error}).") from error
    except OSError as error:
        raise WhatchangedError(f"{path}: cannot read the file ({error.strerror}).") from error
    if not isinstance(document, dict):
        raise WhatchangedError(f"{path}: a JSON object is wanted, this is a {type(document).__name__}.")
    return document


def boxes_of(ignored: Sequence[Ignored], pair_id: str) -> list[tuple[int, Box]]:
    """Return the (index, box) of every box whose pattern matches the pair.

    Raises WhatchangedError if there are more than ``MOST_BOXES``.
    """
    results = [(index, one.box) for index, one in enumerate(ignored) if fits(pair_id, one.pattern)]
    if len(results) > MOST_BOXES:
        raise WhatchangedError(
            f"{pair_id}: {len(results):,} ignored boxes; at most {MOST_BOXES:,} are allowed."
        )
    return results


def fits(pair_id: str, pattern: str) -> bool:
    """Return whether a pattern matches the name of a pair. Differences in Unicode form are ignored."""
    return fnmatchcase(pair_id, pattern) or fnmatchcase(composed(pair_id), composed(pattern))


def unused_boxes(ignored: Sequence[Ignored], touched: Iterable[int]) -> list[Ignored]:
    """Return the boxes from a person that contain no difference in any pair.

    touched: the indices of the boxes that contain a difference.
    """
    busy = set(touched)
    return [one for index, one in enumerate(ignored) if index not in busy and not one.taught]


def read_box(value: Any) -> Box | None:
    """Return a box of four integers that is not empty, or None if the value is no such box."""
    if not (isinstance(value, list) and len(value) == 4 and all(type(number) is int for number in value)):
        return None
    left, top, right, bottom = value
    return (
        (left, top, right, bottom) if 0 <= left < right <= LARGEST and 0 <= top < bottom <= LARGEST else None
    )


def _ignored(path: Path, pattern: str, number: int, entry: Any) -> Ignored:
    about: Mapping[str, Any] = entry if isinstance(entry, dict) else {"box": entry}
    box = read_box(about.get("box"))
    reason = about.get("reason", "")
    if box is None or not isinstance(reason, str) or set(about) - {"box", "reason"}:
        raise WhatchangedError(
            f"{path}, {pattern!r}, box {number}: wanted [left, top, right, bottom] in whole pixels with "
            f'left < right and top < bottom, or {{"box": [...], "reason": "..."}}; this is '
            f"{json.dumps(entry)[:80]}."
        )
    return Ignored(pattern, box, reason)
