"""Name a thing without text of its own by the text beside it: the next line, or the label of its row.

Such text names the thing only if it is the same in both pictures.
"""

from collections.abc import Sequence
from typing import NamedTuple

from whatchanged.measured import Box, Statement
from whatchanged.text.around import BesideLine
from whatchanged.text.quotes import ELLIPSIS, handle, same_words, shortened
from whatchanged.text.reader import LineAt, PairReader, ReadLine

BEGINNING = 18
"""How much of a long line is read, in heights of the line, where its first words suffice."""

Offset = tuple[int, int]
"""The movement of something from before to after: dx, dy in pixels."""


class Wanted(NamedTuple):
    """A thing that needs a name.

    side: the picture in which it is visible, 0 before and 1 after. lines: those beside it there, the nearest
    first. shift: its own movement.
    """

    side: int
    lines: tuple[BesideLine, ...]
    shift: Offset = (0, 0)


def words_beside(
    wanted: Sequence[Wanted], reader: PairReader, statements: Sequence[Statement]
) -> list[tuple[str, str] | None]:
    """Return for each thing its relation to the text beside it, such as "left of", and that text.

    statements: all statements of the pair. Text that they report as changed names nothing, and text that
    moved is looked for at its former position. None where no line beside the thing is read with confidence,
    or none is in both pictures.
    """
    changed = [[one.box_before for one in statements], [one.box_after for one in statements]]
    shifts = _shifts(statements, reader)
    candidates = [
        (number, one, line)
        for number, one in enumerate(wanted)
        for line in one.lines
        if not any(box is not None and _meet(line.box, box) for box in changed[one.side])
    ]
    found = reader.read(LineAt(one.side, beginning(line.box)) for _, one, line in candidates)
    texts: list[str | None] = []
    others: list[LineAt] = []
    for (_, one, line), read in zip(candidates, found, strict=True):
        text = None if read is None else words_of_beginning(read, line)
        twin = None if text is None else _twin(one, line.box, reader, shifts)
        if twin is not None and not lies_inside(twin.box, reader.pictures[twin.side].shape):
            text, twin = None, None
        texts.append(text)
        others.append(twin or LineAt(one.side, beginning(line.box)))
    results: dict[int, tuple[str, str]] = {}
    for (number, _, line), text, other in zip(candidates, texts, reader.read(others), strict=True):
        theirs = None if other is None or text is None else words_of_beginning(other, line)
        if number not in results and text is not None and theirs is not None and same_words(text, theirs):
            results[number] = (line.relation, text)
    return [results.get(number) for number in range(len(wanted))]


def beginning(line: Box) -> Box:
    """Return the part of a line that contains its first words."""
    left, top, right, bottom = line
    return left, top, min(right, left + BEGINNING * (bottom - top)), bottom


def words_of_beginning(read: ReadLine, line: BesideLine) -> str | None:
    """Return the first words of a line of which perhaps only the beginning was read."""
    if not line.cut and read.at.box[2] - read.at.box[0] >= line.box[2] - line.box[0]:
        text = handle(read)
        return None if text is None else shortened(text)
    text = handle(read, range(len(read.line.words) - 1))  # the last word may be cut
    return None if text is None else shortened(f"{text} {ELLIPSIS}")


def _twin(one: Wanted, line: Box, reader: PairReader, shifts: Sequence[Offset]) -> LineAt | None:
    """Return the position at which a line must be read in the other picture; None where its pixels are equal
    there.
    """
    for dx, dy in shifts:
        if reader.same_pixels(line if one.side else moved(line, (dx, dy)), (dx, dy)):
            return None
    sign = -1 if one.side else 1
    return LineAt(1 - one.side, moved(beginning(line), (sign * one.shift[0], sign * one.shift[1])))


def _shifts(statements: Sequence[Statement], reader: PairReader) -> list[Offset]:
    """Return the shifts that lines may have: none, that of a statement's thing, or that of an edge of the
    picture.
    """
    before, after = reader.pictures
    wider, taller = after.shape[1] - before.shape[1], after.shape[0] - before.shape[0]
    results = [(0, 0)]
    for one in statements:
        results.append(shift_of(one))
        results.append((int(one.values.get("dx", 0)), int(one.values.get("dy", 0))))
        dx, dy = one.values.get("rest") or (0, 0)
        results.append((int(dx), int(dy)))
    results += [(wider, 0), (0, taller), (wider, taller), (wider // 2, 0), (wider // 2, taller)]
    return list(dict.fromkeys(results))


def shift_of(statement: Statement) -> Offset:
    """Return how far the corner of a statement's box moved."""
    was, now = statement.box_before, statement.box_after
    return (0, 0) if was is None or now is None else (now[0] - was[0], now[1] - was[1])


def moved(box: Box, shift: Offset) -> Box:
    """Return the box moved by the shift."""
    return box[0] + shift[0], box[1] + shift[1], box[2] + shift[0], box[3] + shift[1]


def lies_inside(box: Box, shape: tuple[int, ...]) -> bool:
    """Return whether a box lies inside a picture of this shape, (H, W, 3)."""
    return box[0] >= 0 and box[1] >= 0 and box[2] <= shape[1] and box[3] <= shape[0]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
