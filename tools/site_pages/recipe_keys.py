"""The page of recipe keys: names, types and defaults from the dataclasses, meanings from their docstrings."""

import dataclasses
import typing
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import griffe

from whatchanged.recipes import schema
from whatchanged.recipes.methods import METHODS, MethodSettings
from whatchanged.recipes.tables import DATA, VISION

HEAD = """# Recipes, key by key

A recipe is a TOML file. See [training](../training.md#recipes) for an example, and for how to set a key for a
single run. `whatchanged recipes NAME --resolved` prints every key of a recipe with its value. `train` refuses
a key that does not exist or would have no effect.

"""
TABLES = ("stages", "method", "vision", "data")
"""What the recipe itself holds as tables of their own."""
Warn = Callable[[str], None]


def recipes_page(warn: Warn) -> str:
    """Every key of every table. ``warn`` is told of a key that nothing explains."""
    parts = [HEAD]
    parts += _section(
        "The recipe itself", schema.Recipe, warn, leave_out=("stages", "method", "vision", "data")
    )
    parts += ["## `[method]`\n\n`method.name` says which other keys there are.\n"]
    parts += _section("Every method that writes captions", MethodSettings, warn, level=3)
    shared = [field.name for field in dataclasses.fields(MethodSettings)]
    for name, place in METHODS.items():
        found = _class(place)
        parts += _section(f'`name = "{name}"`', found, warn, level=3, leave_out=(*shared[:1],))
    parts += ["## `[vision]`\n\n`vision.kind` says which other keys there are.\n"]
    for kind in VISION.kinds():
        parts += _section(f'`kind = "{_default(kind, "kind")}"`', kind, warn, level=3, leave_out=("kind",))
    parts += ["## `[data]`\n\n`data.source` says which other keys there are.\n"]
    for source in DATA.kinds():
        title = f'`source = "{_default(source, "source")}"`'
        parts += _section(title, source, warn, level=3, leave_out=("source",))
    parts += _section("`[[stages]]`", schema.StageConfig, warn)
    return "\n".join(parts)


def _class(place: str) -> type[Any]:
    module, _, name = place.partition(":")
    found: type[Any] = getattr(import_module(module), name)
    return found


def _default(settings: type[Any], key: str) -> Any:
    return {field.name: field.default for field in dataclasses.fields(settings)}[key]


def _section(
    title: str, settings: type[Any], warn: Warn, level: int = 2, leave_out: tuple[str, ...] = ()
) -> list[str]:
    """A heading, what the class says of itself, and a row for each key."""
    meanings = _meanings(settings)
    types = typing.get_type_hints(settings)
    rows = []
    for field in dataclasses.fields(settings):
        if field.name in leave_out:
            continue
        if not meanings.get(field.name):
            warn(f"recipe key without a docstring: {settings.__name__}.{field.name}")
        kind, default = type_name(types[field.name]), _value(field)
        rows.append(f"| `{field.name}` | {kind} | {default} | {meanings.get(field.name, '')} |")
    table = ["| key | value | default | |", "|---|---|---|---|", *rows, ""]
    return [f"{'#' * level} {title}\n", f"{_own_text(settings)}\n", *(table if rows else [])]


def _own_text(settings: type[Any]) -> str:
    """The first sentence of the class's docstring."""
    first = " ".join((settings.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")
    return first.partition(". ")[0].rstrip(".") + "."


def _meanings(settings: type[Any]) -> dict[str, str]:
    """Key -> its docstring on one line, where the class or one that it derives from has one."""
    results: dict[str, str] = {}
    for base in reversed(settings.__mro__):
        if base.__module__.startswith("whatchanged."):
            results.update(_docstrings(base))
    return results


def _docstrings(base: type[Any]) -> Iterator[tuple[str, str]]:
    for name, member in _module(base.__module__)[base.__name__].members.items():
        if member.docstring is not None:
            text = " ".join(member.docstring.value.split())
            yield name, text.replace("``", "`").replace("|", "\\|")


@cache
def _module(name: str) -> griffe.Object | griffe.Alias:
    """The module as its source says, docstrings of attributes among it."""
    return griffe.load(name)


def type_name(kind: Any) -> str:
    """A type as a writer of TOML thinks of it: ``float`` is a number, a ``Literal`` one of its texts."""
    simple = {int: "whole number", float: "number", bool: "true or false", str: "text"}
    if kind in simple:
        return simple[kind]
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(f'`"{argument}"`' for argument in arguments)
    if typing.get_origin(kind) is tuple:
        return f"list: {type_name(arguments[0])}"
    return f"table: name = {type_name(arguments[1])}"


def _value(field: "dataclasses.Field[Any]") -> str:
    """The default as TOML writes it; "required" where there is none."""
    if field.default_factory is not dataclasses.MISSING:
        return "`{}`"
    if field.default is dataclasses.MISSING:
        return "required"
    return f"`{toml(field.default)}`"


def toml(value: Any) -> str:
    """A default as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
