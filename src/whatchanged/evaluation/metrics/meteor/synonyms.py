"""Synonyms as in METEOR 1.5: words that share a sense in WordNet, with or without their endings."""

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
"""Endings and their replacements, in the order in which the program tries them."""


@dataclass(frozen=True)
class Synonyms:
    """WordNet as stored in the program's jar."""

    senses: Mapping[str, str]
    """A word, with underscores for blanks, -> the numbers of its senses."""
    bases: Mapping[str, tuple[str, ...]]
    """An irregular form -> its base forms."""

    def of(self, word: str) -> frozenset[str]:
        """Return the numbers of all senses of a word: its own, and those of its base forms."""
        bases = self.bases.get(word) or (self._base(word),)
        return frozenset(number for form in (word, *bases) for number in self.senses.get(form, "").split())

    def _base(self, word: str) -> str:
        """Return the word without the first ending that leaves another word; the word itself where none
        does.
        """
        if len(word) <= 2 or word.endswith("ss"):
            return word
        for ending, instead in _ENDINGS:
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + instead
                if base in self.senses:
                    return base
        return word


def read_synonyms(senses: str, exceptions: str) -> Synonyms:
    """Read ``english.synsets`` and ``english.exceptions``: a word on one line, its entries on the next."""
    lines = senses.splitlines()
    irregular = exceptions.splitlines()
    bases: dict[str, tuple[str, ...]] = {}
    for base, forms in zip(irregular[::2], irregular[1::2], strict=True):
        for form in forms.split():
            bases[form] = (*bases.get(form, ()), base)
    return Synonyms(dict(zip(lines[::2], lines[1::2], strict=True)), bases)
