"""Name the two items between which a highlight moved, by the text in them or beside them."""

from dataclasses import replace

from whatchanged.answers.beside import Wanted, beginning, lies_inside, words_beside
from whatchanged.measured import Box, Statement
from whatchanged.measured.rules.sentences import Subject, reword
from whatchanged.text.around import lines_around
from whatchanged.text.quotes import handle, same_words, shortened
from whatchanged.text.reader import LineAt, PairReader

ASPECT = "highlight"
"""The aspect of a highlight that moved."""
WITHOUT_TEXT = ("line", "underline", "selection")
"""Highlights that have no text in them: the text beside them is that of the item."""

MOST_LINES = 4
"""How many lines of an item are read. Some may be icons, or seen in one of the pictures only."""
SLACK = 2
"""How far, in pixels, a line of an item may extend beyond its box. Others are lines of several items."""


def with_items(statement: Statement, reader: PairReader) -> Statement:
    """Return the statement of a highlight that moved, with the words of both items among its values.

    Only words that both pictures show there are used, and only if both items have them at the same position,
    for example inside the highlight.
    """
    boxes = (statement.box_before, statement.box_after)
    moved = statement.values.get("aspect") == ASPECT and statement.kind != "resized"
    if not moved or boxes[0] is None or boxes[1] is None:
        return statement
    items = [_own_words(box, reader) for box in (boxes[0], boxes[1])]
    if None in items:
        found = [_words_beside(side, box, reader) for side, box in enumerate((boxes[0], boxes[1]))]
        if found[0] is None or found[1] is None or found[0][0] != found[1][0]:
            return statement
        alone = statement.values.get("mark") in WITHOUT_TEXT
        items = [f'"{text}"' if alone else f'{relation} "{text}"' for relation, text in (found[0], found[1])]
    if items[0] == items[1]:
        return statement
    named = {"item_before": items[0], "item_after": items[1]}
    told = replace(statement, values={**statement.values, **named})
    right, bottom = boxes[1][2:]
    return reword(told, Subject(str(statement.values["mark"])), (right, bottom))


def _own_words(box: Box, reader: PairReader) -> str | None:
    """Return the first words in an item in quotation marks, if both pictures show them, or None."""
    if not all(lies_inside(box, picture.shape) for picture in reader.pictures):
        return None
    lines = [line for picture in reader.pictures for line in lines_around(picture, box).own]
    lines = [line for line in dict.fromkeys(lines) if _beyond(line, box) <= SLACK][:MOST_LINES]
    read = [reader.read([LineAt(side, beginning(line)) for line in lines]) for side in (0, 1)]
    for one, other in zip(*read, strict=True):
        texts = [None if line is None else handle(line) for line in (one, other)]
        if texts[0] is not None and texts[1] is not None and same_words(texts[0], texts[1]):
            return f'"{shortened(texts[0])}"'
    return None


def _beyond(line: Box, box: Box) -> int:
    """Return how far a line extends beyond a box."""
    return max(box[0] - line[0], box[1] - line[1], line[2] - box[2], line[3] - box[3])


def _words_beside(side: int, box: Box, reader: PairReader) -> tuple[str, str] | None:
    """Return the relation of a highlight to the nearest text beside it, and that text, or None."""
    picture = reader.pictures[side]
    if not lies_inside(box, picture.shape):
        return None
    (found,) = words_beside([Wanted(side, lines_around(picture, box).beside)], reader, ())
    return found
