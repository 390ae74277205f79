"""A model of regions answers: it makes statements of the places that the measurement proposes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whatchanged import words
from whatchanged.answers.answer import Answer
from whatchanged.answers.installed import Installed
from whatchanged.answers.pair import ReadPair
from whatchanged.answers.verdict import Says, verdict_of
from whatchanged.captioner.colors import unlike_a_screen
from whatchanged.images import PictureSource
from whatchanged.measured import Measured, Statement
from whatchanged.measured.pixels.boxes import iou
from whatchanged.measured.rules import sentences
from whatchanged.measured.rules.predicates import is_exact

if TYPE_CHECKING:
    from whatchanged.regions.runtime import RegionDescription, RegionModel


FACTS = ("turn", "canvas", "axis limit", "opacity", "theme", "shadow", "length")
"""Finer words of what is measured of the whole picture, or exactly: no model knows it better."""
EXACT = {
    "decoration": 0.7,
    "weight": 0.7,
    "slant": 0.7,
    "struck": 0.7,
    "text size": 0.7,
    "ink": 0.6,
    "fill": 0.75,
    "palette": 0.6,
    "data": 0.5,
    "contrast": 0.5,
}
"""Finer words of what is measured of one thing, with the confidence from which on that is sure, so that a
model may only name the thing."""
SAME_BOX = 0.5
"""Intersection over union from which on a model's statement is about the place of a measured one."""
FAR_APART = 100
"""How many times as large one picture is as the other where nothing can be said but their sizes."""


class StatementModel(Installed):
    """A model that makes statements of regions. It begins where the measurement stands."""

    def build(self) -> "RegionModel":
        """The model, ready to run; built when it is first asked for. Raises BundleError."""
        return self._regions

    @cached_property
    def _regions(self) -> "RegionModel":
        from whatchanged.regions.runtime import RegionModel

        return RegionModel(self.bundle, self._threads)

    def distances(self, pairs: Sequence[ReadPair]) -> list[float | None]:
        """How unlike a screen the stranger of each pair's pictures is; 0 where the model was named.

        Its graph is not needed for that. None from a model that cannot tell.
        """
        return [0.0 if self.named else self._distance(pair) for pair in pairs]

    def answer(self, pair: ReadPair) -> Answer | None:
        """The model's statements; None where the measured answer is all that there is to say."""
        measured = pair.measured
        if _is_settled(pair, measured):
            return None
        told = self.build().describe(pair.compared, measured)
        if not told.statements and measured.changed:
            return None  # the model has no words for what is seen
        distance = self._distance(pair)
        unfamiliar = None if distance is None else distance > 1
        return of_statements(self.card.name, told, measured, unfamiliar, pair.sources)

    def _distance(self, pair: ReadPair) -> float | None:
        """How far a pair is from what the model knows, whether it was named or not; computed once."""
        known = self.card.in_distribution
        if known is None:
            return None
        if self not in pair.distances:
            pair.distances[self] = max(
                unlike_a_screen(picture, known.threshold) for picture in pair.shown_on_white
            )
        return pair.distances[self]


def _is_settled(pair: ReadPair, measured: Measured) -> bool:
    """Whether the measurement has said all: no statement can be added to it, or none was asked for.

    So it is where the pictures are the same, were turned as a whole, or differ in what no look shows; where
    every pixel counts, or faint differences do not; where places of two sizes are ignored, in which a
    model would look all the same; and where one picture is next to nothing beside the other.
    """
    small, large = sorted(width * height for width, height in (measured.size_before, measured.size_after))
    masked = bool(pair.ignore) and not pair.compared.one_size
    overlooked = pair.looking.threshold > 1 and not measured.changed  # as it was asked for
    if pair.looking.threshold == 0 or masked or overlooked or measured.notes or large > FAR_APART * small:
        return True
    return np.array_equal(pair.compared.before, pair.compared.after) or is_turn(measured)


def is_turn(measured: Measured) -> bool:
    """Whether the picture was turned or mirrored as a whole."""
    return any(one.values.get("aspect") == "turn" for one in measured.statements)


def with_facts(guesses: Sequence[Statement], measured: Measured) -> tuple[Statement, ...]:
    """A model's statements; or the measured ones, named as the model names them, where the first one of them
    stands.

    It stands where it is a fact about the whole picture or an exact measurement: that the picture was scaled,
    cropped or grew, that a thing moved or became larger by so many pixels, that a text became bolder or
    turned to another colour. A model may only name the thing.
    """
    if not guesses or not measured.statements or not stands(measured.statements[0]):
        return tuple(guesses)
    first, *further = measured.statements
    size = measured.size_before if first.box_after is None else measured.size_after
    return _named(first, guesses, size), *further


def stands(statement: Statement) -> bool:
    """Whether a measured statement is one that no model replaces."""
    values = statement.values
    moved = statement.kind == "moved" and not statement.follows and (values.get("dx") or values.get("dy"))
    measured = statement.confidence >= EXACT.get(str(values.get("aspect")), 2)
    return bool(moved) or values.get("aspect") in FACTS or (measured and is_exact(statement.kind, values))


def _named(statement: Statement, guesses: Sequence[Statement], size: tuple[int, int]) -> Statement:
    """A measured statement with the element that a model sees at its place."""
    element = next((one.element for one in guesses if one.element and _overlap(statement, one)), None)
    if element is None or statement.element is not None:
        return statement
    named = replace(statement, element=element)
    return sentences.reword(named, sentences.plain_subject(named, size), size)


def _overlap(one: Statement, other: Statement) -> bool:
    """Whether two statements are about one place, in either picture."""
    pairs = ((one.box_before, other.box_before), (one.box_after, other.box_after))
    return any(a is not None and b is not None and iou(a, b) >= SAME_BOX for a, b in pairs)


def of_statements(
    name: str,
    description: "RegionDescription",
    measured: Measured,
    unfamiliar: bool | None,
    sources: tuple[PictureSource, PictureSource] | None = None,
) -> Answer:
    """A model's statements as the answer.

    The measured verdict is the floor (``verdict_of``): where a change is found that the model denies and the
    measurement is not sure of, the answer says that perhaps nothing changed.
    """
    says = Says(description.changed, by_statements=True, tells=bool(description.statements))
    ruling = verdict_of(says, measured)
    changes, sentence = with_facts(description.statements, measured), words.capitalised(words.NOISE)
    if ruling.verdict == "changed":
        sentence = sentences.together(changes)
    elif changes and measured.verdict == "changed":
        sentence = f"Perhaps {words.NOISE}; if anything: {words.lowered(changes[0].sentence)}"
    else:
        changes = ()
    return Answer(
        sentence=sentence,
        no_change=description.no_change,
        verdict=ruling.verdict,
        doubtful=ruling.doubtful,
        answer=name,
        size_before=measured.size_before,
        size_after=measured.size_after,
        changes=changes,
        unfamiliar=unfamiliar,
        measured=measured,
        sources=sources,
    )
