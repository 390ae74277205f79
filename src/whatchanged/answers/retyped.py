"""Find that a line of text is set in another type where only its movement, its length or its colour was
measured.

Letters that become wider move those behind them. In the pixels, the end of such a line has moved.
"""

from collections.abc import Sequence
from dataclasses import replace

from whatchanged.answers.rewriting import LinesOfBoth, same_text
from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import area, common, union
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.text.quotes import handle, same_words
from whatchanged.text.reader import ReadLine

SEEMS = (
    ("moved", "position"),
    ("resized", "gap"),
    ("resized", "length"),
    ("resized", "size"),
    ("recolored", "ink"),
)
"""Kinds and aspects that a line with other letters may seem to have."""
TYPE = ("weight", "text size", "letter spacing", "slant", "face")
"""The aspects of type."""
WIDER, LEAST_WIDER = 0.015, 2
"""The least change of the length of a line, as a fraction of its length and in pixels."""
MOST_OF_IT, HALF_OF_IT = 0.8, 0.5
"""The least fractions of the place that lie in the line in one picture and in the other one. The place may be
that of both lines together."""


def in_other_type(statement: Statement, read: LinesOfBoth, pictures: tuple[Pixels, Pixels]) -> Statement:
    """Return the statement about the type of a whole line with the same words, or unchanged if its length did
    not change.

    read: the lines at the place of the statement, before and after.
    """
    was, now = statement.box_before, statement.box_after
    if (statement.kind, statement.values.get("aspect")) not in SEEMS or was is None or now is None:
        return statement
    lines = tuple(map(_only, read))
    first, second = lines
    if first is None or second is None:
        return statement
    boxes = first.at.box, second.at.box
    places = was, union([now, *statement.boxes])
    inside = [common(line, at) / max(1, area(at)) for line, at in zip(boxes, places, strict=True)]
    if max(inside) < MOST_OF_IT or min(inside) < HALF_OF_IT:
        return statement
    texts = handle(first), handle(second)
    if None in texts or not same_words(texts[0] or "", texts[1] or "") or not _is_wider(*boxes):
        return statement
    if not _is_by_width(statement, *boxes):
        return statement
    whole = replace(statement, box_before=boxes[0], box_after=boxes[1], boxes=(boxes[1],), element=None)
    found = same_text(whole, ([first], [second]), pictures)
    return found if found.values.get("aspect") in TYPE else statement


def _only(lines: Sequence[ReadLine]) -> ReadLine | None:
    """Return the only line of a list, or None if there are none or several."""
    return lines[0] if len(lines) == 1 else None


def _is_wider(one: Box, other: Box) -> bool:
    """Return whether a line became clearly longer or shorter."""
    width, wider = one[2] - one[0], abs((other[2] - other[0]) - (one[2] - one[0]))
    return wider >= max(LEAST_WIDER, WIDER * width)


def _is_by_width(statement: Statement, one: Box, other: Box) -> bool:
    """Return whether a line moved at most as far as its change of length explains."""
    wider = abs((other[2] - other[0]) - (one[2] - one[0]))
    return (
        abs(int(statement.values.get("dx", 0))) <= wider + 1
        and min(abs(other[0] - one[0]), abs(other[2] - one[2])) <= (wider + 1) // 2
    )
