"""The words of a line that changed, quoted from two pictures, or nothing where the reading is not sure."""

import unicodedata
from itertools import pairwise
from typing import NamedTuple

from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.text.lines import gap_within, is_upright, turned, uncovered, words_around
from whatchanged.text.recogniser import read_line

CONFIDENCE = 0.95
"""Of both readings at least; a reading below it quotes nothing."""
LONGEST = 60
"""Characters that are quoted at most."""
CERTAINTY = 0.95
"""Of each character that is quoted."""
OUTSIDE = 0.2
"""Of a cut's height: how far beside the place a character may be seen that belongs to it."""
MARKS = "–—|_[](){} "
"""What alone at the ends of a text may be a rule, a border or the mark of an axis."""
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"))
_ALIKE_LETTERS = str.maketrans("I|1!0$5", "lllloss")
"""What a recogniser takes for each other, beside capital and small letters and all punctuation."""
_SCRIPTS = ("LATIN", "DIGIT", "CJK", "HIRAGANA", "KATAKANA")
"""Beginnings of the names of characters that are quoted, beside punctuation and signs."""


class Quotes(NamedTuple):
    """The words that differ."""

    before: str
    after: str


def read_quotes(before: Pixels, after: Pixels, box_before: Box, box_after: Box) -> Quotes | None:
    """What a line of text said before and says after, no more than the words that differ.

    before, after: (H, W, 3), RGB. The boxes hold the line or a part of it. None where no line is found, where
    a reading is not sure, where the two differ by letters of one shape alone (I l 1, O 0, rn m), and where
    the script is not one that is read well. Raises MissingExtra where the recogniser is not installed.
    """
    places = [(before, box_before), (after, box_after)]
    if is_upright(box_before) and is_upright(box_after):
        places = [turned(*place) for place in places]
    texts = []
    for picture, box in places:
        text = _sure_text(picture, box)
        if text is None:
            return None
        texts.append(text)
    return differing(*texts)


def _sure_text(picture: Pixels, box: Box) -> str | None:
    """The words of a line that a box touches, None where one of them may be read wrongly."""
    cut = words_around(picture, box)
    if cut is None:
        return None
    line = read_line(cut.picture)
    if line.confidence < CONFIDENCE or uncovered(
        cut.picture, [at for word in line.words for at in word.columns]
    ):
        return None
    reach = OUTSIDE * len(cut.picture)
    touched = [
        word
        for word in line.words
        if word.columns[-1] >= cut.columns[0] - reach and word.columns[0] < cut.columns[1] + reach
    ]
    for word in touched:
        if word.certainty < CERTAINTY or not _is_readable(word.text) or gap_within(cut.picture, word.columns):
            return None
    while touched and not touched[-1].text.strip(MARKS):
        touched.pop()
    while touched and not touched[0].text.strip(MARKS):
        touched.pop(0)
    return " ".join(word.text for word in touched).rstrip("-–—|_")


def differing(before: str, after: str) -> Quotes | None:
    """The words between those that two lines begin and end with alike; None where that cannot be quoted.

    Where words only came or went, a neighbour is quoted with them.
    """
    one, other = before.split(), after.split()
    if not one or not other or _skeleton("".join(one)) == _skeleton("".join(other)):
        return None
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    if start == end == 0 and set(one) & set(other):
        return None  # other parts of a line may have been cut out
    if len(one) == start + end or len(other) == start + end:
        start, end = (start - 1, end) if start else (start, end - 1)
    quoted = [" ".join(words[start : len(words) - end]) for words in (one, other)]
    if _skeleton(quoted[0]) == _skeleton(quoted[1]) or max(map(len, quoted)) > LONGEST:
        return None
    if any(len(words) == 1 and words.isalpha() for words in quoted):
        return None  # a letter of another script may look like it
    return Quotes(*quoted)


def _skeleton(text: str) -> str:
    """A text in which letters of one shape are one letter, without punctuation."""
    plain = text.translate(_ALIKE_LETTERS).lower()
    for pair, letter in _ALIKE:
        plain = plain.replace(pair, letter)
    return "".join(sign for sign in plain if sign.isalnum())


def _is_readable(text: str) -> bool:
    """Whether the text is of a script that is read well, and no two words joined, as in "OrderServer"."""
    if any(one.islower() and other.isupper() for one, other in pairwise(text)):
        return False
    return all(not sign.isalnum() or unicodedata.name(sign, "").startswith(_SCRIPTS) for sign in text)
