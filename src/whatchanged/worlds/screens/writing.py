"""Write sentences about screens from the truth. ``reading`` describes the form of these sentences."""

from numpy.random import Generator

from whatchanged import words
from whatchanged.worlds.screens.slots import Naming, Size, fill, fits, known_nouns
from whatchanged.worlds.screens.templates import NO_CHANGE, TEMPLATES
from whatchanged.worlds.screens.truth import ScreenChange, ScreenTruth

MOST = 3
"""The largest number of changes that a sentence states."""
CAPTIONS = 5
"""The number of sentences that are written about a pair."""
FOLLOWED = 0.3
"""The fraction of statements that mention the consequence of a change, if there is one."""


def write_captions(truth: ScreenTruth, rng: Generator) -> tuple[str, ...]:
    """Return several true sentences about a pair, drawn at random and different if possible."""
    results: list[str] = []
    for _ in range(3 * CAPTIONS):
        sentence = write(truth, rng)
        if sentence not in results:
            results.append(sentence)
        if len(results) == CAPTIONS:
            break
    return tuple(results)


def write(truth: ScreenTruth, rng: Generator) -> str:
    """Return one true sentence in a wording drawn at random."""
    if not truth.changes:
        return words.capitalised(NO_CHANGE[int(rng.integers(len(NO_CHANGE)))])
    told = [_statement(change, truth, rng) for change in truth.changes[:MOST]]
    return words.capitalised((", and " if rng.random() < 0.3 else "; ").join(told))


def _statement(change: ScreenChange, truth: ScreenTruth, rng: Generator) -> str:
    able = [template for template in TEMPLATES if fits(template, change)]
    exact = [template for template in able if template.aspects or template.state or len(template.slots) > 1]
    # Wordings with more values are drawn more often, because most wordings of a kind state no value.
    choices = exact if exact and rng.random() < 0.65 else able
    template = choices[int(rng.integers(len(choices)))]
    nouns = known_nouns(change)
    noun = nouns[0] if rng.random() < 0.7 else nouns[int(rng.integers(len(nouns)))]
    naming = Naming(noun, named=bool(rng.random() < 0.25), with_position=bool(rng.random() < 0.5))
    text = fill(template, change, naming, _size(change, truth))
    followed = _rest(change)
    return f"{text}, which moved the rest {followed}" if followed and rng.random() < FOLLOWED else text


def write_plain(truth: ScreenTruth) -> str:
    """Return the sentence in the fixed wording without quotations.

    It uses the template that states the most, and it includes the position.
    """
    return _fixed(truth, named=False)


def write_full(truth: ScreenTruth) -> str:
    """Return the sentence in the fixed wording with quoted names and with the consequences of the change."""
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
        naming = Naming(known_nouns(change)[0], named=named, with_position=True)
        text = fill(template, change, naming, _size(change, truth))
        followed = _rest(change) if named else ""
        told.append(f"{text}, which moved the rest {followed}" if followed else text)
    return words.capitalised("; ".join(told))


def _size(change: ScreenChange, truth: ScreenTruth) -> Size:
    return truth.size_after if change.box_after is not None else truth.size_before


def _rest(change: ScreenChange) -> str:
    """Return the movement of most of the shifted elements, in words; "" if none moved."""
    for motion in change.consequences[:1]:
        return words.way(*motion.step)
    return ""
