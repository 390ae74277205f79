"""Words that are quoted from lines that were read, or nothing where the reading is not sure.

Words that name a thing, a handle, may have a wrong letter: they stand in both pictures. Words that are the
change are quoted only where no letter is in doubt.
"""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from whatchanged.text.lines import gap_within
from whatchanged.text.reader import ReadLine
from whatchanged.text.recogniser import RecognisedWord

HANDLE = 0.9
"""Mean probability of the characters of a handle, at least."""
CONFIDENCE = 0.95
"""Of a line whose words are the change; a reading below it quotes nothing."""
CERTAINTY = 0.95
"""Of each character of such words."""
LEGIBLE = 0.6
"""Of each character of a handle: a word below it is left out at an end, and else there is no handle."""
MOST_WORDS = 5
"""Words that are quoted of a handle."""
LONGEST = 60
"""Characters that are quoted at most."""
MARKS = "–—|_[](){} "
"""What alone at the ends of a text may be a rule, a border or the mark of an axis."""
ELLIPSIS = "…"
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"))
_ALIKE_LETTERS = str.maketrans("I|1!0$5", "lllloss")
"""What a recogniser takes for each other, beside capital and small letters and all punctuation."""
_SIGNS = frozenset("–—…“”„‘’«»•·€£¥°©®™→←↑↓×÷±−§≥≤")
"""Signs beside those of ASCII that are read well."""
_ROUND, _UPRIGHT = frozenset("0Oo"), frozenset("1lI")
"""What is written in letters of one of these alone may as well be written in others of them."""
_SCRIPTS = ("LATIN", "DIGIT", "CJK", "HIRAGANA", "KATAKANA")
"""Beginnings of the names of characters that are quoted, beside punctuation and signs."""


class Quotes(NamedTuple):
    """The words that differ."""

    before: str
    after: str


def handle(read: ReadLine, words: Sequence[int] | None = None) -> str | None:
    """Words of a line by which a thing can be named; None where none are read well.

    words: the indices of those that belong to the thing; None: all. What stands alone at an end and is no
    word or number is left out: it may be an icon.
    """
    line = read.line
    chosen = [line.words[i] for i in (range(len(line.words)) if words is None else words)]
    chosen = _without_marks(chosen)
    text = " ".join(word.text for word in chosen)
    letters = {sign for sign in text if sign.isalnum()}
    if letters <= _ROUND or letters <= _UPRIGHT:
        return None
    if sum(sign.isalnum() for sign in text) < 2 and not text.isdigit():
        return None
    count = sum(len(word.text) for word in chosen)
    if sum(word.confidence * len(word.text) for word in chosen) < HANDLE * count:
        return None
    unsure = any(word.certainty < LEGIBLE for word in chosen) or read.has_unknown(chosen, within=True)
    return None if unsure or not _is_known(text) else text


def certain(read: ReadLine, words: Sequence[int], alone: bool = False) -> str | None:
    """The words of a line at these indices, None where one of them may be read wrongly.

    alone: what stands beside the words in the line may be an icon, and is left out.
    """
    line = read.line
    touched = [line.words[i] for i in words]
    if alone:
        touched = _without_marks(touched)
    elif line.confidence < CONFIDENCE:
        return None
    if read.has_unknown(touched if alone else line.words, within=alone, icons=not alone):
        return None
    for word in touched:
        joined = any(one.islower() and other.isupper() for one, other in pairwise(word.text))
        if word.certainty < CERTAINTY or joined or not _is_known(word.text):
            return None
        if gap_within(read.cut, word.columns):
            return None
    while touched and not touched[-1].text.strip(MARKS):
        touched.pop()
    while touched and not touched[0].text.strip(MARKS):
        touched.pop(0)
    return " ".join(word.text for word in touched).rstrip("-–—|_")


def shortened(text: str) -> str:
    """At most five words, and an ellipsis where there are more."""
    words = text.split()
    short = " ".join(words[:MOST_WORDS])
    if len(short) > LONGEST:
        return f"{short[: LONGEST - 1].rstrip()}{ELLIPSIS}"
    return short if len(words) <= MOST_WORDS else f"{short.rstrip('.,;:')} {ELLIPSIS}"


def same_words(before: str, after: str) -> bool:
    """Whether two texts may be the same: letters of one shape, spaces and punctuation do not count."""
    return _skeleton(before) == _skeleton(after)


def differing(before: str, after: str, whole: bool = False) -> Quotes | None:
    """The words between those that two lines begin and end with alike; None where that cannot be quoted.

    Where words only came or went, a neighbour is quoted with them. whole: whether nothing of the lines was
    cut off, so that all of both may be quoted though some of their words are the same.
    """
    one, other = before.split(), after.split()
    if not one or not other or same_words("".join(one), "".join(other)):
        return None
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    if start == end == 0 and set(one) & set(other) and not whole:
        return None  # other parts of a line may have been cut out
    if len(one) == start + end or len(other) == start + end:
        start, end = (start - 1, end) if start else (start, end - 1)
    quoted = [" ".join(words[start : len(words) - end]) for words in (one, other)]
    if same_words(*quoted) or max(map(len, quoted)) > LONGEST:
        return None
    if any(len(words) == 1 and words.isalpha() for words in quoted):
        return None  # a letter of another script may look like it
    return Quotes(*quoted)


def _skeleton(text: str) -> str:
    """A text in which letters of one shape are one letter, without spaces and punctuation."""
    plain = text.translate(_ALIKE_LETTERS).lower()
    for pair, letter in _ALIKE:
        plain = plain.replace(pair, letter)
    return "".join(sign for sign in plain if sign.isalnum())


def _without_marks(words: Sequence[RecognisedWord]) -> list[RecognisedWord]:
    """The words without what alone at an end may be an icon."""
    left = list(words)
    while left and _is_mark(left[0].text, left[0].certainty):
        left.pop(0)
    while left and _is_mark(left[-1].text, left[-1].certainty):
        left.pop()
    return left


def _is_mark(text: str, certainty: float) -> bool:
    """Whether what stands at an end of a line may be an icon: no word and no number."""
    if certainty < LEGIBLE or not any(sign.isalnum() for sign in text):
        return True
    return (
        len(text) == 1 and text.isalpha() and text not in "aAI" and unicodedata.name(text).startswith("LATIN")
    )


def _is_known(text: str) -> bool:
    """Whether the text is of scripts and signs that are read well."""
    return all(
        sign.isascii() or sign in _SIGNS or unicodedata.name(sign, "").startswith(_SCRIPTS) for sign in text
    )
