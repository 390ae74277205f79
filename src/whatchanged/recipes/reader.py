"""TOML <-> ``Recipe``: strict both ways, so that a recipe fails on load and never in hour three.

A setting that is unknown, missing or of the wrong type is reported with its file, its key and the nearest
known key. ``stage.<name>.<key>`` (or ``stages.<name>.<key>``) addresses a stage in overrides and messages.
"""

import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from whatchanged.errors import RecipeError
from whatchanged.recipes.checks import check, require
from whatchanged.recipes.schema import METHOD_CONFIGS, MethodConfig, Recipe, StageConfig, Task

TASKS = get_args(Task)


def recipe_names() -> tuple[str, ...]:
    """The recipes inside the package, sorted."""
    files = resources.files("whatchanged.recipes").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


def recipe_text(name_or_path: str | Path) -> str:
    """A recipe's file as it stands, comments included.

    Raises RecipeError if it is neither a file nor the name of a recipe inside the package.
    """
    path = Path(name_or_path)
    if path.suffix == ".toml" and path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RecipeError(f"{path}: cannot read the recipe: {error}") from error
    if str(name_or_path) in recipe_names():
        return (
            resources.files("whatchanged.recipes")
            .joinpath(f"{name_or_path}.toml")
            .read_text(encoding="utf-8")
        )
    raise RecipeError(
        f"{name_or_path}: no such recipe, and no .toml file."
        + _nearest(str(name_or_path), recipe_names())
        + " `whatchanged recipes` lists them."
    )


def load_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe by name or from a file, then apply ``KEY=VALUE`` overrides, typed by the schema.

    Raises RecipeError on anything that the schema does not know or allow.
    """
    return parse_recipe(recipe_text(name_or_path), str(name_or_path), overrides)


def parse_recipe(text: str, where: str, overrides: Sequence[str] = ()) -> Recipe:
    """``text`` (TOML) as a Recipe; ``where`` names it in messages."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{where}: not a TOML file: {error}") from error
    for override in overrides:
        _apply_override(table, override)
    recipe: Recipe = _build(Recipe, table, where, "")
    check(recipe, where)
    return recipe


def dump_recipe(recipe: Recipe) -> str:
    """The recipe as TOML with every setting spelled out; ``parse_recipe`` reads the same recipe back."""
    top, tables = [], []
    for entry in fields(recipe):
        value = getattr(recipe, entry.name)
        if entry.name == "stages":
            tables += ["[[stages]]\n" + _dump_fields(stage) for stage in value]
        elif is_dataclass(value):
            tables.append(f"[{entry.name}]\n" + _dump_fields(value))
        else:
            top.append(f"{entry.name} = {_dump_value(value)}\n")
    return "\n".join(["".join(top), *tables])


def _dump_fields(config: Any) -> str:
    return "".join(f"{entry.name} = {_dump_value(getattr(config, entry.name))}\n" for entry in fields(config))


def _dump_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_dump_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(_dump_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML's basic strings share JSON's escapes, but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _build(cls: Any, table: Any, where: str, prefix: str) -> Any:
    """One dataclass from one TOML table, field by field."""
    if not isinstance(table, dict):
        raise RecipeError(f"{where}: {prefix.rstrip('.')}: got {table!r}, wanted a table of settings")
    known: dict[str, Field[Any]] = {entry.name: entry for entry in fields(cls)}
    hints = get_type_hints(cls)
    for key in table:
        if key not in known:
            raise RecipeError(f"{where}: unknown key {prefix}{key}." + _nearest(key, known))
    values = {}
    for key, entry in known.items():
        if key in table:
            values[key] = _typed(hints[key], table[key], where, prefix + key)
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise RecipeError(f"{where}: key {prefix}{key} is missing. Add it to the recipe.")
    return cls(**values)


def _typed(hint: Any, value: Any, where: str, key: str) -> Any:
    """``value`` if it has the type ``hint``; ints pass as floats and lists as tuples, nothing else."""
    origin, wanted = get_origin(hint), get_args(hint)
    if hint == MethodConfig:
        return _method(value, where)
    if is_dataclass(hint):
        return _build(hint, value, where, key + ".")
    if hint == tuple[StageConfig, ...]:
        return _stages(value, where)
    if origin is tuple and isinstance(value, list):
        return tuple(_typed(wanted[0], item, where, key) for item in value)
    if origin is Mapping or origin is dict:
        return _rates(value, where, key) if key.endswith(".rates") else _task_weights(value, where, key)
    if origin is Literal and isinstance(value, str):
        if value in wanted:
            return value
        raise RecipeError(
            f"{where}: {key}: got {value!r}, wanted one of {', '.join(wanted)}." + _nearest(value, wanted)
        )
    if hint is float and type(value) in (int, float):
        return float(value)
    if isinstance(hint, type) and type(value) is hint:
        return value
    raise RecipeError(f"{where}: {key}: got {value!r}, wanted {_type_name(hint)}")


def _method(value: Any, where: str) -> MethodConfig:
    """The settings of the method that the table names."""
    name = value.get("name", "pcl") if isinstance(value, dict) else "pcl"
    if not isinstance(name, str) or name not in METHOD_CONFIGS:
        raise RecipeError(
            f"{where}: method.name: there is no method {name!r}." + _nearest(str(name), METHOD_CONFIGS)
        )
    built: MethodConfig = _build(METHOD_CONFIGS[name], value, where, "method.")
    return built


def _stages(value: Any, where: str) -> tuple[StageConfig, ...]:
    if not isinstance(value, list) or not value:
        raise RecipeError(f"{where}: stages: got {value!r}, wanted at least one [[stages]] table")
    built = []
    for number, table in enumerate(value):
        name = table.get("name", number) if isinstance(table, dict) else number
        built.append(_build(StageConfig, table, where, f"stage.{name}."))
    names = [stage.name for stage in built]
    for name in names:
        if names.count(name) > 1:
            raise RecipeError(f"{where}: two stages are called {name!r}. Rename one of them.")
    return tuple(built)


def _task_weights(value: Any, where: str, key: str) -> dict[str, float]:
    if not isinstance(value, dict) or not value:
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted a table of task = weight")
    for task in value:
        if task not in TASKS:
            raise RecipeError(f"{where}: {key}: unknown task {task!r}, wanted some of {', '.join(TASKS)}."
                              + _nearest(task, TASKS))  # fmt: skip
    weights = {task: _typed(float, weight, where, f"{key}.{task}") for task, weight in value.items()}
    if any(not 0 < weight < float("inf") for weight in weights.values()):
        raise RecipeError(
            f"{where}: {key}: got {value!r}, wanted weights above zero. Leave out unused tasks."
        )
    return weights


def _rates(value: Any, where: str, key: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise RecipeError(f"{where}: {key}: got {value!r}, wanted a table of parameter group = factor")
    rates = {group: _typed(float, rate, where, f"{key}.{group}") for group, rate in value.items()}
    for group, rate in rates.items():
        require(where, f"{key}.{group}", rate, 0 <= rate < float("inf"), "0 (left as it is) or more")
    return rates


def _apply_override(table: dict[str, Any], override: str) -> None:
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


def _type_name(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(get_args(hint))
    if get_origin(hint) is tuple:
        return "a list of " + _type_name(get_args(hint)[0])
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
    return names.get(hint, str(hint))


def _nearest(key: str, known: Any) -> str:
    close = difflib.get_close_matches(key, list(known), n=1, cutoff=0.4)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known)}."
