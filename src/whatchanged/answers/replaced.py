"""A picture that was replaced by another one: the text that each of them shows."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from whatchanged import words
from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.text.finding import find_lines
from whatchanged.text.quotes import certain, handle, same_words, shortened
from whatchanged.text.reader import LineAt, PairReader, ReadLine

MOST_LINES = 12
"""The largest number of lines that are read in a picture. Of a picture with more lines it is unknown what it
does not say.
"""
LARGEST = 3
"""How many of the largest lines may be quoted."""
UNLIKE = 0.6
"""Two lines that are less alike than this are two texts, and not one with a number or a mark more."""


def with_texts(statement: Statement, pictures: tuple[Pixels, Pixels]) -> Statement:
    """Return the statement that most of a picture differs, with a text that only one of the pictures shows.

    The text is the largest line that is read with certainty and that the other picture does not contain. It
    is not quoted where the other picture has more lines than are read. The values ``text_before`` and
    ``text_after`` hold the texts. Raises MissingExtra where the recogniser is not installed.
    """
    lines = [_lines(picture) for picture in pictures]
    reader = PairReader(pictures)
    read = [
        [one for one in reader.read(LineAt(side, line) for line in lines[side][:MOST_LINES]) if one]
        for side in (0, 1)
    ]
    all_read = [len(read[side]) == len(lines[side]) for side in (0, 1)]
    was = _only_here(read[0], read[1]) if all_read[1] else None
    now = _only_here(read[1], read[0]) if all_read[0] else None
    values = {name: text for name, text in (("text_before", was), ("text_after", now)) if text}
    if not values:
        return statement
    told = f"{words.lowered(statement.sentence)[:-1]}: {_shown(was, now)}"
    return replace(statement, sentence=words.capitalised(told), values={**statement.values, **values})


def _lines(picture: Pixels) -> list[Box]:
    """Return the lines of text in a picture, the largest first."""
    height, width = picture.shape[:2]
    return sorted(
        find_lines(picture, (0, 0, width, height)), key=lambda box: (box[1] - box[3], box[1], box[0])
    )


def _only_here(here: Sequence[ReadLine], there: Sequence[ReadLine]) -> str | None:
    """Return the largest certain line of a picture that the other one does not contain."""
    theirs = [one.line.text for one in there]
    for one in here[:LARGEST]:
        text = certain(one, range(len(one.line.words)), alone=True)
        if text and handle(one) and not any(_contains(other, text) for other in theirs):
            return shortened(text)
    return None


def _contains(other: str, text: str) -> bool:
    """Return whether a line has the same words, or similar ones, or has them among others."""
    matcher = SequenceMatcher(None, text.lower(), other.lower(), autojunk=False)
    return same_words(other, text) or text.lower() in other.lower() or matcher.ratio() >= UNLIKE


def _shown(was: str | None, now: str | None) -> str:
    """Return the words for the texts of the two pictures."""
    if now is None:
        return f'it no longer says "{was}"'
    return f'it now says "{now}"' if was is None else f'it now says "{now}" instead of "{was}"'
