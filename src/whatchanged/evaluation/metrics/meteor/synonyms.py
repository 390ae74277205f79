"""Synonyms as METEOR 1.5 finds them: words that share a sense in WordNet, with their endings or without."""

from collections.abc import Mapping
from dataclasses import dataclass

_ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("s", ""),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
)
"""What is taken off and put in its place, in the order in which the program tries it."""


@dataclass(frozen=True)
class Synonyms:
    """WordNet as the program's jar holds it."""

    senses: Mapping[str, str]
    """A word, its blanks written as underscores, to the numbers of its senses."""
    bases: Mapping[str, tuple[str, ...]]
    """An irregular form to the words that it is a form of."""

    def of(self, word: str) -> frozenset[str]:
        """The numbers of all senses of a word: its own, and those of the words that it is a form of."""
        bases = self.bases.get(word) or (self._base(word),)
        return frozenset(number for form in (word, *bases) for number in self.senses.get(form, "").split())

    def _base(self, word: str) -> str:
        """The word without the first ending that leaves another word; the word itself where none does."""
        if len(word) <= 2 or word.endswith("ss"):
            return word
        for ending, instead in _ENDINGS:
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + instead
                if base in self.senses:
                    return base
        return word


def read_synonyms(senses: str, exceptions: str) -> Synonyms:
    """From the texts of ``english.synsets`` and ``english.exceptions``: a word on a line, its own below."""
    lines = senses.splitlines()
    irregular = exceptions.splitlines()
    bases: dict[str, tuple[str, ...]] = {}
    for base, forms in zip(irregular[::2], irregular[1::2], strict=True):
        for form in forms.split():
            bases[form] = (*bases.get(form, ()), base)
    return Synonyms(dict(zip(lines[::2], lines[1::2], strict=True)), bases)
