"""Parse sentences about screens into their claims.

A sentence has one statement for each change. The statements are separated by "; " or ", and ". A statement
may end with a consequence of the change: ", which moved the rest down by 48 pixels".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from whatchanged.worlds.screens.slots import STEP, pattern_of
from whatchanged.worlds.screens.templates import NO_CHANGE, TEMPLATES, Template

_BETWEEN = re.compile(r'"|; |, and ')
_FOLLOWED = re.compile(r"(?P<said>.+), which moved the rest (?P<rest>.+)", re.IGNORECASE)


@dataclass(frozen=True)
class ReadStatement:
    """The claims of one statement: its template and the words in its slots.

    rest: the stated movement of the other elements; "" if none is stated.
    """

    template: Template
    stated: Mapping[str, str]
    rest: str = ""


@dataclass(frozen=True)
class ReadSentence:
    """The claims of a sentence: all possible parses of each statement.

    ``statements`` is empty if the sentence says that nothing changed.
    """

    statements: tuple[tuple[ReadStatement, ...], ...]

    @property
    def unchanged(self) -> bool:
        """Return whether the sentence says that nothing changed."""
        return not self.statements


def read(sentence: str) -> ReadSentence | None:
    """Return the claims of a sentence, or None if it is not in the world's language.

    Case and repeated spaces are ignored. A full stop at the end is optional.
    """
    plain = re.sub(r"\s+", " ", sentence).strip().removesuffix(".").strip()
    if plain.lower() in NO_CHANGE:
        return ReadSentence(())
    results = []
    for part in _parts(plain):
        readings = _readings(part)
        if not readings:
            return None
        results.append(readings)
    return ReadSentence(tuple(results))


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of a text between "; " and ", and ". Separators inside quotations are ignored."""
    left, start = text.count('"'), 0
    for found in _BETWEEN.finditer(text):
        if found[0] == '"':
            left -= 1
        elif left % 2 == 0:
            yield text[start : found.start()]
            start = found.end()
    yield text[start:]


def _readings(text: str) -> tuple[ReadStatement, ...]:
    """Return all possible parses of one statement; () if there is none."""
    followed = _FOLLOWED.fullmatch(text)
    rest = followed["rest"].lower() if followed else ""
    if rest and not re.fullmatch(_rest_pattern(), rest):
        return ()
    said = followed["said"] if followed else text
    results = []
    for template, pattern in _compiled():
        match = pattern.fullmatch(said)
        if match:
            values = {name: value for name, value in match.groupdict().items() if value is not None}
            results.append(ReadStatement(template, {n: _lowered(n, v) for n, v in values.items()}, rest))
    return tuple(results)


def _lowered(name: str, value: str) -> str:
    """Return the words in a slot in lower case. Quotations are returned unchanged."""
    return value if name in ("name", "called", "text_before", "text_after") else value.lower()


@cache
def _rest_pattern() -> str:
    return rf"{STEP}(?: and {STEP})?"


@cache
def _compiled() -> tuple[tuple[Template, re.Pattern[str]], ...]:
    return tuple((template, re.compile(pattern_of(template), re.IGNORECASE)) for template in TEMPLATES)
