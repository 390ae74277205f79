"""From TOML tables to the schema's dataclasses: every value typed, unknown keys answered with the nearest."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from whatchanged import plugins
from whatchanged.errors import RecipeError
from whatchanged.recipes.hints import MOVED, nearest
from whatchanged.recipes.methods import METHODS, LearnerSettings
from whatchanged.recipes.schema import StageConfig
from whatchanged.recipes.values import toml_value

LARGEST = 2**63
"""Whole numbers reach up to here: seeds, too, go into 64 bits with a sign."""


def build(cls: Any, table: Any, where: str, prefix: str) -> Any:
    """One dataclass from one TOML table, field by field."""
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
    """``value`` if it has the type ``hint``; ints pass as floats and lists as tuples, nothing else."""
    origin, wanted = get_origin(hint), get_args(hint)
    if hint is LearnerSettings:
        return _method(value, where)
    if origin is UnionType:
        return _one_of_kinds(wanted, value, where, key)
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


def _one_of_kinds(kinds: Sequence[Any], value: Any, where: str, key: str) -> Any:
    """The one of several dataclasses that the table's tag names (``vision.kind``, ``data.source``).

    The tag is the first field of each; a table without one is of the first kind.
    """
    if not isinstance(value, dict):
        raise _wrong(where, key, value, "a table of settings")
    tag = fields(kinds[0])[0].name
    by_name: dict[Any, Any] = {fields(kind)[0].default: kind for kind in kinds}
    named = value.get(tag, next(iter(by_name)))
    if not isinstance(named, str) or named not in by_name:
        wanted = f"one of {', '.join(by_name)}"
        raise _wrong(where, f"{key}.{tag}", named, wanted, nearest(str(named), by_name))
    chosen = by_name[named]
    known = [entry.name for entry in fields(chosen)]
    for name in value:
        others = [other for other, kind in by_name.items() if name in {entry.name for entry in fields(kind)}]
        if others and name not in known:
            owners = ", ".join(map(toml_value, others))
            raise RecipeError(
                f"{where}: {key}.{name} has no effect with {key}.{tag} = {toml_value(named)}: it is a setting"
                f" of {owners}. Leave it out, or choose among: {', '.join(known)}."
            )
    return build(chosen, value, where, key + ".")


def _method(value: Any, where: str) -> LearnerSettings:
    """The settings of the method that the table names."""
    if not isinstance(value, dict):
        raise _wrong(where, "method", value, "a table of settings")
    if "name" not in value:
        raise RecipeError(f"{where}: key method.name is missing. Choose among: {', '.join(method_names())}.")
    built: LearnerSettings = build(find_method(value["name"], where), value, where, "method.")
    return built


def find_method(name: Any, where: str = "method") -> type[LearnerSettings]:
    """The settings' class of the method of this name; one of another package is imported now.

    Raises RecipeError for an unknown name, PluginError for a package that is broken.
    """
    if not isinstance(name, str) or name not in method_names():
        hint = nearest(str(name), method_names())
        raise RecipeError(f"{where}: method.name: there is no method {toml_value(name)}." + hint)
    check = plugins.subclass_of(LearnerSettings)  # type: ignore[type-abstract]  # which builds none of it
    return plugins.find(plugins.METHODS, name, METHODS, check)


def method_names() -> tuple[str, ...]:
    """The names of the methods that can be trained, those of other packages last."""
    return plugins.names(plugins.METHODS, METHODS)


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
