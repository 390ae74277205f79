"""Lines of two pictures read: each once, those of about one width side by side, and only so many."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from whatchanged.measured.pixels.layers import usual_color
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.text.lines import framed, uncovered
from whatchanged.text.recogniser import RecognisedLine, RecognisedWord, read_lines, width_as_read

MOST_COLUMNS = 4800
"""Columns that are read of a pair in all, as the network counts them: some fifty words."""
MARGIN = 1
"""Pixels around a line's box that may belong to its letters."""


class LineAt(NamedTuple):
    """Where a line is."""

    side: int
    """0 in the picture before, 1 in the picture after."""
    box: Box
    upright: bool = False
    """Whether it is written upwards."""


class ReadLine(NamedTuple):
    """A line of a picture, and what it says."""

    at: LineAt
    cut: Pixels
    """What was read: the line with some ground around it."""
    left: int
    """The column of the picture at which the cut begins."""
    line: RecognisedLine

    def has_unknown(self, words: Sequence[RecognisedWord], within: bool = False, icons: bool = False) -> bool:
        """Whether there is ink that the recogniser told no character of.

        within: between these words alone. icons: but for an icon at either end.
        """
        return uncovered(self.cut, [at for word in words for at in word.columns], within, icons)


class PairReader:
    """Reads lines of a pair of pictures.

    pictures: before and after, (H, W, 3). What was read is kept as long as the reader is. A line that looks
    the same in both is read once.
    """

    def __init__(self, pictures: tuple[Pixels, Pixels]) -> None:
        self.pictures = pictures
        self.columns_left = MOST_COLUMNS
        self._read: dict[tuple[tuple[int, ...], bytes], RecognisedLine] = {}

    def read(self, wanted: Iterable[LineAt]) -> list[ReadLine | None]:
        """What lines say; None for those for which no columns are left. Raises MissingExtra."""
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
        """Whether what lies in a box after lies before where it was, shift = (dx, dy) away from there."""
        dx, dy = shift
        left, top, right, bottom = box
        before, after = self.pictures
        if left - dx < 0 or top - dy < 0 or right - dx > before.shape[1] or bottom - dy > before.shape[0]:
            return False
        was, now = before[top - dy : bottom - dy, left - dx : right - dx], after[top:bottom, left:right]
        return bool((was == now).all())

    def cut(self, at: LineAt) -> tuple[Pixels, int]:
        """A line with ground around it, and the picture's column at which that begins."""
        box = at.box
        left, top = max(0, box[0] - MARGIN), max(0, box[1] - MARGIN)
        part = self.pictures[at.side][top : box[3] + MARGIN, left : box[2] + MARGIN]
        if at.upright:
            part = np.rot90(part, -1)
        cut, margin = framed(part, usual_color(part.reshape(-1, 3)))
        return cut, left - margin


def words_in(read: ReadLine, box: Box) -> Sequence[int]:
    """The indices of the words of a line that stand in a box, or reach into it; of upright ones all."""
    if read.at.upright:
        return range(len(read.line.words))
    slack = 0.2 * len(read.cut)
    first, last = box[0] - read.left - slack, box[2] - read.left + slack
    return [
        i for i, word in enumerate(read.line.words) if word.columns[-1] >= first and word.columns[0] < last
    ]
