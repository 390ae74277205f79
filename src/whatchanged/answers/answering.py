"""The interface of everything that answers for pairs of pictures: a model, or the measurement."""

from collections.abc import Sequence
from typing import Protocol

from whatchanged.answers.answer import Answer
from whatchanged.answers.pair import ReadPair


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
