"""Tables in Markdown."""

from collections.abc import Sequence

Row = Sequence[str]


def table(head: Row, *body: Row) -> str:
    """A Markdown table whose first column is text."""
    return "\n".join([head_lines(head), *map(line, body)])


def head_lines(head: Row) -> str:
    """The two lines that a table begins with."""
    return f"{line(head)}\n{line(['---', *('---:' for _ in head[1:])])}"


def line(row: Row) -> str:
    """One line of a table."""
    return "| " + " | ".join(row) + " |"
