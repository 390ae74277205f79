"""Words that a line of text gained or lost at one of its ends, while the rest of the line stayed the same.

Such words were added or removed, or they moved to the line above or below because the text wraps elsewhere.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from whatchanged.measured import Box, Kind, Statement
from whatchanged.measured.pixels.layers import INK, usual_color
from whatchanged.measured.pixels.planes import steps_from
from whatchanged.text.quotes import certain
from whatchanged.text.reader import ReadLine, words_in

SPACE = 0.15
"""The least space between two words, as a fraction of the height of the pixels that were read."""


class EndWords(NamedTuple):
    """Words at an end of a line that only one of the pictures has there.

    side  the picture that has them: 0 before, 1 after
    text  the words
    box   their box in this picture
    """

    side: int
    text: str
    box: Box


def end_words(statement: Statement, read: tuple[Sequence[ReadLine], Sequence[ReadLine]]) -> EndWords | None:
    """Return the words that a rewritten line gained or lost at an end, or None if anything else of it changed
    or is uncertain.

    read: the lines that were read, before and after.
    """
    boxes = (statement.box_before, statement.box_after)
    if statement.kind != "rewritten" or len(read[0]) != 1 or len(read[1]) != 1 or None in boxes:
        return None
    texts = []
    for (line,), box in zip(read, boxes, strict=True):
        chosen = list(words_in(line, box or line.at.box))
        sure = certain(line, chosen)
        if line.at.upright or sure is None or len(chosen) != len(line.line.words):
            return None
        texts.append(sure.split())
    side = int(len(texts[1]) > len(texts[0]))
    longer, shorter = texts[side], texts[1 - side]
    more = len(longer) - len(shorter)
    if not shorter or more < 1 or len(longer) != len(read[side][0].line.words):
        return None
    if longer[more:] == shorter:
        indices = range(more)
    elif longer[: len(shorter)] == shorter:
        indices = range(len(shorter), len(longer))
    else:
        return None
    return EndWords(side, " ".join(longer[i] for i in indices), box_of_words(read[side][0], indices))


def numbered(statement: Statement, read: tuple[Sequence[ReadLine], Sequence[ReadLine]]) -> Statement:
    """Return the statement that a line got or lost a number or a mark at an end, as one about this mark.

    A mark without letters does not wrap to another line, and the rest of the line still says the same.
    """
    found = end_words(statement, read)
    if found is None or any(sign.isalpha() for sign in found.text):
        return statement
    was, now = (found.box, None) if found.side == 0 else (None, found.box)
    kind: Kind = "removed" if found.side == 0 else "added"
    values = {"aspect": "thing"}
    return replace(
        statement, kind=kind, box_before=was, box_after=now, boxes=(found.box,), values=values, element=None
    )


def box_of_words(line: ReadLine, indices: Sequence[int]) -> Box:
    """Return the box of some words of a line, as far as the ink around the columns of their characters."""
    ink = steps_from(usual_color(line.cut.reshape(-1, 3)), line.cut) > INK
    filled = np.flatnonzero(ink.any(axis=0))
    columns = [column for i in indices for column in line.line.words[i].columns]
    others = [c for i, word in enumerate(line.line.words) if i not in indices for c in word.columns]
    left, right = int(min(columns)), int(max(columns)) + 1
    if len(filled):
        breaks = np.flatnonzero(np.diff(filled) > SPACE * len(line.cut))
        starts, stops = filled[np.r_[0, breaks + 1]], filled[np.r_[breaks, len(filled) - 1]] + 1
        pieces = [(int(start), int(stop)) for start, stop in zip(starts, stops, strict=True)]
        own = [
            (start, stop)
            for start, stop in pieces
            if start < right and left < stop and not any(start <= column < stop for column in others)
        ]
        if own:
            left, right = own[0][0], own[-1][1]
    return (line.left + left, line.at.box[1], line.left + right, line.at.box[3])
