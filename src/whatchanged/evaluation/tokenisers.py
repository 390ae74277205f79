"""The two ways in which published scores cut captions into words; every report names the one used."""

from collections.abc import Callable

from whatchanged.evaluation.ptb import ptb


def plain(caption: str) -> str:
    """As it is: PCL's authors score captions without a tokeniser; case and punctuation count."""
    return caption


TOKENISERS: dict[str, Callable[[str], str]] = {"ptb": ptb, "plain": plain}
