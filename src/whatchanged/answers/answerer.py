"""Who answers: the model that knows the pictures, or the measurement."""

from collections.abc import Sequence
from pathlib import Path

from whatchanged.answers.answer import MEASURED, Answer
from whatchanged.errors import ImageError
from whatchanged.images import Source
from whatchanged.measured import Box, Measured, measure


class Answerer:
    """Gives the answer for pairs of pictures. Models are loaded when a picture needs them, and kept."""

    def __init__(
        self,
        model: str | Path | None = None,
        sensitivity: float = 1.0,
        strict: bool = False,
        threads: int | None = None,
        beams: int = 1,
    ) -> None:
        """Which model answers, and how closely is looked.

        model        a shipped model's name or a model folder, which then answers in any case; None: whichever
                     of the installed ones knows the pictures
        sensitivity  2 finds differences half as strong as 1 does
        strict       every pixel that differs is a change
        threads      how many a model's operators may use; None: at most two
        beams        hypotheses that a model keeps; 1 is greedy
        """
        self.model = model
        self.sensitivity = sensitivity
        self.strict = strict
        self.threads = threads
        self.beams = beams

    def answer(self, before: Source, after: Source, ignore: Sequence[Box] = ()) -> Answer:
        """The answer for one pair.

        ignore: boxes of both pictures in which differences do not count. Raises ImageError.
        """
        return of_measured(measure(before, after, self.sensitivity, self.strict, ignore))

    def answer_batch(self, pairs: Sequence[tuple[Source, Source]]) -> list[Answer | ImageError]:
        """The answers for several pairs; a pair whose pictures cannot be used has its error instead."""
        found: list[Answer | ImageError] = []
        for before, after in pairs:
            try:
                found.append(self.answer(before, after))
            except ImageError as error:
                found.append(error)
        return found


def of_measured(found: Measured) -> Answer:
    """The measured answer as the answer."""
    return Answer(
        sentence=found.sentence,
        no_change=found.no_change,
        verdict=found.verdict,
        doubtful=found.doubtful,
        answer=MEASURED,
        size_before=found.size_before,
        size_after=found.size_after,
        changes=found.statements,
        measured=found,
    )
