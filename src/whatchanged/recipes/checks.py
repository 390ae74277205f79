"""Helpers for the checks of a recipe: each refuses one setting, with its key, its value and what is
wanted."""

from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any

from whatchanged.errors import RecipeError


def require(where: str, key: str, value: Any, right: bool, wanted: str) -> None:
    """Raise RecipeError unless ``right``: the setting, what it is, and what is ``wanted``."""
    if not right:
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted {wanted}")


def require_positive(where: str, prefix: str, settings: Any, *keys: str) -> None:
    """Each of these settings is a finite number above 0."""
    for key in keys:
        value = getattr(settings, key)
        require(where, prefix + key, value, 0 < value < float("inf"), "above 0")


def require_not_negative(where: str, prefix: str, settings: Any, *keys: str) -> None:
    """Each of these settings is a finite number of 0 or more."""
    for key in keys:
        value = getattr(settings, key)
        require(where, prefix + key, value, 0 <= value < float("inf"), "0 or more")


def require_used(where: str, prefix: str, settings: Any, key: str, used: bool, by: str) -> None:
    """A setting that nothing uses keeps its default. by: what would use it."""
    value, default = getattr(settings, key), _default(settings, key)
    idle = used or value == default
    require(where, prefix + key, value, idle, f"{default!r}, its default: it has no effect without {by}")


def check_width(where: str, key: str, width: int, heads_key: str, heads: int) -> None:
    """A width of attention is shared out evenly among its heads."""
    require(where, key, width, width > 0, "above 0")
    require(where, heads_key, heads, heads > 0, "above 0")
    require(where, key, width, width % heads == 0, f"a multiple of {heads_key}")


def check_multiples(where: str, prefix: str, settings: Any, keys: Iterable[str], of: int, name: str) -> None:
    """Each of these sizes is a multiple of ``of``, which ``name`` explains."""
    for key in keys:
        value = getattr(settings, key)
        require(where, prefix + key, value, value > 0 and value % of == 0, f"a multiple of {name}")


def _default(settings: Any, key: str) -> Any:
    entry = next(entry for entry in fields(settings) if entry.name == key)
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return entry.default
