"""Read lines of two pictures: each once, lines of similar width in one batch, up to a limit."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.text.lines import framed, uncovered
from whatchanged.text.recogniser import RecognisedLine, RecognisedWord, read_lines, width_as_read

MOST_COLUMNS = 4800
"""How many columns of the network are read of a pair in all: some fifty words."""
MARGIN = 1
"""Pixels around a line's box that may belong to its letters."""


class LineAt(NamedTuple):
    """The position of a line."""

    side: int
    """0 in the picture before, 1 in the picture after."""
    box: Box
    upright: bool = False
    """Whether the line is written upwards."""


class ReadLine(NamedTuple):
    """A line of a picture, and its text."""

    at: LineAt
    cut: Pixels
    """The pixels that were read: the line with some background around it."""
    left: int
    """The column of the picture at which the cut begins."""
    line: RecognisedLine

    def has_unknown(self, words: Sequence[RecognisedWord], within: bool = False, icons: bool = False) -> bool:
        """Return whether there is ink for which the recogniser returned no character.

        within: between these words alone. icons: ignore an icon at either end.
        """
        return uncovered(self.cut, [at for word in words for at in word.columns], within, icons)


class PairReader:
    """Reads lines of a pair of pictures.

    pictures: before and after, (H, W, 3). The reader caches what it has read. A line that looks the same in
    both pictures is read once.
    """

    def __init__(self, pictures: tuple[Pixels, Pixels]) -> None:
        self.pictures = pictures
        self.columns_left = MOST_COLUMNS
        self._read: dict[tuple[tuple[int, ...], bytes], RecognisedLine] = {}

    def read(self, wanted: Iterable[LineAt]) -> list[ReadLine | None]:
        """Return the text of lines; None for those beyond the limit on columns. Raises MissingExtra."""
        cuts = [(at, *self.cut(at)) for at in wanted]
        chosen: dict[tuple[tuple[int, ...], bytes], Pixels] = {}
        for _, cut, _ in cuts:
            key = (cut.shape, cut.tobytes())
            width = width_as_read(cut.shape)
            if key not in self._read and key not in chosen and width <= self.columns_left:
                chosen[key] = cut
                self.columns_left -= width
        self._read |= zip(chosen, read_lines(list(chosen.values())), strict=True)
        results: list[ReadLine | None] = []
        for at, cut, left in cuts:
            line = self._read.get((cut.shape, cut.tobytes()))
            results.append(None if line is None else ReadLine(at, cut, left, line))
        return results

    def same_pixels(self, box: Box, shift: tuple[int, int]) -> bool:
        """Return whether a box after has the same pixels as before at its former position, shift = (dx, dy)
        away.
        """
        dx, dy = shift
        left, top, right, bottom = box
        before, after = self.pictures
        if left - dx < 0 or top - dy < 0 or right - dx > before.shape[1] or bottom - dy > before.shape[0]:
            return False
        if left < 0 or top < 0 or right > after.shape[1] or bottom > after.shape[0]:
            return False
        was, now = before[top - dy : bottom - dy, left - dx : right - dx], after[top:bottom, left:right]
        return bool((was == now).all())

    def cut(self, at: LineAt) -> tuple[Pixels, int]:
        """Return a line with background around it, and the column of the picture at which this cut begins."""
        box = at.box
        left, top = max(0, box[0] - MARGIN), max(0, box[1] - MARGIN)
        part = self.pictures[at.side][top : box[3] + MARGIN, left : box[2] + MARGIN]
        if at.upright:
            part = np.rot90(part, -1)
        cut, margin = framed(part, usual_color(part.reshape(-1, 3)))
        return cut, left - margin


def words_in(read: ReadLine, box: Box, mostly: bool = False) -> Sequence[int]:
    """Return the indices of the words of a line that are in a box, or reach into it; for an upright line,
    all.

    mostly: leave out words of which less than half of the characters are in the box.
    """
    if read.at.upright:
        return range(len(read.line.words))
    slack = 0.2 * len(read.cut)
    first, last = box[0] - read.left - slack, box[2] - read.left + slack
    return [
        i
        for i, word in enumerate(read.line.words)
        if word.columns[-1] >= first
        and word.columns[0] < last
        and (not mostly or 2 * sum(first <= at < last for at in word.columns) >= len(word.columns))
    ]
