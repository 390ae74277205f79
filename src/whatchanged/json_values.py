"""JSON that strangers wrote: whatever is wrong with it is a ValueError."""

import json
import math
from collections.abc import Callable
from typing import Any


def read_json(
    text: str | bytes,
    finite: bool = False,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """The value of a JSON text in UTF-8. Raises ValueError, also where it is nested beyond what Python reads.

    finite: NaN, Infinity and numbers that are too large for a float are refused. object_pairs_hook: as in
    ``json.loads``.
    """
    number, constant = (_finite, _refuse) if finite else (None, None)
    try:
        return json.loads(
            text, parse_float=number, parse_constant=constant, object_pairs_hook=object_pairs_hook
        )
    except RecursionError as error:
        raise ValueError("too many lists or objects within each other") from error


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
