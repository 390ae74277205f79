"""Helpers for the checks of a recipe. Each helper refuses settings that do not fit, and its message says
which settings would fit.

where: the recipe's name or file. prefix: the part before a key, such as ``method.`` or ``stage.caption.``.
"""

from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any

from whatchanged.errors import RecipeError
from whatchanged.recipes.values import toml_value

MOST = 10**12
"""The largest number that a setting may have."""
WIDEST = 65_536
"""The largest width of a model. No model that was ever trained is wider."""
DEEPEST = 1_000
"""The most layers or blocks of one part of a model."""
LONGEST = 100_000
"""The most tokens of a caption. Each token needs a row in a table of positions."""


def require(where: str, key: str, value: Any, right: bool, wanted: str) -> None:
    """Raise RecipeError unless ``right`` is true. The message gives the setting, its value, and the
    ``wanted`` value.
    """
    if not right:
        raise RecipeError(f"{where}: {key}: got {toml_value(value)}, wanted {wanted}.")


def require_positive(where: str, prefix: str, settings: Any, *keys: str) -> None:
    """Checks that the setting of each key is above 0, and not so large that a computation overflows."""
    for key in keys:
        value, most = getattr(settings, key), _most(key)
        require(where, prefix + key, value, 0 < value <= most, f"a number above 0, at most {most:,}")


def require_not_negative(where: str, prefix: str, settings: Any, *keys: str) -> None:
    """Checks that the setting of each key is a finite number of at least 0."""
    for key in keys:
        value, most = getattr(settings, key), _most(key)
        require(where, prefix + key, value, 0 <= value <= most, f"0 or more, at most {most:,}")


def _most(key: str) -> int:
    """Return the largest value that this setting may have."""
    return DEEPEST if key.endswith(("layers", "blocks")) else MOST


def require_length(where: str, key: str, length: int) -> None:
    """Checks a caption's largest number of tokens: a caption must have room for the special tokens and at
    least one word.
    """
    require(where, key, length, 4 <= length <= LONGEST, f"4 to {LONGEST:,}")


def require_used(where: str, prefix: str, settings: Any, used: bool, by: str, *keys: str) -> None:
    """Checks that unused settings have their defaults. by: the part of a recipe that would use the settings.

    One message lists all unused settings without their default, so that a single correction suffices.
    """
    if used:
        return
    defaults = {key: _default(settings, key) for key in keys}
    unused = {key: value for key, value in defaults.items() if getattr(settings, key) != value}
    if not unused:
        return
    named = ", ".join(f"{prefix}{key} = {toml_value(getattr(settings, key))}" for key in unused)
    cure = " ".join(f"--set {prefix}{key}={_on_command_line(value)}" for key, value in unused.items())
    if len(unused) == 1:
        raise RecipeError(
            f"{where}: {named} has no effect without {by}. Leave it out, or set the default: {cure}"
        )
    raise RecipeError(
        f"{where}: {named} have no effect without {by}. Leave them out, or set the defaults: {cure}"
    )


def check_width(where: str, key: str, width: int, heads_key: str, heads: int) -> None:
    """Checks that the heads of an attention can share its width evenly."""
    require(where, key, width, 0 < width <= WIDEST, f"a number above 0, at most {WIDEST:,}")
    require(where, heads_key, heads, heads > 0, "a number above 0")
    require(where, key, width, width % heads == 0, f"a multiple of {heads_key} ({heads})")


def check_dropout(where: str, settings: Any, used: bool, by: str) -> None:
    """Checks that a method's dropout is a probability. used: whether a stage uses dropout. by: the tasks that
    would use dropout.
    """
    require(
        where, "method.dropout", settings.dropout, 0 <= settings.dropout < 1, "a number from 0 to below 1"
    )
    require_used(where, "method.", settings, used, by, "dropout")


def check_multiples(where: str, prefix: str, settings: Any, keys: Iterable[str], of: int, name: str) -> None:
    """Checks that the size under each key is a multiple of ``of``. ``name`` describes ``of`` in the
    message.
    """
    for key in keys:
        value = getattr(settings, key)
        require(where, prefix + key, value, value > 0 and value % of == 0, f"a multiple of {name}")


def _default(settings: Any, key: str) -> Any:
    entry = next(entry for entry in fields(settings) if entry.name == key)
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return entry.default


def _on_command_line(value: Any) -> str:
    """Return a value in the form that ``--set`` accepts, without quotes around plain words."""
    return value if isinstance(value, str) and value else toml_value(value)
