"""``--set KEY=VALUE``: settings of a recipe changed in its raw tables, before anything is typed."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from whatchanged.errors import RecipeError
from whatchanged.recipes.building import find_method
from whatchanged.recipes.schema import DataConfig, VisionConfig

TAGS = {"method": "name", "vision": "kind", "data": "source"}
"""The key of each table that says which settings it has."""


def apply_overrides(table: dict[str, Any], overrides: Sequence[str]) -> None:
    """Apply each ``a.b=value``, those that choose a table's kind first.

    Another kind than the recipe's own leaves out what the recipe says for its kind alone.
    """
    tags = {f"{name}.{tag}" for name, tag in TAGS.items()}
    chosen = [override for override in overrides if override.partition("=")[0].strip() in tags]
    for override in chosen:
        _apply(table, override)
        _leave_out_other_kinds(table, override.partition(".")[0].strip())
    for override in overrides:
        if override not in chosen:
            _apply(table, override)


def _leave_out_other_kinds(table: dict[str, Any], name: str) -> None:
    """Keep the keys that the chosen kind knows; an unknown kind keeps all, and is reported with the rest."""
    given = table[name]
    known = _keys_of(name, given[TAGS[name]])
    if known:
        table[name] = {key: value for key, value in given.items() if key in known}


def _keys_of(name: str, tag: Any) -> frozenset[str]:
    if name == "method":
        try:
            return frozenset(entry.name for entry in fields(find_method(tag, "")))
        except RecipeError:
            return frozenset()
    kinds: Mapping[Any, Any] = {
        fields(kind)[0].default: kind for kind in get_args(VisionConfig if name == "vision" else DataConfig)
    }
    return frozenset(entry.name for entry in fields(kinds[tag])) if tag in kinds else frozenset()


def _apply(table: dict[str, Any], override: str) -> None:
    """Set one ``a.b=value`` in the raw table; the types are checked later, with all the rest."""
    key, equals, text = override.partition("=")
    where = f"--set {override}"
    if not equals or not key.strip():
        raise RecipeError(f"{where}: wanted KEY=VALUE, for example stage.caption.lr=1e-4")
    path = key.strip().split(".")
    target: Any = table
    if path[0] in ("stage", "stages"):
        given = table.get("stages", [])
        if not isinstance(given, list):
            return  # no list of stages: reported with all the rest
        stages = [s for s in given if isinstance(s, dict)]
        names = [str(stage.get("name")) for stage in stages]
        if len(path) < 3 or path[1] not in names:
            raise RecipeError(f"{where}: wanted stage.<name>.<key> with one of the stages {', '.join(names)}")
        target, path = stages[names.index(path[1])], path[2:]
    for part in path[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise RecipeError(f"{where}: {part} holds a value, not a table of settings")
    target[path[-1]] = _override_value(text.strip())


def _override_value(text: str) -> Any:
    """The value as TOML reads it; a bare word is a string, so that ``schedule=cosine`` needs no quotes."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text
