"""Who answers: the model that knows the pictures, or the measurement."""

import functools
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from whatchanged.answers.answer import MEASURED, Answer
from whatchanged.answers.answering import Answering
from whatchanged.answers.by_measurement import Measurement, of_measured
from whatchanged.answers.models import candidate_models, who_answers
from whatchanged.answers.naming import with_names
from whatchanged.answers.pair import Looking, ReadPair, ignored_share, read_pair
from whatchanged.errors import ImageError, MissingExtra
from whatchanged.images import PictureSource, check_size, kept, name_of
from whatchanged.launch import checked_count
from whatchanged.measured import Box
from whatchanged.measured.measure import check_sensitivity, of_same_bytes
from whatchanged.measured.pixels.reading import same_bytes
from whatchanged.measured.policy import DEFAULT, Policy, find_policy
from whatchanged.text.recogniser import can_read

MOST_PENDING_PIXELS = 50_000_000
"""Pixels of pairs that wait for an answer: once they are so many, no further pair is read before that."""


class Answerer:
    """Gives the answer for pairs of pictures. Models are loaded when pictures need them, and kept.

    Whoever is nearest to what it knows answers (``Answering``): an installed model that knows both pictures,
    or else the measurement. A model is overruled where it denies what can be seen (``verdict_of``); one that
    was named never is: its sentence stands, and the verdict tells where the measured answer differs.

    Measured statements are named by the words in and beside their places (``naming``).

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
        read_text: bool | None = None,
        policy: str | Policy = DEFAULT,
    ) -> None:
        """Which model answers, and how closely is looked.

        model        a shipped model's name or a model folder: its sentence stands in any case; "measured":
                     the measurement alone; None: of the installed models whichever knows the pictures
        sensitivity  2 finds differences half as strong as 1 does
        strict       every pixel that differs is a change, also where a world's viewpoint or light may differ
        threads      how many a model's operators may use; None: at most two
        beams        hypotheses that a model keeps; 1 is greedy
        read_text    things are named by the words in and beside them, and text that changed is quoted; None:
                     where the extra "text" is installed
        policy       from which size on a change counts: a policy or its name (``POLICIES``)

        Raises BundleError for a model that cannot be used, WhatchangedError for a wrong sensitivity or policy
        or where threads or beams are no whole numbers from 1, MissingExtra where text is to be read and the
        extra "text" is not installed.
        """
        model, told = who_answers(model)
        if told:
            warnings.warn(told, DeprecationWarning, stacklevel=2)
        check_sensitivity(sensitivity)
        self.sensitivity = sensitivity
        self.strict = strict
        self.policy = find_policy(policy) if isinstance(policy, str) else policy
        self.beams = checked_count("beams", beams)
        self.read_text = can_read(read_text)
        """Whether words are read."""
        self.unread = ""
        """Why they are not, though they might have been: the recogniser is installed and cannot be loaded."""
        self._must_read = bool(read_text)
        self.named = None if model is None else str(model)
        """The model that was named, or "measured"."""
        self.insists = model is not None and model != MEASURED
        """Whether a model was named, whose sentence then stands."""
        self.measurement = Measurement()
        threads = None if threads is None else checked_count("threads", threads)
        self.models = candidate_models(model, threads, self.beams)
        """The models that may answer. Only one that was named is built before it is needed."""
        if self.insists:
            self.models[0].build()

    def answer(
        self,
        before: PictureSource,
        after: PictureSource,
        ignore: Sequence[Box] = (),
        policy: Policy | None = None,
    ) -> Answer:
        """The answer for one pair.

        ignore: boxes of both pictures in which differences do not count. policy: in place of the answerer's.
        Raises ImageError, also where boxes cover more than half of the picture after (``pair.MOST_IGNORED``).
        """
        (found,) = self.answer_batch([(before, after)], ignore, policy)
        if isinstance(found, ImageError):
            raise found
        return found

    def answer_batch(
        self,
        pairs: Sequence[tuple[PictureSource, PictureSource]],
        ignore: Sequence[Box] = (),
        policy: Policy | None = None,
    ) -> list[Answer | ImageError]:
        """The answers for several pairs; a pair whose pictures cannot be used has its error instead."""
        results: list[Answer | ImageError] = []
        begun: deque[Answer | ImageError | ReadPair] = deque()
        held = 0
        looking = Looking(self.sensitivity, self.strict, policy or self.policy)
        for before, after in pairs:
            pair = self._begin(before, after, ignore, looking)
            begun.append(pair)
            held += pair.pixels if isinstance(pair, ReadPair) else 0
            if held >= MOST_PENDING_PIXELS:  # the others are read once these are answered
                results += self._finish(begun)
                held = 0
        return results + self._finish(begun)

    def _begin(
        self, before: PictureSource, after: PictureSource, ignore: Sequence[Box], looking: Looking
    ) -> Answer | ImageError | ReadPair:
        """The pair, read; its answer already where no model is asked; or what is wrong with its pictures."""
        try:
            before, after = kept(before), kept(after)  # a stream can be read once, and frames are read later
            if not self.insists and same_bytes(before, after):
                same = of_same_bytes(before, ignore)
                share = ignored_share(ignore, same.size_after)
                return of_measured(same, (before, after), looking.policy, share)
            pair = read_pair(before, after, ignore, looking)
            if self.insists:  # asked of any pictures, also of two that are the same
                for source, picture in zip(pair.sources, pair.pictures, strict=True):
                    check_size(picture.size, name_of(source))
            elif pair.same:
                return self.measurement.answer(pair)
        except ImageError as error:
            return error
        return pair

    def _finish(self, begun: deque[Answer | ImageError | ReadPair]) -> list[Answer | ImageError]:
        """The answers for pairs that were begun, which are let go one by one."""
        nearest = self._nearest([pair for pair in begun if isinstance(pair, ReadPair)])
        results: list[Answer | ImageError] = []
        while begun:
            pair = begun.popleft()  # what was computed of it goes once it is answered
            results.append(self._answer(nearest.popleft(), pair) if isinstance(pair, ReadPair) else pair)
        return results

    def _nearest(self, pairs: Sequence[ReadPair]) -> deque[Answering]:
        """Who answers each pair: whoever is nearest to what it knows; of two that are as near, the later."""
        # All pairs before the next model: each reads its own side by side, and answers wait for all of them.
        nearest: deque[Answering] = deque([self.measurement] * len(pairs))
        least = self.measurement.distances(pairs)
        for model in self.models:
            for i, distance in enumerate(model.distances(pairs)):
                if distance is not None and distance <= least[i]:
                    nearest[i], least[i] = model, distance
        return nearest

    def _answer(self, nearest: Answering, pair: ReadPair) -> Answer | ImageError:
        """The pair's answer, or what is wrong with its later frames, which are read only now."""
        try:
            answer = nearest.answer(pair)
            answer = self.measurement.answer(pair) if answer is None else answer
        except ImageError as error:
            return error
        return self._named(answer, pair) if self.read_text and answer.changes else answer

    def _named(self, answer: Answer, pair: ReadPair) -> Answer:
        """The answer with the names that can be read; as it is once the recogniser cannot be loaded.

        Raises MissingExtra in that case where words must be read.
        """
        try:
            return with_names(answer, *pair.on_white)
        except MissingExtra as error:
            if self._must_read:
                raise
            self.read_text, self.unread = False, f"No words are read. {error}"
            return answer


