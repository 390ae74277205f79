"""Turns docstrings, which are plain English, into Markdown. Examples and aligned lists keep their lines.

A table holds the description, type and default of each parameter or field.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import griffe

LISTED = re.compile(r"^(\S(?:.*?\S)?)\s{2,}(\S.*)$")
"""A line of an aligned list: what it is about, two blanks or more, what is said of it."""
LISTED_ROW = re.compile(r"^\| `(\w+)` \|", re.M)
"""The same, as a row of the table that it becomes."""


AFTERWARDS = re.compile(r"(?<=[.)] )(?:Raises|Returns|Source) ")
"""Where a paragraph that describes parameters goes on with something else."""


@dataclass(frozen=True)
class Described:
    """A parameter or a field. annotation, default: as they stand in the source; "" for none."""

    name: str
    annotation: str
    default: str


class PlainDocstrings(griffe.Extension):
    """Rewrites every docstring that mkdocstrings shows."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for every object that it has read."""
        if obj.docstring is None:
            return
        text = obj.docstring.value
        if isinstance(obj, griffe.Function):
            text = with_table(text, "parameter", _parameters(obj))
        obj.docstring.value = as_markdown(text)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Show fields that the class's docstring describes in its table; those without a docstring of their
        own nowhere else."""
        if cls.docstring is not None:
            cls.docstring.value = with_table(cls.docstring.value, "field", _fields(cls))
        listed = LISTED_ROW.findall(cls.docstring.value) if cls.docstring is not None else []
        for name in listed:
            member = cls.members.get(name)
            if member is not None and member.is_attribute and member.docstring is None:
                cls.del_member(name)


def _parameters(function: griffe.Function) -> list[Described]:
    """Those that a caller gives."""
    return [
        Described(one.name, str(one.annotation or ""), str(one.default or ""))
        for one in function.parameters
        if one.name not in ("self", "cls")
    ]


def _fields(cls: griffe.Class) -> list[Described]:
    """Annotated attributes without a docstring of their own."""
    return [
        Described(name, str(member.annotation), str(member.value or ""))
        for name, member in cls.members.items()
        if isinstance(member, griffe.Attribute) and member.annotation and member.docstring is None
    ]


def with_table(text: str, heading: str, known: Sequence[Described]) -> str:
    """The docstring with its sentences "name: what it is." of known names as one table of all of these.

    Stays as it is where no name is described so. Aligned lists of known names join the table.
    """
    names = "|".join(re.escape(one.name) for one in known)
    start = re.compile(rf"(?:^|(?<=[.;)] ))((?:{names})(?:(?:, | and )(?:{names}))*): ")
    said: dict[str, str] = {}
    results: list[str] = []
    where = None
    for paragraph in re.split(r"\n\s*\n", text) if names else []:
        before, entries, after = _entries(paragraph, start, {one.name for one in known})
        said |= entries
        results += [before] if before else []
        if entries and where is None:
            where = len(results)
        results += [after] if after else []
    if where is None:
        return text
    return "\n\n".join([*results[:where], _described(heading, known, said), *results[where:]])


def _entries(paragraph: str, start: re.Pattern[str], known: set[str]) -> tuple[str, Mapping[str, str], str]:
    """What stands before the first description, the descriptions by name, and what follows the last."""
    lines = paragraph.splitlines()
    if lines and (lines[0].startswith(("    ", "|", ">>>")) or "\n>>>" in paragraph):
        return paragraph, {}, ""
    rows = _rows(lines)
    if rows and known.issuperset(name for name, _ in rows):
        return "", dict(rows), ""
    joined = " ".join(line.strip() for line in lines)
    found = list(start.finditer(joined))
    if not found:
        return paragraph, {}, ""
    entries: dict[str, str] = {}
    after = ""
    ends = [*(match.start() for match in found[1:]), len(joined)]
    for match, end in zip(found, ends, strict=True):
        said = joined[match.end() : end].strip()
        if end == len(joined) and (more := AFTERWARDS.search(said)):
            said, after = said[: more.start()].strip(), said[more.start() :]
        entries |= dict.fromkeys(re.split(r", | and ", match[1]), said)
    return joined[: found[0].start()].strip(), entries, after


def _described(heading: str, known: Sequence[Described], said: Mapping[str, str]) -> str:
    """The table: each name in the order of the source, its type, its default, what is said of it."""
    rows = [f"| {heading} | type | default | |", "|---|---|---|---|"]
    for one in known:
        kind, default = (f"`{' '.join(x.split())}`" if x else "" for x in (one.annotation, one.default))
        meaning = said.get(one.name, "").replace("|", "\\|")
        rows.append(f"| `{one.name}` | {kind} | {default} | {meaning} |")
    return "\n".join(rows)


def as_markdown(text: str) -> str:
    """The docstring with examples as blocks of code, aligned lists as tables, names in single backticks."""
    paragraphs = re.split(r"\n\s*\n", text.replace("``", "`"))
    return "\n\n".join(map(_paragraph, paragraphs))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if lines[0].startswith("    >>>"):
        lines = textwrap.dedent(text).splitlines()
    elif lines[0].startswith(("    ", "|")):
        return text  # code or a table already
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
