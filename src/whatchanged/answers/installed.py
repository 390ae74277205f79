"""A model on disk, of which only the card has been read."""

from whatchanged.captioner.bundle import Bundle
from whatchanged.captioner.card import Card


class Installed:
    """A model on disk; whoever answers by one builds it when it is first needed."""

    def __init__(self, bundle: Bundle, threads: int | None = None, named: bool = False) -> None:
        """How the model is asked.

        threads: how many an operator may use; None: at most two. named: a person named the model, which then
        answers for any pictures.
        """
        self.bundle = bundle
        self.named = named
        self._threads = threads

    @property
    def card(self) -> Card:
        """What is known of the model."""
        return self.bundle.card
