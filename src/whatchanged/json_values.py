"""Read untrusted JSON. Every fault in the text raises a ValueError."""

import json
import math
from collections.abc import Callable
from typing import Any

MOST_DIGITS = 300
"""The largest number of digits of a whole number. The largest float is 1.8e308."""


def read_json(
    text: str | bytes,
    finite: bool = False,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Return the value of a JSON text in UTF-8.

    finite: whether to refuse NaN, Infinity and numbers that are too large for a float. object_pairs_hook: as
    in ``json.loads``.
    Raises ValueError for invalid text, for text that is nested more deeply than Python can read, and for a
    whole number that is too large for a float.
    """
    number, constant = (_finite, _refuse) if finite else (None, None)
    try:
        return json.loads(
            text,
            parse_int=_whole,
            parse_float=number,
            parse_constant=constant,
            object_pairs_hook=object_pairs_hook,
        )
    except RecursionError as error:
        raise ValueError("too many lists or objects within each other") from error


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(text):,} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
