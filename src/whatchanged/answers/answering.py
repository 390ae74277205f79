"""What whoever answers for pairs of pictures does, a model or the measurement."""

from collections.abc import Sequence
from typing import Protocol

from whatchanged.answers.answer import Answer
from whatchanged.answers.pair import ReadPair


class Answering(Protocol):
    """Two duties: to tell how well a pair is known, and to answer.

    ``by_model`` and ``by_measurement`` have them. A new kind of model is one more such file, and a line in
    ``models.chosen_model``.
    """

    def distances(self, pairs: Sequence[ReadPair]) -> Sequence[float | None]:
        """How far each pair is from what is known here, 1 the limit; None where it is not known.

        Of several pairs at once, because a model that has to look at them for that looks at all side by side.
        From a model that was named 0: nobody is nearer.
        """
        ...

    def answer(self, pair: ReadPair) -> Answer | None:
        """The answer for a pair whose distance was asked; None where the measured one is the answer.

        Raises ImageError where the pair's later frames, which are read only now, cannot be used.
        """
        ...
