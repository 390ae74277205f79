"""Reads TOML, and writes values and recipes as TOML for files and messages."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DEEPEST = 50
"""The most parts of a dotted key. The keys of recipes have two parts. The reading time grows with the square
of the number of parts.
"""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST},}}+")


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises ValueError where the text is not TOML, or where its tables
    nest too deeply.
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a key of more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("values without end within each other") from error


def dump_recipe(recipe: "DataclassInstance") -> str:
    """Return a ``Recipe`` as TOML with every setting spelled out. ``parse_recipe`` reads an equal recipe from
    this text.
    """
    top, tables = [], []
    for entry in fields(recipe):
        value = getattr(recipe, entry.name)
        if entry.name == "stages":
            tables += ["[[stages]]\n" + _dump_fields(stage) for stage in value]
        elif is_dataclass(value):
            tables.append(f"[{entry.name}]\n" + _dump_fields(value))
        else:
            top.append(f"{entry.name} = {toml_value(value)}\n")
    return "\n".join(["".join(top), *tables])


def _dump_fields(config: Any) -> str:
    return "".join(f"{entry.name} = {toml_value(getattr(config, entry.name))}\n" for entry in fields(config))


def toml_value(value: Any) -> str:
    """Return a setting's value in TOML's notation. A value that TOML cannot express is returned in Python's
    notation.
    """
    if isinstance(value, Mapping):
        entries = ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML's basic strings share JSON's escapes, except for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(key: str) -> str:
    """Return a key of an inline table, quoted where TOML requires quotes."""
    bare = key and all(letter in "_-" or (letter.isascii() and letter.isalnum()) for letter in key)
    return key if bare else toml_value(key)
