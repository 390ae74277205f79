"""Places in which differences do not count: a file of boxes that a person writes.

    {"*": [[0, 0, 200, 24]],
     "dashboard/*.png": [{"box": [620, 8, 790, 40], "reason": "the clock"}]}

A key is a pattern for the names of pairs (``*`` fits any characters); a value lists boxes: left, top, right,
bottom in pixels, right and bottom exclusive.
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
"""Of one pair; each costs a copy of its pixels."""
LARGEST = 1_000_000


@dataclass(frozen=True)
class Ignored:
    """One box of the file.

    pattern  which pairs it belongs to
    box      left, top, right, bottom
    reason   why differences there do not count; empty where nobody said
    taught   whether two runs of one state taught it: then nobody has to be told where it is idle
    """

    pattern: str
    box: Box
    reason: str = ""
    taught: bool = False

    def __str__(self) -> str:
        """As a message names it."""
        where = f"{self.pattern} {list(self.box)}"
        return f"{where} ({self.reason})" if self.reason else where


def read_ignored(path: Path) -> tuple[Ignored, ...]:
    """The boxes of a file. Raises WhatchangedError that names the place of a mistake."""
    document = read_document(path)
    results = []
    for pattern, boxes in document.items():
        if not isinstance(boxes, list):
            raise WhatchangedError(f"{path}: {pattern!r} should be a list of boxes, not {boxes!r}.")
        results += [_ignored(path, pattern, number, entry) for number, entry in enumerate(boxes, start=1)]
    return tuple(results)


def read_document(path: Path) -> dict[str, Any]:
    """A small JSON file that holds one object. Raises WhatchangedError."""
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
    """(index, box) of every box whose pattern fits the pair. Raises WhatchangedError: too many."""
    results = [(index, one.box) for index, one in enumerate(ignored) if fits(pair_id, one.pattern)]
    if len(results) > MOST_BOXES:
        raise WhatchangedError(
            f"{pair_id}: {len(results):,} ignored boxes; at most {MOST_BOXES:,} are allowed."
        )
    return results


def fits(pair_id: str, pattern: str) -> bool:
    """Whether a pattern fits the name of a pair, in whichever Unicode form both are spelled."""
    return fnmatchcase(pair_id, pattern) or fnmatchcase(composed(pair_id), composed(pattern))


def unused_boxes(ignored: Sequence[Ignored], touched: Iterable[int]) -> list[Ignored]:
    """A person's boxes that touch no difference of any pair; ``touched``: the indices of the others."""
    busy = set(touched)
    return [one for index, one in enumerate(ignored) if index not in busy and not one.taught]


def read_box(value: Any) -> Box | None:
    """Four whole numbers with a size; None where the value is no box."""
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
