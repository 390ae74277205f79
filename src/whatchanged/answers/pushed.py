"""A text that reads differently takes more or less room, and pushes what stands beside it in its row."""

from collections.abc import Sequence

from whatchanged.measured import Statement

MOST_GAP = 40
"""The largest gap in pixels between a text and what it pushes in its row."""


def texts_before_pushed(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, a text that reads differently before what moved sideways in its row, if the
    movement was first."""
    first, *further = statements
    if first.kind != "moved" or not first.values.get("dx") or abs(first.values.get("dy") or 0) > 1:
        return tuple(statements)
    written = next((one for one in further if "text_after" in one.values and _in_row(one, first)), None)
    if written is None:
        return tuple(statements)
    return (written, first, *(one for one in further if one is not written))


def _in_row(written: Statement, moved: Statement) -> bool:
    """Return whether a text that reads differently stands right beside something that moved."""
    box, other = written.box_after, moved.box_after
    if written.kind != "rewritten" or box is None or other is None:
        return False
    gap = max(box[0] - other[2], other[0] - box[2])
    shared = min(box[3], other[3]) - max(box[1], other[1])  # The rows that both boxes contain.
    return 2 * shared >= min(box[3] - box[1], other[3] - other[1]) and gap <= MOST_GAP
