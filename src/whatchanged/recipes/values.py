"""Reads TOML, and writes single values as TOML for recipe files and messages."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

DEEPEST = 50
"""The most parts of a dotted key; a recipe's keys have two. Reading time grows with the square of the
number.
"""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST},}}+")


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises ValueError where the text is not TOML, or its tables nest too
    deeply.
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a key of more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("values without end within each other") from error


def toml_value(value: Any) -> str:
    """A setting's value as TOML writes it; a value that TOML lacks, as Python writes it."""
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
    """A key of an inline table, quoted where TOML requires quotes."""
    bare = key and all(letter in "_-" or (letter.isascii() and letter.isalnum()) for letter in key)
    return key if bare else toml_value(key)