@functools.cache
def _shared(model: str | None, read_text: bool | None) -> Answerer:
    """The answerer behind ``describe``: its models are loaded once."""
    return Answerer(model, read_text=read_text)


def describe(
    before: PictureSource,
    after: PictureSource,
    policy: str | Policy = DEFAULT,
    ignore: Sequence[Box] = (),
    *,
    model: str | Path | None = None,
    read_text: bool | None = None,
) -> Answer:
    """The answer for one pair, of the model that knows the pictures, or else measured.

    policy: from which size on a change counts, by name or as a ``Policy``. ignore: boxes of both pictures,
    left, top, right and bottom, in which differences do not count.

    A picture is a path, the bytes of a file, an open file, a Pillow picture or an array. Models are kept once
    they are loaded. An ``Answerer`` has more settings and takes many pairs at a time.

    model      a shipped model's name or a model folder, to answer in any case; "measured": no model
    read_text  whether things are named by the words in and beside them; None: where the extra "text" is there

    Raises ImageError; BundleError for a model that cannot be used; MissingExtra where words must be read and
    cannot be.

    >>> import whatchanged
    >>> answer = whatchanged.describe("before.png", "after.png")
    >>> answer.sentence
    'the large red metal cube has been added'
    >>> answer.verdict, answer.doubtful, answer.answer
    ('changed', False, 'clevr-pcl')
    """
    counted_by = find_policy(policy) if isinstance(policy, str) else policy
    return _shared(None if model is None else str(model), read_text).answer(before, after, ignore, counted_by)
