"""Tokenise an English sentence as METEOR 1.5 does (its option ``-norm``): punctuation separated, lower case.

The rules are those of the released program, in its order; they go back to the tokeniser of Moses. A full stop
stays with an abbreviation ("mr.") and is removed from an acronym ("u.s." becomes "us"). The list of
abbreviations is part of the program.
"""

import re
from collections.abc import Mapping

_LETTERS = (
    "A-Za-z\u0160\u017d\u0161\u017e\u0178\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e"
    "\u0400-\u04ff\u0500-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
)
_WHITE = " \\t\\n\\x0b\\f\\r"
_SPACES = re.compile("[  \u2000-\u200a\u202f\u205f\u3000\u00a0]+")
_CONTROL = "".join(map(chr, range(33)))
"""The characters that Java's ``trim`` removes at both ends."""

ANYWHERE, BEFORE_NUMBERS = 1, 2
"""Where an abbreviation keeps its full stop."""

_BEFORE_DOTS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (rf"([^0-9{_LETTERS}{_WHITE}.'`,\-\u2018\u2019])", r" \1 "),
        (r"\.(\.+)", r" DOTMULTI\1"),
    )
)
_AFTER_DOTS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([^0-9]),([^0-9])", r"\1 , \2"),
        (r"([0-9]),([^0-9])", r"\1 , \2"),
        (r"([^0-9]),([0-9])", r"\1 , \2"),
        ("[`\u2018\u2019]", "'"),
        ("[\u201c\u201d]|''", ' " '),
        ("\u2013", "-"),
        ("--", "-"),
        (rf"([0-9{_LETTERS}.])-([0-9{_LETTERS}])", r"\1 \2"),
        (rf"([^{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (rf"([^{_LETTERS}0-9])'([{_LETTERS}])", r"\1 ' \2"),
        (rf"([{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (rf"([{_LETTERS}])'([{_LETTERS}])", r"\1 '\2"),
        (r"([0-9])'(s)", r"\1 '\2"),
    )
)
_ONE_OF_SEVERAL_DOTS = re.compile(r"DOTMULTI\.([^.])")
_LETTER = re.compile(f"[{_LETTERS}]")
_BLANKS = re.compile("[ \t\n\r\f]+")
_PLAIN = re.compile("[a-z0-9 ]*")
"""What no rule touches."""


def read_abbreviations(text: str) -> dict[str, int]:
    """Return abbreviation -> ANYWHERE or BEFORE_NUMBERS: one on each line, ``#`` starts a comment."""
    results = {}
    for line in text.splitlines():
        parts = line.split()
        if parts and not parts[0].startswith("#"):
            results[parts[0]] = BEFORE_NUMBERS if parts[1:2] == ["#NUMERIC_ONLY#"] else ANYWHERE
    return results


def words(sentence: str, abbreviations: Mapping[str, int]) -> list[str]:
    """Return the words of a sentence: for "The cube's red, isn't it?" the, cube, 's, red, ",", isn, 't, it,
    ?.
    """
    if _PLAIN.fullmatch(sentence):
        return sentence.split()
    text = f" {sentence} "
    for pattern, replacement in _BEFORE_DOTS:
        text = pattern.sub(replacement, text)
    # Rows of dots are hidden from the rules about single ones, and come back at the end.
    while "DOTMULTI." in text:
        text = _ONE_OF_SEVERAL_DOTS.sub(r"DOTDOTMULTI \1", text).replace("DOTMULTI.", "DOTDOTMULTI")
    for pattern, replacement in _AFTER_DOTS:
        text = pattern.sub(replacement, text)
    text = " ".join(_full_stops(_split(text), abbreviations))
    while "DOTDOTMULTI" in text:
        text = text.replace("DOTDOTMULTI", "DOTMULTI.")
    text = _SPACES.sub(" ", text.replace("DOTMULTI", ".")).strip(_CONTROL)
    return _split(text.lower())


def one_line(caption: str) -> str:
    """Return the caption without characters of the program's protocol: segment bars, line breaks, double
    blanks.
    """
    return " ".join(caption.replace("|||", "").encode("utf-8", "replace").decode().split())


def _split(text: str) -> list[str]:
    return [part for part in _BLANKS.split(text) if part]


def _full_stops(parts: list[str], abbreviations: Mapping[str, int]) -> list[str]:
    """Return the parts, with the full stop at the end of each separated or kept."""
    return [
        _full_stop(part, after, abbreviations) if len(part) > 1 and part.endswith(".") else part
        for part, after in zip(parts, [*parts[1:], ""], strict=False)
    ]


def _full_stop(part: str, after: str, abbreviations: Mapping[str, int]) -> str:
    stem = part[:-1]
    if "." in stem and _LETTER.search(stem):
        return part.replace(".", "")
    where = abbreviations.get(stem)
    if where == ANYWHERE or "a" <= after[:1] <= "z":
        return part
    if where == BEFORE_NUMBERS and "0" <= after[:1] <= "9":
        return part
    return f"{stem} ."
