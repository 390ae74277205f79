"""A statement with the lines of text around its box and what was read of them."""

from dataclasses import dataclass, field

from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import area
from whatchanged.text.around import Around, is_text
from whatchanged.text.quotes import certain, handle
from whatchanged.text.reader import ReadLine, words_in

LARGE = 0.6
"""A box that covers at least this fraction of a picture is no thing that text could name."""
LARGE_SIDES = 0.9
"""So does a box that covers at least this fraction of each of its sides."""
Size = tuple[int, int]


@dataclass
class TextSite:
    """A statement with the text lines around it, and the text read from them.

    statement  the statement in its present form
    around     the lines around its box before and after; none where it has none there
    size       width and height of the picture in which it is shown
    read       what the lines in it say, before and after
    """

    statement: Statement
    around: tuple[Around, Around]
    size: Size
    read: tuple[list[ReadLine], list[ReadLine]] = field(default_factory=lambda: ([], []))

    @property
    def side(self) -> int:
        """The picture in which the thing is shown: 1, the one after, unless it is only in the one before."""
        return 0 if self.statement.box_after is None else 1

    @property
    def box(self) -> Box:
        """The thing's box in that picture."""
        box = self.statement.box_after or self.statement.box_before
        assert box is not None
        return box

    @property
    def own_lines(self) -> list[ReadLine]:
        """The lines that were read in that picture, at the height of the box: reading may have shown that
        only some of the lines changed.
        """
        return [one for one in self.read[self.side] if _overlap(one.at.box, self.box)]


def _overlap(line: Box, box: Box) -> bool:
    """Return whether the middle of a line, or that of a box, lies at the height of the other one."""
    middles = (line[1] + line[3]) // 2, (box[1] + box[3]) // 2
    return box[1] <= middles[0] < box[3] or line[1] <= middles[1] < line[3]


def is_large(site: TextSite) -> bool:
    """Return whether a box covers most of the picture or of both its sides."""
    width, height = site.box[2] - site.box[0], site.box[3] - site.box[1]
    most = min(width / site.size[0], height / site.size[1]) >= LARGE_SIDES
    return most or area(site.box) >= LARGE * site.size[0] * site.size[1]


def came_or_went(statement: Statement) -> bool:
    """Return whether a thing is in one picture only, so that its text is the change."""
    return statement.box_before is None or statement.box_after is None


def quoted(line: ReadLine, box: Box, statement: Statement) -> str | None:
    """Return the words of a line in a box, if they may be quoted: text that appeared or disappeared is the
    change.
    """
    # Behind a word that only ends in the box, an icon moved.
    within = words_in(line, box, mostly=statement.kind == "moved" and statement.count == 1)
    return certain(line, within, alone=True) if came_or_went(statement) else handle(line, within)


def is_legible(site: TextSite) -> bool:
    """Return whether a thing contains text, quotable or not.

    A thing that is the end of a line contains text only if it has letters or numbers itself: it may be an
    icon behind them.
    """
    read = [line for line in site.read[site.side] if handle(line) is not None]
    lines = tuple(line.at.box for line in read if line.at.upright or _has_letter_in(line, site.box))
    return is_text(lines, site.box)


def _has_letter_in(line: ReadLine, box: Box) -> bool:
    """Return whether a letter or number of a line lies in a box."""
    first, last = box[0] - line.left, box[2] - line.left
    return any(
        sign.isalnum() and first <= column < last
        for word in line.line.words
        for sign, column in zip(word.text, word.columns, strict=False)
    )
