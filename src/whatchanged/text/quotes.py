"""Choose words to quote from lines that were read, or none where the reading is uncertain.

Words that name a thing, a handle, may have a wrong letter, because they are in both pictures. Words that are
the change itself are quoted only where every letter is certain.
"""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from whatchanged.text.lines import gap_within
from whatchanged.text.reader import ReadLine
from whatchanged.text.recogniser import RecognisedWord

HANDLE = 0.9
"""The least mean probability of the characters of a handle."""
CONFIDENCE = 0.95
"""The least probability of a line whose words are the change; below it nothing is quoted."""
CERTAINTY = 0.95
"""The least probability of each character of quoted words that are the change."""
LEGIBLE = 0.6
"""The least probability of each character of a handle. A word below it is dropped at an end; elsewhere it
rules out the handle.
"""
MOST_WORDS = 5
"""How many words of a handle are quoted."""
LONGEST = 60
"""How many characters are quoted, at most."""
MARKS = "–—|_[](){} "
"""Characters that, alone at either end of a text, may be a rule, a border or the mark of an axis."""
ELLIPSIS = "…"
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"))
_ALIKE_LETTERS = str.maketrans("I|1!0$5", "lllloss")
"""Characters that a recogniser confuses, in addition to capital and small letters and all punctuation."""
_SIGNS = frozenset("–—…“”„‘’«»•·€£¥°©®™→←↑↓×÷±−§≥≤")
"""Characters outside ASCII that are read reliably."""
_ROUND, _UPRIGHT = frozenset("0Oo"), frozenset("1lI")
"""Groups of characters of similar shape. A text in characters of one group alone may be a misread text of
another group.
"""
_ONE_SHAPE = frozenset("ckopsuvwxz")
"""Letters whose capitals have the same shape."""
_SCRIPTS = ("LATIN", "DIGIT", "CJK", "HIRAGANA", "KATAKANA")
"""Beginnings of the Unicode names of characters that are quoted, in addition to punctuation and signs."""


class Quotes(NamedTuple):
    """The words that differ."""

    before: str
    after: str


def handle(read: ReadLine, words: Sequence[int] | None = None) -> str | None:
    """Return words of a line that can name a thing; None where none are read with confidence.

    words: the indices of the words that belong to the thing; None: all words. A single character at an end
    that is no word or number is dropped: it may be an icon.
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
    """Return the words of a line at these indices; None where one of them may be misread.

    alone: drop a separate mark at an end of the line, which may be an icon.
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
    """Return at most five words, with an ellipsis where there are more."""
    words = text.split()
    short = " ".join(words[:MOST_WORDS])
    if len(short) > LONGEST:
        return f"{short[: LONGEST - 1].rstrip()}{ELLIPSIS}"
    return short if len(words) <= MOST_WORDS else f"{short.rstrip('.,;:')} {ELLIPSIS}"


def same_words(before: str, after: str) -> bool:
    """Return whether two texts may be the same: similar letters, spaces and punctuation are ignored."""
    return _skeleton(before) == _skeleton(after)


def differing(before: str, after: str, whole: bool = False) -> Quotes | None:
    """Return the words of two lines between their common beginning and end; None where they cannot be quoted.

    Where words were only added or removed, a neighbour is quoted with them. whole: whether the lines are
    complete, so that both may be quoted entirely though some of their words are the same.
    """
    one, other = before.split(), after.split()
    if not one or not other or same_words("".join(one), "".join(other)):
        return None
    start = 0
    while start < min(len(one), len(other)) and _same_word(one[start], other[start]):
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and _same_word(one[-1 - end], other[-1 - end]):
        end += 1
    if start == end == 0 and set(one) & set(other) and not whole:
        return None  # other parts of a line may have been cut off
    if len(one) == start + end or len(other) == start + end:
        start, end = (start - 1, end) if start else (start, end - 1)
    quoted = [" ".join(words[start : len(words) - end]) for words in (one, other)]
    if same_words(*quoted) or max(map(len, quoted)) > LONGEST:
        return None
    if any(len(words) == 1 and words.isalpha() for words in quoted):
        return None  # a letter of another script may look like it
    return Quotes(*quoted)


def _same_word(one: str, other: str) -> bool:
    """Return whether two words are the same, though a letter may be read as its capital, if both have one
    shape."""
    if len(one) != len(other):
        return False
    return all(
        a == b or (a.lower() == b.lower() and a.lower() in _ONE_SHAPE)
        for a, b in zip(one, other, strict=True)
    )


def _skeleton(text: str) -> str:
    """Return a text in which similar letters are one letter, without spaces and punctuation."""
    plain = text.translate(_ALIKE_LETTERS).lower()
    for pair, letter in _ALIKE:
        plain = plain.replace(pair, letter)
    return "".join(sign for sign in plain if sign.isalnum())


def _without_marks(words: Sequence[RecognisedWord]) -> list[RecognisedWord]:
    """Return the words without a separate mark at either end that may be an icon."""
    left = list(words)
    while left and _is_mark(left[0].text, left[0].certainty):
        left.pop(0)
    while left and _is_mark(left[-1].text, left[-1].certainty):
        left.pop()
    return left


def _is_mark(text: str, certainty: float) -> bool:
    """Return whether the text at an end of a line may be an icon: no word and no number."""
    if certainty < LEGIBLE or not any(sign.isalnum() for sign in text):
        return True
    return (
        len(text) == 1 and text.isalpha() and text not in "aAI" and unicodedata.name(text).startswith("LATIN")
    )


def _is_known(text: str) -> bool:
    """Return whether the text consists of scripts and signs that are read reliably."""
    return all(
        sign.isascii() or sign in _SIGNS or unicodedata.name(sign, "").startswith(_SCRIPTS) for sign in text
    )
