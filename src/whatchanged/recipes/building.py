"""Builds the schema's dataclasses from TOML tables, checks every type, and suggests the nearest known key."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from whatchanged.errors import RecipeError
from whatchanged.recipes.hints import MOVED, nearest
from whatchanged.recipes.schema import StageConfig
from whatchanged.recipes.tables import METHOD, TABLES, TaggedTable, find_method, keys_of, method_names
from whatchanged.recipes.values import toml_value

LARGEST = 2**63
"""The largest whole number plus one. Seeds, like all whole numbers, are stored in 64 bits with a sign."""


def build(cls: Any, table: Any, where: str, prefix: str) -> Any:
    """Build one dataclass from one TOML table, field by field."""
    if not isinstance(table, dict):
        raise _wrong(where, prefix.rstrip("."), table, "a table of settings")
    known: dict[str, Field[Any]] = {entry.name: entry for entry in fields(cls)}
    hints = get_type_hints(cls)
    for key in table:
        if key not in known:
            hint = MOVED.get(prefix + key)
            raise RecipeError(
                f"{where}: unknown key {prefix}{key}." + (f" {hint}" if hint else nearest(key, known))
            )
    values = {}
    for key, entry in known.items():
        if key in table:
            values[key] = typed(hints[key], table[key], where, prefix + key)
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise RecipeError(f"{where}: key {prefix}{key} is missing. Add it to the recipe.")
    return cls(**values)


def typed(hint: Any, value: Any, where: str, key: str) -> Any:
    """Return ``value`` if it has the type ``hint``. An int is accepted as a float, and a list as a tuple. All
    other types are refused.
    """
    origin, wanted = get_origin(hint), get_args(hint)
    if key in TABLES and hint is TABLES[key].base:
        return _one_of_kinds(TABLES[key], value, where)
    if hint == tuple[StageConfig, ...]:
        return _stages(value, where)
    if origin is tuple and isinstance(value, list):
        return tuple(typed(wanted[0], item, where, key) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {name: typed(wanted[1], item, where, f"{key}.{name}") for name, item in value.items()}
    if origin is Literal and isinstance(value, str):
        if value in wanted:
            return value
        raise _wrong(where, key, value, _type_name(hint), nearest(value, wanted))
    if type(value) is int and not abs(value) < LARGEST:
        raise RecipeError(f"{where}: {key}: got a number that is too large, wanted one below {LARGEST:,}.")
    if hint is float and type(value) in (int, float):
        return float(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise _wrong(where, key, value, _type_name(hint))


def _one_of_kinds(table: TaggedTable, value: Any, where: str) -> Any:
    """Return the settings of the kind that the table's tag specifies. The tag is ``method.name``,
    ``vision.kind``...
    """
    if not isinstance(value, dict):
        raise _wrong(where, table.key, value, "a table of settings")
    name = table.named(value)
    if table is METHOD:
        if "name" not in value:
            known = ", ".join(method_names())
            raise RecipeError(f"{where}: key method.name is missing. Choose among: {known}.")
        return build(find_method(name, where), value, where, "method.")
    if not isinstance(name, str) or name not in table.names():
        wanted = f"one of {', '.join(table.names())}"
        raise _wrong(where, f"{table.key}.{table.tag}", name, wanted, nearest(str(name), table.names()))
    chosen = table.find(name)
    known_keys = keys_of(chosen)
    for key in value:
        others = () if key in known_keys else table.kinds_with(key)
        if others:
            owners = ", ".join(map(toml_value, others))
            raise RecipeError(
                f"{where}: {table.key}.{key} has no effect with {table.key}.{table.tag} = {toml_value(name)}:"
                f" it is a setting of {owners}. Leave it out, or choose among: {', '.join(known_keys)}."
            )
    return build(chosen, value, where, f"{table.key}.")


def _stages(value: Any, where: str) -> tuple[StageConfig, ...]:
    if not isinstance(value, list) or not value:
        raise _wrong(where, "stages", value, "at least one [[stages]] table")
    built = []
    for number, table in enumerate(value):
        name = table.get("name", number) if isinstance(table, dict) else number
        built.append(build(StageConfig, table, where, f"stage.{name}."))
    names = [stage.name for stage in built]
    for name in names:
        if names.count(name) > 1:
            raise RecipeError(f"{where}: two stages are called {toml_value(name)}. Rename one of them.")
    return tuple(built)


def _wrong(where: str, key: str, value: Any, wanted: str, hint: str = "") -> RecipeError:
    return RecipeError(f"{where}: {key}: got {toml_value(value)}, wanted {wanted}.{hint}")


def _type_name(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if get_origin(hint) is tuple:
        return "a list, each entry " + _type_name(get_args(hint)[0])
    if get_origin(hint) is Mapping:
        return "a table, each entry " + _type_name(get_args(hint)[1])
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
    return names.get(hint, str(hint))
