"""Tables in Markdown."""

from collections.abc import Sequence

Row = Sequence[str]


def table(head: Row, *body: Row) -> str:
    """A Markdown table whose first column is text."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
