"""Choose who answers for a pair: a model trained on such pictures, or the measurement."""

import functools
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from whatchanged.answers.answer import MEASURED, Answer
from whatchanged.answers.by_measurement import Measurement, of_measured
from whatchanged.answers.models import candidate_models, who_answers
from whatchanged.answers.naming import with_names
from whatchanged.answers.pair import Looking, ReadPair
from whatchanged.errors import ImageError, MissingExtra
from whatchanged.images import PictureSource, check_size, kept, name_of
from whatchanged.launch import checked_count
from whatchanged.measured import Box
from whatchanged.measured.measure import check_sensitivity, of_same_bytes
from whatchanged.measured.pixels.boxes import covered_share
from whatchanged.measured.pixels.reading import read_picture, same_bytes
from whatchanged.measured.policy import DEFAULT, Policy, find_policy
from whatchanged.measured.rules.canvas import without_boxes
from whatchanged.text.recogniser import can_read
from whatchanged.words import percent

MOST_IGNORED = 0.5
"""The largest fraction of a picture that may be ignored."""
MOST_PENDING_PIXELS = 50_000_000
"""Limit on the pixels of pairs that wait for an answer: beyond it, no further pair is read."""


class Answering(Protocol):
    """Two duties: estimate how far a pair is from the training pictures, and answer.

    ``by_model`` and ``by_measurement`` implement it. A new kind of model is one more such file, and a line in
    ``models.chosen_model``.
    """

    def distances(self, pairs: Sequence[ReadPair]) -> Sequence[float | None]:
        """Return the distance of each pair from the training pictures, with 1 as the limit; None beyond it.

        The method takes several pairs, because a model that computes distances does so in batches. A model
        that the user named returns 0: no other is nearer.
        """
        ...

    def answer(self, pair: ReadPair) -> Answer | None:
        """Return the answer for a pair whose distance was computed; None where the measured answer is to be
        given.

        Raises ImageError where the pair's later frames, which are read only now, cannot be used.
        """
        ...


class Answerer:
    """Answers for pairs of pictures. Each model is loaded when the first pictures need it, and kept.

    The installed model whose training pictures are most like the pair answers (``Answering``); if both
    pictures are out of distribution for every model, the measurement answers. The measurement also overrules
    a model that denies a visible change (``verdict_of``). A model that the user named is never overruled: its
    sentence stands, and the verdict shows where the measured answer differs.

    Measured statements name things by the text in and beside their boxes (``naming``).

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
        """Choose the model and the settings of the comparison.

        model        a shipped model's name or a model folder, whose sentence always stands; "measured": no
                     model; None: the installed model whose training pictures are most like the pair
        sensitivity  2 finds differences half as strong as 1 does
        strict       every pixel that differs is a change, also where a world's viewpoint or light may differ
        threads      threads of a model's operators; None: at most two
        beams        hypotheses of a model's beam search; 1 is greedy
        read_text    name things by the text in and beside them, and quote text that changed; None: where the
                     extra "text" is installed
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
        """The reason why no text is read although it might have been: the recogniser is installed and cannot
        be loaded.
        """
        self._must_read = bool(read_text)
        self.named = None if model is None else str(model)
        """The named model, or "measured"."""
        self.insists = model is not None and model != MEASURED
        """Whether the user named a model, whose sentence then stands."""
        self.measurement = Measurement()
        threads = None if threads is None else checked_count("threads", threads)
        self.models = candidate_models(model, threads, self.beams)
        """The models that may answer. A model is built on first use, a named one at once."""
        if self.insists:
            self.models[0].build()

    def answer(
        self,
        before: PictureSource,
        after: PictureSource,
        ignore: Sequence[Box] = (),
        policy: Policy | None = None,
    ) -> Answer:
        """Return the answer for one pair.

        ignore: boxes in both pictures in which differences do not count. policy: replaces the answerer's.
        Raises ImageError, also where boxes cover more than half of the picture after (``MOST_IGNORED``).
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
        """Yield the answers for several pairs; a pair whose pictures cannot be used yields its error
        instead.
        """
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
        """Return the pair as read, its answer where no model is needed, or the error about its pictures."""
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
        """Yield the answers for pairs that were begun, and release each pair afterwards."""
        nearest = self._nearest([pair for pair in begun if isinstance(pair, ReadPair)])
        results: list[Answer | ImageError] = []
        while begun:
            pair = begun.popleft()  # what was computed of it goes once it is answered
            results.append(self._answer(nearest.popleft(), pair) if isinstance(pair, ReadPair) else pair)
        return results

    def _nearest(self, pairs: Sequence[ReadPair]) -> deque[Answering]:
        """Return who answers each pair: the model or measurement with the smallest distance; of equal ones,
        the later.
        """
        # All pairs before the next model: each reads its own side by side, and answers wait for all of them.
        nearest: deque[Answering] = deque([self.measurement] * len(pairs))
        least = self.measurement.distances(pairs)
        for model in self.models:
            for i, distance in enumerate(model.distances(pairs)):
                if distance is not None and distance <= least[i]:
                    nearest[i], least[i] = model, distance
        return nearest

    def _answer(self, nearest: Answering, pair: ReadPair) -> Answer | ImageError:
        """Return the pair's answer, or the error about its later frames, which are read only now."""
        try:
            answer = nearest.answer(pair)
            answer = self.measurement.answer(pair) if answer is None else answer
        except ImageError as error:
            return error
        return self._named(answer, pair) if self.read_text and answer.changes else answer

    def _named(self, answer: Answer, pair: ReadPair) -> Answer:
        """Return the answer with names read from the pictures; unchanged once the recogniser cannot be
        loaded.

        Raises MissingExtra in that case where text must be read.
        """
        try:
            return with_names(answer, *pair.on_white)
        except MissingExtra as error:
            if self._must_read:
                raise
            self.read_text, self.unread = False, f"No words are read. {error}"
            return answer


