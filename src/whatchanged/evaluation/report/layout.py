"""Print numbers and tables, for a terminal and in Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whatchanged.errors import escaped
from whatchanged.evaluation.metrics.subsets import SubsetPath

Rows = list[list[str]]
"""The first row is the header, the first column names the rows."""
Table = tuple[str, Rows]
"""Title and rows."""

WIDE = 5.0
"""Intervals of at least this width are printed in whole numbers."""
_MAIN = ("overall", "semantic", "distractor")
_NESTED = ("types", "overlap")


def with_ends(value: float | None, ends: Sequence[float] | None = None) -> str:
    """Return a value to one decimal, with the ends of its interval; wide intervals are printed in whole
    numbers.
    """
    if value is None:
        return "-"
    if ends is None:
        return f"{value:.1f}"
    digits = 1 if ends[1] - ends[0] < WIDE else 0
    return f"{value:.1f} ({ends[0]:.{digits}f}-{ends[1]:.{digits}f})"


def share_with_ends(share: Mapping[str, Any] | None) -> str:
    """Return a share, as ``statistics.intervals.share`` gives it, with its interval."""
    if share is None or share["percent"] is None:
        return "-"
    return with_ends(share["percent"], (share["low"], share["high"]))


def span(low: float | None, high: float | None) -> str:
    """Return an interval alone: "-0.3 to 1.2"."""
    # Adding 0 turns a rounded -0.0 into 0.0.
    return "-" if low is None or high is None else f"{round(low, 1) + 0:.1f} to {round(high, 1) + 0:.1f}"


def blocks_in_order(tree: Mapping[str, Any]) -> Iterator[tuple[SubsetPath, Mapping[str, Any]]]:
    """Return the blocks of numbers of a report in reading order, each with its path."""
    for name in _MAIN:
        if name in tree:
            yield (name,), tree[name]
    for group in _NESTED:
        for name, block in tree.get(group, {}).items():
            yield (group, name), block


def aligned_table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a terminal. Line ends in its cells are escaped."""
    rows = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [escaped(title)]
    for name, *cells in rows:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *aligned]))
    return "\n".join(lines)


def markdown_table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    head, *body = rows
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join([f"### {title}", "", *(f"| {' | '.join(row)} |" for row in (head, rule, *body))])
