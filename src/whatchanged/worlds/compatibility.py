"""Support worlds written for versions before 0.3, in which ``World`` itself had all the fields.

Worlds of other packages that use the old fields still work. Code that reads the old names also works. Both
cause a warning.
"""

import functools
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

W = TypeVar("W")

BEFORE: Mapping[str, str] = {
    "datasets": "pictures.datasets",
    "view_and_light_differ": "pictures.view_and_light_differ",
    "limits": "pictures.limits",
    "has_truth": "truth.exists",
    "truths": "truth.read",
    "kind_of": "truth.kind_of",
    "reads": "language.reads",
    "captions": "language.captions",
    "judge": "language.judge",
    "no_change_sentences": "language.no_change_sentences",
    "wordings": "language.wordings",
    "tell": "language.tell",
    "false_captions": "language.false_captions",
    "kinds": "breakdown.kinds",
    "grades": "breakdown.grades",
    "grade_titles": "breakdown.grade_titles",
}
"""A mapping from each old name to its current location."""


def with_names_of_before(world: type[W]) -> type[W]:
    """Return the class ``World`` with support for the old names (``BEFORE``).

    The class then accepts the old names as keywords and as attributes, and issues a warning.
    """
    made = world.__init__

    @functools.wraps(made)
    def init(self: W, *args: Any, **given: Any) -> None:
        before = [name for name in given if name in BEFORE]
        if before:
            _warn(", ".join(before))
            given = _in_records(world, given)
        made(self, *args, **given)

    def answer(self: W, name: str) -> Any:
        if name not in BEFORE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _warn(name)
        record, _, own = BEFORE[name].partition(".")
        return getattr(getattr(self, record), own)

    world.__init__ = init  # type: ignore[assignment]
    world.__getattr__ = answer  # type: ignore[attr-defined]
    return world


def _in_records(world: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords with the old ones moved into the records that contain them now."""
    results = {name: value for name, value in given.items() if name not in BEFORE}
    records: dict[str, dict[str, Any]] = {}
    for name in given.keys() & BEFORE.keys():
        record, _, own = BEFORE[name].partition(".")
        records.setdefault(record, {})[own] = given[name]
    for record, values in records.items():
        there = results.get(record)
        kind = world.__annotations__[record]
        results[record] = kind(**values) if there is None else replace(there, **values)
    return results


def _warn(names: str) -> None:
    today = ", ".join(BEFORE[name] for name in names.split(", "))
    message = f"World: {names} moved; use {today}. The old names will be removed in 0.4."
    warnings.warn(message, DeprecationWarning, stacklevel=3)
