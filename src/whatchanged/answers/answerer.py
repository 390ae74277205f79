"""Who answers: the model that knows the pictures, or the measurement."""

import functools
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from whatchanged.answers.answer import Answer, of_measured, of_model, of_statements
from whatchanged.answers.models import Model, StatementModel, asked_models
from whatchanged.answers.pair import ReadPair, read_pair
from whatchanged.answers.quoted import quoted
from whatchanged.captioner.onnx_graphs import checked_count, checked_threads
from whatchanged.errors import ImageError
from whatchanged.images import PictureSource, check_size, kept, name_of
from whatchanged.measured import Box, Measured
from whatchanged.measured.measure import check_sensitivity, of_same_bytes
from whatchanged.measured.reading import same_bytes
from whatchanged.text import read_quotes
from whatchanged.text.recogniser import require_recogniser

if TYPE_CHECKING:
    from whatchanged.captioner.runtime import Description

HELD = 50_000_000
"""Pixels of pairs that wait for an answer: once they are so many, no further pair is read before that."""


class Answerer:
    """Gives the answer for pairs of pictures. Models are loaded when pictures need them, and kept.

    Where an installed model knows both pictures, its sentence stands; but not over pictures with the same
    pixels, and not where it says that nothing changed, something visible did, and neither viewpoint nor light
    explains that in the model's world. There, and where no model knows the pictures, the measured answer is
    the answer. A model that was named is never overruled: its sentence stands, and the verdict tells where
    the measured answer differs.

    A model that makes statements begins where the measurement stands: pictures that are the same, that were
    turned, or whose difference no look at them shows, are the measurement's; so are two sizes with places to
    be ignored, and whatever is looked at strictly.

    >>> from whatchanged.answers import Answerer
    >>> answerer = Answerer()
    >>> answer = answerer.answer("before.png", "after.png")
    >>> answer.sentence, answer.answer
    ('the large red metal cube has been added', 'clevr-pcl')
    >>> answerer.answer("before.png", "before.png").verdict
    'identical'
    """

    def __init__(
        self,
        model: str | Path | None = None,
        sensitivity: float = 1.0,
        strict: bool = False,
        threads: int | None = None,
        beams: int = 1,
        read_text: bool = False,
    ) -> None:
        """Which model answers, and how closely is looked.

        model        a shipped model's name or a model folder: its sentence stands in any case; None: of the
                     installed models whichever knows the pictures
        sensitivity  2 finds differences half as strong as 1 does
        strict       every pixel that differs is a change, also where a world's viewpoint or light may differ
        threads      how many a model's operators may use; None: at most two
        beams        hypotheses that a model keeps; 1 is greedy
        read_text    text that changed is quoted, where it is read beyond doubt

        Raises BundleError for a model that cannot be used, WhatchangedError for a wrong sensitivity or where
        threads or beams are no whole numbers from 1, MissingExtra where text is to be read and the extra
        "text" is not installed.
        """
        check_sensitivity(sensitivity)
        self.sensitivity = sensitivity
        self.strict = strict
        self.beams = checked_count("beams", beams)
        self.read_text = read_text
        if read_text:
            require_recogniser()
        self.named = None if model is None else str(model)
        """The model that was named."""
        self.insists = model is not None
        """Whether a model was named, whose sentence then stands."""
        self.models = asked_models(model, checked_threads(threads))
        """The models that may answer. Only one that was named is built before it is needed."""
        if self.insists:
            self.models[0].build()

    def answer(self, before: PictureSource, after: PictureSource, ignore: Sequence[Box] = ()) -> Answer:
        """The answer for one pair.

        ignore: boxes of both pictures in which differences do not count. Raises ImageError.
        """
        (found,) = self.answer_batch([(before, after)], ignore)
        if isinstance(found, ImageError):
            raise found
        return found

    def answer_batch(
        self, pairs: Sequence[tuple[PictureSource, PictureSource]], ignore: Sequence[Box] = ()
    ) -> list[Answer | ImageError]:
        """The answers for several pairs; a pair whose pictures cannot be used has its error instead."""
        found: list[Answer | ImageError] = []
        begun: deque[Answer | ImageError | ReadPair] = deque()
        held = 0
        for before, after in pairs:
            pair = self._begin(before, after, ignore)
            begun.append(pair)
            held += pair.pixels if isinstance(pair, ReadPair) else 0
            if held >= HELD:  # the others are read once these are answered
                found += self._finish(begun)
                held = 0
        return found + self._finish(begun)

    def _finish(self, begun: deque[Answer | ImageError | ReadPair]) -> list[Answer | ImageError]:
        """The answers for pairs that were begun, which are let go one by one."""
        said = self._ask_models({i: pair for i, pair in enumerate(begun) if isinstance(pair, ReadPair)})
        found: list[Answer | ImageError] = []
        for i in range(len(begun)):
            pair = begun.popleft()  # what was computed of it goes once it is answered
            found.append(self._end(pair, said.get(i)) if isinstance(pair, ReadPair) else pair)
        return found

    def _begin(
        self, before: PictureSource, after: PictureSource, ignore: Sequence[Box]
    ) -> Answer | ImageError | ReadPair:
        """A pair's answer where no model is asked; what is wrong with its pictures; or the pictures."""
        try:
            before, after = kept(before), kept(after)
            if not self.insists and same_bytes(before, after):
                return replace(of_measured(of_same_bytes(before, ignore)), sources=(before, after))
            pair = read_pair(before, after, ignore)
            if self.insists:
                for source, picture in zip(pair.sources, pair.pictures, strict=True):
                    check_size(picture.size, name_of(source))
            elif pair.same:
                return self._of_measured(pair, self._measure(pair))
        except ImageError as error:
            return error
        return pair

    def _ask_models(self, pairs: Mapping[int, ReadPair]) -> dict[int, tuple[Model, "Description"]]:
        """What a model says of each pair that one knows; of two that know a pair the nearer one speaks."""
        said: dict[int, tuple[Model, Description]] = {}
        for model in self.models:
            if isinstance(model, StatementModel):
                continue
            read = model.read if self.insists else model.read_if_known
            found = {i: read(*pair.shown) for i, pair in pairs.items()}
            asked = {i: pixels for i, pixels in found.items() if pixels is not None}
            if not asked:
                continue
            described = model.build().describe_pixels(np.stack(list(asked.values())), self.beams)
            for i, description in zip(asked, described, strict=True):
                knows = self.insists or not description.unfamiliar
                if knows and (i not in said or _distance(description) < _distance(said[i][1])):
                    said[i] = model, replace(description, sources=pairs[i].sources)
        return said

    def _end(self, pair: ReadPair, said: "tuple[Model, Description] | None") -> Answer | ImageError:
        """The pair's answer, or what is wrong with its later frames, which are read only now."""
        try:
            return self._of_pair(pair, said)
        except ImageError as error:
            return error

    def _of_pair(self, pair: ReadPair, said: "tuple[Model, Description] | None") -> Answer:
        """The answer of whoever knows the pictures best."""
        least = math.inf if self.insists else 1.0 if said is None else _distance(said[1])
        best: tuple[StatementModel, float | None] | None = None
        for model in self.models:
            if isinstance(model, StatementModel):
                distance = model.distance(pair.compared.before, pair.compared.after)
                if self.insists or (distance is not None and distance <= least):
                    best, least = (model, distance), distance or 0.0
        if best is not None:
            return self._of_statements(pair, *best)
        if said is None:
            return self._of_measured(pair, self._measure(pair))
        return self._of_model(pair, *said)

    def _of_statements(self, pair: ReadPair, model: StatementModel, distance: float | None) -> Answer:
        """The model's statements, or the measured answer where that is all there is to say."""
        measured = self._measure(pair)
        compared = pair.compared
        masked = bool(pair.ignore) and not compared.one_size
        overlooked = self.sensitivity < 1 and not measured.changed  # as it was asked for
        settled = self.strict or masked or overlooked or bool(measured.notes)
        if settled or np.array_equal(compared.before, compared.after) or is_turn(measured):
            return self._of_measured(pair, measured)
        told = model.build().tell(compared, measured, read_quotes if self.read_text else None)
        unfamiliar = None if distance is None else distance > 1
        return replace(of_statements(model.card.name, told, measured, unfamiliar), sources=pair.sources)

    def _of_measured(self, pair: ReadPair, measured: Measured) -> Answer:
        """The measured answer."""
        return replace(of_measured(self._with_text(pair, measured)), sources=pair.sources)

    def _measure(self, pair: ReadPair) -> Measured:
        """What is measured."""
        return pair.measure(self.sensitivity, self.strict)

    def _with_text(self, pair: ReadPair, measured: Measured) -> Measured:
        """What was measured, with the text that was read."""
        if not self.read_text:
            return measured
        before, after = (picture.on_white for picture in pair.pictures)
        return quoted(measured, before, after)

    def _of_model(self, pair: ReadPair, model: Model, description: "Description") -> Answer:
        """The model's answer with the measured one as its floor."""
        measured = None
        if pair.same or not (description.changed or self._explains(model, description)):
            measured = self._with_text(pair, self._measure(pair))
        if measured is not None and measured.changed and not self.insists:
            return replace(of_measured(measured), sources=pair.sources)
        sizes = (pair.pictures[0].size, pair.pictures[1].size)
        return replace(of_model(model.card.name, description, measured, sizes), sources=pair.sources)

    def _explains(self, model: Model, description: "Description") -> bool:
        """Whether viewpoint and light may be all that differs, though nothing changed."""
        return not self.strict and not description.unfamiliar and model.explains_view_and_light


@functools.cache
def _shared() -> Answerer:
    """The answerer behind ``describe``: its models are loaded once."""
    return Answerer()


def describe(before: PictureSource, after: PictureSource) -> Answer:
    """The answer for one pair, of the model that knows the pictures, or else measured.

    A picture is a path, the bytes of a file, an open file, a Pillow picture or an array. Models are kept once
    they are loaded. An ``Answerer`` has settings and takes many pairs at a time. Raises ImageError.

    >>> import whatchanged
    >>> answer = whatchanged.describe("before.png", "after.png")
    >>> answer.sentence
    'the large red metal cube has been added'
    >>> answer.verdict, answer.doubtful, answer.answer
    ('changed', False, 'clevr-pcl')
    """
    return _shared().answer(before, after)


def is_turn(measured: Measured) -> bool:
    """Whether the picture was turned or mirrored as a whole."""
    return any(one.values.get("aspect") == "turn" for one in measured.statements)


def _distance(description: "Description") -> float:
    """How far the stranger of the two pictures is from what the model knows."""
    return max(description.ood_distance or (0.0,))
