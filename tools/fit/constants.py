"""Writes fitted values into the file of constants that the package reads, and changes nothing else there."""

import ast
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "whatchanged"
MEASURED = SOURCE / "measured" / "fitted.py"


def write_constants(values: Mapping[str, object], path: Path = MEASURED) -> None:
    """Put these values where their names are assigned. Raises KeyError where a name is not."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    assigned = {
        node.targets[0].id: node
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for name in sorted(values, key=lambda name: -assigned[name].lineno):  # the last first: lines stay put
        node = assigned[name]
        lines[node.lineno - 1 : node.end_lineno] = [f"{name} = {_literal(values[name])}\n"]
    path.write_text("".join(lines), encoding="utf-8")


def _literal(value: object) -> str:
    """A value as it stands in the file: of a table, an entry a line."""
    if isinstance(value, dict):
        return "{\n" + "".join(f'    "{key}": {one!r},\n' for key, one in value.items()) + "}"
    if isinstance(value, tuple) and any(isinstance(one, tuple) for one in value):
        return "(\n" + "".join(f"    {_entry(one)},\n" for one in value) + ")"
    return repr(value)


def _entry(value: object) -> str:
    return repr(value).replace("'", '"')
