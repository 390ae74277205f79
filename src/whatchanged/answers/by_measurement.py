"""The measurement answers: what is counted in any two pictures."""

from collections.abc import Sequence

from whatchanged.answers.answer import MEASURED, Answer
from whatchanged.answers.pair import ReadPair
from whatchanged.images import PictureSource
from whatchanged.measured import Measured


class Measurement:
    """Answers for any two pictures, and so for those that no model knows better."""

    def distances(self, pairs: Sequence[ReadPair]) -> list[float]:
        """The limit for every pair: a model that knows it at all is at least as near."""
        return [1.0] * len(pairs)

    def answer(self, pair: ReadPair) -> Answer:
        """What was measured. Raises ImageError."""
        return of_measured(pair.measured_with_text, pair.sources)


def of_measured(found: Measured, sources: tuple[PictureSource, PictureSource] | None = None) -> Answer:
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
        sources=sources,
    )
