"""``--set KEY=VALUE``: changes settings of a recipe in its raw tables, before types are checked."""

from collections.abc import Sequence
from typing import Any

from whatchanged.errors import RecipeError
from whatchanged.recipes import tables
from whatchanged.recipes.hints import nearest
from whatchanged.recipes.tables import TABLES
from whatchanged.recipes.values import read_toml


def apply_overrides(table: dict[str, Any], overrides: Sequence[str]) -> None:
    """Apply each override ``a.b=value``. Overrides that choose a table's kind are applied first.

    If an override chooses another kind, the keys that only the recipe's original kind has are dropped.
    """
    tags = {f"{table.key}.{table.tag}": table.key for table in TABLES.values()}
    chosen = [override for override in overrides if _key(override) in tags]
    for override in chosen:
        name = tags[_key(override)]
        given = table.get(name)
        before = keys_of(name, given) if isinstance(given, dict) else frozenset()
        _apply(table, override)
        after = keys_of(name, table[name])
        if after:  # an unknown kind is reported with all the rest
            for key in before - after:
                table[name].pop(key, None)
    for override in overrides:
        if override not in chosen:
            _apply(table, override)


def keys_of(name: str, given: dict[str, Any]) -> frozenset[str]:
    """Return the keys that the table ``name`` may have, which depend on its kind. Returns no keys for an
    unknown kind.
    """
    table = TABLES[name]
    kind = table.named(given)
    if not isinstance(kind, str) or kind not in table.names():
        return frozenset()
    return frozenset(tables.keys_of(table.find(kind)))


def _key(override: str) -> str:
    return override.partition("=")[0].strip()


def _apply(table: dict[str, Any], override: str) -> None:
    """Apply one override ``a.b=value`` to the raw table. Types are checked later, together with all other
    keys.
    """
    key, equals, text = override.partition("=")
    where = f"--set {override}"
    if not equals or not key.strip():
        raise RecipeError(f"{where}: wanted KEY=VALUE, for example stage.caption.lr=1e-4.")
    path = key.strip().split(".")
    target: Any = table
    if path[0] in ("stage", "stages"):
        given = table.get("stages", [])
        if not isinstance(given, list):
            return  # no list of stages: reported with all the rest
        stages = [stage for stage in given if isinstance(stage, dict)]
        names = [str(stage.get("name")) for stage in stages]
        if len(path) < 3 or path[1] not in names:
            hint = nearest(path[1], names) if len(path) > 2 else ""
            known = ", ".join(names)
            raise RecipeError(f"{where}: wanted stage.NAME.KEY with one of the stages {known}.{hint}")
        target, path = stages[names.index(path[1])], path[2:]
    for part in path[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise RecipeError(f"{where}: {part} holds a value, not a table of settings.")
    target[path[-1]] = _override_value(text.strip())


def _override_value(text: str) -> Any:
    """Return the value that TOML reads from ``text``. A bare word is a string, so ``schedule=cosine`` needs
    no quotes.
    """
    try:
        parsed = read_toml(f"value = {text}")
    except ValueError:
        return text
    return parsed["value"] if len(parsed) == 1 else text
