"""The two tokenisers of published scores; every report names the one that it used."""

from collections.abc import Callable, Sequence
from itertools import chain

from whatchanged.evaluation.metrics.ptb import ptb


def plain(caption: str) -> str:
    """Return the caption as it is: PCL's authors score without a tokeniser, so that case and punctuation
    count.
    """
    return caption


TOKENISERS: dict[str, Callable[[str], str]] = {"ptb": ptb, "plain": plain}


def tokenise(
    captions: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str
) -> tuple[list[str], list[list[str]]]:
    """Return candidates and references tokenised, with words separated by blanks; each distinct sentence is
    tokenised once.
    """
    split = TOKENISERS[tokenizer]
    words = {text: split(text) for text in {*captions, *chain.from_iterable(references)}}
    return [words[text] for text in captions], [[words[text] for text in own] for own in references]
