"""Sentences about screens: written from the truth, and read into what they claim.

A sentence is one statement for each change, up to three, with "; " or ", and " between them. A statement may
end with what followed from the change: ", which moved the rest down by 48 pixels".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from numpy.random import Generator

from whatchanged.measured import words
from whatchanged.worlds.screens.slots import STEP, Naming, Size, fill, fits, known_nouns, pattern_of
from whatchanged.worlds.screens.templates import NO_CHANGE, TEMPLATES, Template
from whatchanged.worlds.screens.truth import Change, ScreenTruth

MOST = 3
"""Changes that a sentence tells."""
CAPTIONS = 5
"""Sentences that are written about a pair."""
FOLLOWED = 0.3
"""Share of the statements that tell what followed, where something did."""
_BETWEEN = re.compile(r'"|; |, and ')
_FOLLOWED = re.compile(r"(?P<said>.+), which moved the rest (?P<rest>.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """What one statement claims: a wording, and what stands in its slots. rest: how the rest moved, or ""."""

    template: Template
    said: Mapping[str, str]
    rest: str = ""


@dataclass(frozen=True)
class Sentence:
    """What a sentence claims: statements, each with all its readings; none where nothing changed."""

    statements: tuple[tuple[Statement, ...], ...]

    @property
    def unchanged(self) -> bool:
        """Whether it says that nothing changed."""
        return not self.statements


# Written


def write_captions(truth: ScreenTruth, rng: Generator) -> tuple[str, ...]:
    """Several true sentences about a pair, drawn at random, no two alike where that can be."""
    found: list[str] = []
    for _ in range(3 * CAPTIONS):
        sentence = write(truth, rng)
        if sentence not in found:
            found.append(sentence)
        if len(found) == CAPTIONS:
            break
    return tuple(found)


def write(truth: ScreenTruth, rng: Generator) -> str:
    """One true sentence in a wording drawn at random."""
    if not truth.changes:
        return words.capitalised(NO_CHANGE[int(rng.integers(len(NO_CHANGE)))])
    told = [_statement(change, truth, rng) for change in truth.changes[:MOST]]
    return words.capitalised((", and " if rng.random() < 0.3 else "; ").join(told))


def _statement(change: Change, truth: ScreenTruth, rng: Generator) -> str:
    able = [template for template in TEMPLATES if fits(template, change)]
    exact = [template for template in able if template.aspects or template.state or len(template.slots) > 1]
    # What tells more is drawn more often: kinds have many wordings that tell no value.
    choices = exact if exact and rng.random() < 0.65 else able
    template = choices[int(rng.integers(len(choices)))]
    nouns = known_nouns(change)
    noun = nouns[0] if rng.random() < 0.7 else nouns[int(rng.integers(len(nouns)))]
    naming = Naming(noun, named=bool(rng.random() < 0.25), placed=bool(rng.random() < 0.5))
    text = fill(template, change, naming, _size(change, truth))
    followed = _rest(change)
    return f"{text}, which moved the rest {followed}" if followed and rng.random() < FOLLOWED else text


def write_plain(truth: ScreenTruth) -> str:
    """The one sentence of fixed wording that quotes nothing: the first fitting template, with the place."""
    return _fixed(truth, named=False)


def write_full(truth: ScreenTruth) -> str:
    """The one sentence of fixed wording with names in quotes and what followed."""
    return _fixed(truth, named=True)


def _fixed(truth: ScreenTruth, named: bool) -> str:
    if not truth.changes:
        return words.capitalised(NO_CHANGE[0])
    told = []
    for change in truth.changes[:MOST]:
        able = [template for template in TEMPLATES if fits(template, change)]
        quoting = ("text_before", "text_after")
        able = [t for t in able if named or not any(slot in quoting for slot in t.slots)]
        template = max(able, key=lambda t: (bool(t.state), len(t.slots), bool(t.aspects)))
        naming = Naming(known_nouns(change)[0], named=named, placed=True)
        text = fill(template, change, naming, _size(change, truth))
        followed = _rest(change) if named else ""
        told.append(f"{text}, which moved the rest {followed}" if followed else text)
    return words.capitalised("; ".join(told))


def _size(change: Change, truth: ScreenTruth) -> Size:
    return truth.size_after if change.box_after is not None else truth.size_before


def _rest(change: Change) -> str:
    """How most of what followed moved, in words; "" where nothing did."""
    for motion in change.consequences[:1]:
        return words.way(*motion.step)
    return ""


# Read


def read(sentence: str) -> Sentence | None:
    """What a sentence claims; None where it is none of the world's language.

    Upper and lower case are the same, as are one blank and several. A full stop at the end may be there.
    """
    plain = re.sub(r"\s+", " ", sentence).strip().removesuffix(".").strip()
    if plain.lower() in NO_CHANGE:
        return Sentence(())
    found = []
    for part in _parts(plain):
        readings = _readings(part)
        if not readings:
            return None
        found.append(readings)
    return Sentence(tuple(found))


def _parts(text: str) -> Iterator[str]:
    """What stands between "; " or ", and ", where ahead every quotation that begins also ends."""
    left, start = text.count('"'), 0
    for found in _BETWEEN.finditer(text):
        if found[0] == '"':
            left -= 1
        elif left % 2 == 0:
            yield text[start : found.start()]
            start = found.end()
    yield text[start:]


def _readings(text: str) -> tuple[Statement, ...]:
    """Every way to read one statement; () where there is none."""
    followed = _FOLLOWED.fullmatch(text)
    rest = followed["rest"].lower() if followed else ""
    if rest and not re.fullmatch(_rest_pattern(), rest):
        return ()
    said = followed["said"] if followed else text
    found = []
    for template, pattern in _compiled():
        match = pattern.fullmatch(said)
        if match:
            values = {name: value for name, value in match.groupdict().items() if value is not None}
            found.append(Statement(template, {n: _lowered(n, v) for n, v in values.items()}, rest))
    return tuple(found)


def _lowered(name: str, value: str) -> str:
    """What stands in a slot, in small letters unless it is a quotation."""
    return value if name in ("name", "called", "text_before", "text_after") else value.lower()


@cache
def _rest_pattern() -> str:
    return rf"{STEP}(?: and {STEP})?"


@cache
def _compiled() -> tuple[tuple[Template, re.Pattern[str]], ...]:
    return tuple((template, re.compile(pattern_of(template), re.IGNORECASE)) for template in TEMPLATES)