def read_pair(
    before: PictureSource, after: PictureSource, ignore: Sequence[Box], looking: Looking
) -> ReadPair:
    """Read both pictures. Raises ImageError, also where more is ignored than ``ignored_share`` allows."""
    pictures = read_picture(before), read_picture(after)
    share = ignored_share(ignore, pictures[1].size)
    was, now = (picture.opaque for picture in pictures)
    shown = was, without_boxes(now, was, ignore) if was.shape == now.shape else now
    return ReadPair((before, after), pictures, shown, tuple(ignore), share, looking)


def ignored_share(ignore: Sequence[Box], size: tuple[int, int]) -> float:
    """Return the fraction of a picture of this size that is ignored. Raises ImageError beyond
    ``MOST_IGNORED``.
    """
    share = covered_share(ignore, size) if ignore else 0.0
    if share > MOST_IGNORED:
        raise ImageError(
            f"Ignored places cover {percent(share)} of the picture; at most {percent(MOST_IGNORED)} may be"
            " ignored. Name smaller places."
        )
    return share


@functools.cache
def _shared(model: str | None, read_text: bool | None) -> Answerer:
    """Return the answerer behind ``describe``: its models are loaded once."""
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
    """Return the answer for one pair: by a model trained on such pictures, or else measured.

    policy: from which size on a change counts, by name or as a ``Policy``. ignore: boxes in both pictures
    (left, top, right, bottom in pixels) in which differences do not count.

    A picture is a path, the bytes of a file, an open file, a Pillow picture or an array. Models are kept once
    they are loaded. An ``Answerer`` has more settings and takes many pairs at a time.

    model      a shipped model's name or a model folder, which always answers; "measured": no model
    read_text  whether to read text and name things by it; None: where the extra "text" is installed

    Raises ImageError; BundleError for a model that cannot be used; MissingExtra where text is to be read and
    the extra "text" is not installed.

    >>> import whatchanged
    >>> answer = whatchanged.describe("before.png", "after.png")
    >>> answer.sentence
    'the large red metal cube has been added'
    >>> answer.verdict, answer.doubtful, answer.answer
    ('changed', False, 'clevr-pcl')
    """
    counted_by = find_policy(policy) if isinstance(policy, str) else policy
    return _shared(None if model is None else str(model), read_text).answer(before, after, ignore, counted_by)
