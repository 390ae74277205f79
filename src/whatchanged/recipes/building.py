"""From TOML tables to the schema's dataclasses: every value typed, unknown keys answered with the nearest."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from whatchanged import plugins
from whatchanged.errors import RecipeError
from whatchanged.recipes.checks import require
from whatchanged.recipes.methods import METHODS, MethodSettings
from whatchanged.recipes.schema import StageConfig

OTHER_WORDS: Mapping[str, str] = {
    "learning_rate": "lr",
    "rate": "lr",
    "batch_size": "batch",
    "max_steps": "steps",
    "iterations": "steps",
    "clip": "max_grad_norm",
    "grad_clip": "max_grad_norm",
    "gradient_clip": "max_grad_norm",
    "early_stopping": "patience",
    "weight_decays": "weight_decay",
    "survey": "scene_context",
    "vary": "augment",
    "d_model": "width",
    "hidden_size": "width",
    "num_heads": "heads",
}
"""What other programs, and earlier versions, call a setting."""


def build(cls: Any, table: Any, where: str, prefix: str) -> Any:
    """One dataclass from one TOML table, field by field."""
    if not isinstance(table, dict):
        raise RecipeError(f"{where}: {prefix.rstrip('.')}: got {table!r}, wanted a table of settings")
    known: dict[str, Field[Any]] = {entry.name: entry for entry in fields(cls)}
    hints = get_type_hints(cls)
    for key in table:
        if key not in known:
            raise RecipeError(f"{where}: unknown key {prefix}{key}." + nearest(key, known))
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
    if hint is MethodSettings:
        return _method(value, where)
    if origin is UnionType:
        return _tagged(wanted, value, where, key)
    if hint == tuple[StageConfig, ...]:
        return _stages(value, where)
    if origin is tuple and isinstance(value, list):
        return tuple(typed(wanted[0], item, where, key) for item in value)
    if origin is Mapping:
        return _rates(value, where, key) if key.endswith(".rates") else _task_weights(value, where, key)
    if origin is Literal and isinstance(value, str):
        if value in wanted:
            return value
        raise RecipeError(
            f"{where}: {key}: got {value!r}, wanted one of {', '.join(wanted)}." + nearest(value, wanted)
        )
    if hint is float and type(value) in (int, float):
        return float(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise RecipeError(f"{where}: {key}: got {value!r}, wanted {_type_name(hint)}")


def _tagged(kinds: Sequence[Any], value: Any, where: str, key: str) -> Any:
    """The one of several dataclasses that the table's tag names (``vision.kind``, ``data.source``)."""
    tag = fields(kinds[0])[0].name
    by_name = {str(fields(kind)[0].default): kind for kind in kinds}
    named = value.get(tag, next(iter(by_name))) if isinstance(value, dict) else next(iter(by_name))
    if not isinstance(named, str) or named not in by_name:
        raise RecipeError(
            f"{where}: {key}.{tag}: got {named!r}, wanted one of {', '.join(by_name)}."
            + nearest(str(named), by_name)
        )
    chosen = by_name[named]
    others = {entry.name for kind in kinds for entry in fields(kind)} - {
        entry.name for entry in fields(chosen)
    }
    for name in value if isinstance(value, dict) else ():
        if name in others:
            raise RecipeError(
                f'{where}: {key}.{name} has no effect with {key}.{tag} = "{named}".'
                f" Leave it out, or choose among: {', '.join(entry.name for entry in fields(chosen))}."
            )
    return build(chosen, value, where, key + ".")


def _method(value: Any, where: str) -> MethodSettings:
    """The settings of the method that the table names."""
    if not isinstance(value, dict):
        raise RecipeError(f"{where}: method: got {value!r}, wanted a table of settings")
    if "name" not in value:
        raise RecipeError(f"{where}: key method.name is missing. Choose among: {', '.join(method_names())}.")
    built: MethodSettings = build(find_method(value["name"], where), value, where, "method.")
    return built


def find_method(name: Any, where: str = "method") -> type[MethodSettings]:
    """The settings' class of the method of this name; one of another package is imported now.

    Raises RecipeError for an unknown name, PluginError for a package that is broken.
    """
    if not isinstance(name, str) or name not in method_names():
        raise RecipeError(
            f"{where}: method.name: there is no method {name!r}." + nearest(str(name), method_names())
        )
    return plugins.find(plugins.METHODS, name, METHODS, plugins.subclass_of(MethodSettings))


def method_names() -> tuple[str, ...]:
    """The names of the methods that can be trained, those of other packages last."""
    return plugins.names(plugins.METHODS, METHODS)


def _stages(value: Any, where: str) -> tuple[StageConfig, ...]:
    if not isinstance(value, list) or not value:
        raise RecipeError(f"{where}: stages: got {value!r}, wanted at least one [[stages]] table")
    built = []
    for number, table in enumerate(value):
        name = table.get("name", number) if isinstance(table, dict) else number
        built.append(build(StageConfig, table, where, f"stage.{name}."))
    names = [stage.name for stage in built]
    for name in names:
        if names.count(name) > 1:
            raise RecipeError(f"{where}: two stages are called {name!r}. Rename one of them.")
    return tuple(built)


def _task_weights(value: Any, where: str, key: str) -> dict[str, float]:
    """Task -> weight. Which tasks there are is the method's and the vision's to say (``consistency``)."""
    if not isinstance(value, dict) or not value:
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted a table of task = weight")
    weights = {task: typed(float, weight, where, f"{key}.{task}") for task, weight in value.items()}
    if any(not 0 < weight < float("inf") for weight in weights.values()):
        raise RecipeError(
            f"{where}: {key}: got {value!r}, wanted weights above zero. Leave out unused tasks."
        )
    return weights


def _rates(value: Any, where: str, key: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted a table of parameter group = factor")
    rates = {group: typed(float, rate, where, f"{key}.{group}") for group, rate in value.items()}
    for group, rate in rates.items():
        require(where, f"{key}.{group}", rate, 0 <= rate < float("inf"), "0 (left as it is) or more")
    return rates


def _type_name(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(get_args(hint))
    if get_origin(hint) is tuple:
        return "a list of " + _type_name(get_args(hint)[0])
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
    return names.get(hint, str(hint))


def nearest(key: str, known: Collection[str]) -> str:
    """What was probably meant, as the end of a message; all that is known where nothing is near."""
    other = OTHER_WORDS.get(key)
    close = [other] if other in known else difflib.get_close_matches(key, list(known), n=1, cutoff=0.4)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known)}."
