"""The words beside a thing that has none of its own: a line next to it, or the label of its row.

Words beside a thing name it where they stand in both pictures.
"""

from collections.abc import Sequence
from typing import NamedTuple

from whatchanged.measured import Box, Statement
from whatchanged.text.around import BesideLine
from whatchanged.text.quotes import ELLIPSIS, handle, same_words, shortened
from whatchanged.text.reader import LineAt, PairReader, ReadLine

BEGINNING = 18
"""Heights of a line that are read of it where its first words will do."""

Offset = tuple[int, int]
"""How far something moved from before to after: dx, dy in pixels."""


class Wanted(NamedTuple):
    """What is to be named.

    side: the picture in which it is seen, 0 before and 1 after. lines: those beside it there, the nearest
    first. shift: how far it moved itself.
    """

    side: int
    lines: tuple[BesideLine, ...]
    shift: Offset = (0, 0)


def words_beside(
    wanted: Sequence[Wanted], reader: PairReader, statements: Sequence[Statement]
) -> list[tuple[str, str] | None]:
    """For each thing where it stands, as "left of", and the words that it stands there of.

    statements: all of the pair: what they tell changed, so that nothing is named after it, and what moved is
    looked for where it was. None where no line beside it is read well, or none stands in both pictures.
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
    """As much of a line as its first words need."""
    left, top, right, bottom = line
    return left, top, min(right, left + BEGINNING * (bottom - top)), bottom


def words_of_beginning(read: ReadLine, line: BesideLine) -> str | None:
    """The first words of a line of which perhaps only the beginning was read."""
    if not line.cut and read.at.box[2] - read.at.box[0] >= line.box[2] - line.box[0]:
        text = handle(read)
        return None if text is None else shortened(text)
    text = handle(read, range(len(read.line.words) - 1))  # the last one may be cut
    return None if text is None else shortened(f"{text} {ELLIPSIS}")


def _twin(one: Wanted, line: Box, reader: PairReader, shifts: Sequence[Offset]) -> LineAt | None:
    """Where a line must be read in the other picture; None where it stands there to the pixel."""
    for dx, dy in shifts:
        if reader.same_pixels(line if one.side else moved(line, (dx, dy)), (dx, dy)):
            return None
    sign = -1 if one.side else 1
    return LineAt(1 - one.side, moved(beginning(line), (sign * one.shift[0], sign * one.shift[1])))


def _shifts(statements: Sequence[Statement], reader: PairReader) -> list[Offset]:
    """How far lines may have moved: not at all, with a statement's thing, or with an edge of the picture."""
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
    """How far the corner of a statement's box moved."""
    was, now = statement.box_before, statement.box_after
    return (0, 0) if was is None or now is None else (now[0] - was[0], now[1] - was[1])


def moved(box: Box, shift: Offset) -> Box:
    """The box so much further."""
    return box[0] + shift[0], box[1] + shift[1], box[2] + shift[0], box[3] + shift[1]


def lies_inside(box: Box, shape: tuple[int, ...]) -> bool:
    """Whether a box lies inside a picture of this shape, (H, W, 3)."""
    return box[0] >= 0 and box[1] >= 0 and box[2] <= shape[1] and box[3] <= shape[0]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
