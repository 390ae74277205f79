"""The two ways in which published scores cut captions into words; every report names the one used."""

from collections.abc import Callable, Sequence
from itertools import chain

from whatchanged.evaluation.metrics.ptb import ptb


def plain(caption: str) -> str:
    """As it is: PCL's authors score captions without a tokeniser; case and punctuation count."""
    return caption


TOKENISERS: dict[str, Callable[[str], str]] = {"ptb": ptb, "plain": plain}


def tokenise(
    captions: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str
) -> tuple[list[str], list[list[str]]]:
    """Candidates and references, cut into words; each different sentence once."""
    cut = TOKENISERS[tokenizer]
    words = {text: cut(text) for text in {*captions, *chain.from_iterable(references)}}
    return [words[text] for text in captions], [[words[text] for text in own] for own in references]
