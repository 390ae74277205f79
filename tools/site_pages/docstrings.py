"""How docstrings, which are plain English, become Markdown: examples and aligned lists keep their lines."""

import re
import textwrap
from typing import Any

import griffe

LISTED = re.compile(r"^(\S(?:.*?\S)?)\s{2,}(\S.*)$")
"""A line of an aligned list: what it is about, two blanks or more, what is said of it."""
LISTED_ROW = re.compile(r"^\| `(\w+)` \|", re.M)
"""The same, as a row of the table that it becomes."""


class PlainDocstrings(griffe.Extension):
    """Rewrites every docstring that mkdocstrings shows."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for every object that it has read."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Leave out attributes that the class's own docstring lists and that have none themselves."""
        listed = LISTED_ROW.findall(cls.docstring.value) if cls.docstring is not None else []
        for name in listed:
            member = cls.members.get(name)
            if member is not None and member.is_attribute and member.docstring is None:
                cls.del_member(name)


def as_markdown(text: str) -> str:
    """The docstring with examples as blocks of code, aligned lists as tables, names in single backticks."""
    paragraphs = re.split(r"\n\s*\n", text.replace("``", "`"))
    return "\n\n".join(map(_paragraph, paragraphs))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if lines[0].startswith("    >>>"):
        lines = textwrap.dedent(text).splitlines()
    elif lines[0].startswith("    "):
        return text  # code already
    first = next((number for number, line in enumerate(lines) if line.startswith(">>>")), None)
    if first is not None:
        before = "\n".join(lines[:first])
        code = "\n".join(["```pycon", *lines[first:], "```"])
        return f"{before}\n\n{code}" if before else code
    rows = _rows(lines)
    return _table(rows) if rows else text


def _rows(lines: list[str]) -> list[tuple[str, str]]:
    """The entries of an aligned list; none where the paragraph is anything else."""
    rows: list[tuple[str, str]] = []
    for line in lines:
        found = LISTED.match(line)
        if found is not None:
            rows.append((found[1], found[2]))
        elif rows and line.startswith("   "):
            rows[-1] = rows[-1][0], f"{rows[-1][1]} {line.strip()}"
        else:
            return []
    return rows


def _table(rows: list[tuple[str, str]]) -> str:
    cells = [(name.replace("|", "\\|"), said.replace("|", "\\|")) for name, said in rows]
    return "\n".join(["| | |", "|---|---|", *(f"| `{name}` | {said} |" for name, said in cells)])
