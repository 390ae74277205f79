"""The measured answer, as one of the answers: it works for any two pictures."""

from collections.abc import Sequence

from whatchanged.answers.answer import MEASURED, Answer
from whatchanged.answers.pair import ReadPair
from whatchanged.answers.verdict import only_ignored
from whatchanged.images import PictureSource
from whatchanged.measured import Measured
from whatchanged.measured.policy import DEFAULT, Policy


class Measurement:
    """Answers for any two pictures, and so for every pair that no model knows better."""

    def distances(self, pairs: Sequence[ReadPair]) -> list[float]:
        """Return the limit as the distance of every pair: every model within its own limit is at least as
        near.
        """
        return [1.0] * len(pairs)

    def answer(self, pair: ReadPair) -> Answer:
        """Return the measured answer. Raises ImageError."""
        answer = of_measured(pair.measured, pair.sources, pair.looking.policy, pair.ignored)
        return only_ignored(answer, pair)


def of_measured(
    measured: Measured,
    sources: tuple[PictureSource, PictureSource] | None = None,
    policy: Policy = DEFAULT,
    ignored: float = 0.0,
) -> Answer:
    """Return the measured answer as an ``Answer``; ``Answer`` documents the fields that are not measured."""
    return Answer(
        sentence=measured.sentence,
        no_change=measured.no_change,
        verdict=measured.verdict,
        doubtful=measured.doubtful,
        answer=MEASURED,
        size_before=measured.size_before,
        size_after=measured.size_after,
        changes=measured.statements,
        measured=measured,
        sources=sources,
        policy=policy.name,
        ignored=ignored,
    )
