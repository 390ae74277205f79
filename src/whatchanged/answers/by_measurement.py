"""The measurement answers: what is counted in any two pictures."""

from collections.abc import Sequence

from whatchanged.answers.answer import MEASURED, Answer
from whatchanged.answers.pair import ReadPair
from whatchanged.answers.verdict import only_ignored
from whatchanged.images import PictureSource
from whatchanged.measured import Measured
from whatchanged.measured.policy import DEFAULT, Policy


class Measurement:
    """Answers for any two pictures, and so for those that no model knows better."""

    def distances(self, pairs: Sequence[ReadPair]) -> list[float]:
        """The limit for every pair: a model that knows it at all is at least as near."""
        return [1.0] * len(pairs)

    def answer(self, pair: ReadPair) -> Answer:
        """What was measured. Raises ImageError."""
        answer = of_measured(pair.measured, pair.sources, pair.looking.policy, pair.ignored)
        return only_ignored(answer, pair)


def of_measured(
    measured: Measured,
    sources: tuple[PictureSource, PictureSource] | None = None,
    policy: Policy = DEFAULT,
    ignored: float = 0.0,
) -> Answer:
    """The measured answer as the answer; what is not measured: see ``Answer``."""
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
