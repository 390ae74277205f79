"""Find the words of a caption that match words of a reference: exactly, by stem, as synonyms or as
paraphrases.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whatchanged.evaluation.metrics.meteor.alignment import Match, match_of
from whatchanged.evaluation.metrics.meteor.tables import Tables

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
Words = tuple[str, ...]
_Beginnings = dict[str, tuple[int | None, "_Beginnings"]]
"""A word -> the phrase that ends with it, if any, and the words that follow in longer phrases."""


@dataclass(frozen=True, slots=True)
class MeteorSentence:
    """A sentence with its entries in the tables. Phrases are indices into those of its ``Matcher``."""

    words: Words
    positions: Mapping[str, Sequence[int]]
    """A word -> its positions."""
    phrases: Sequence[tuple[int, int]]
    """First word and index of each phrase that has paraphrases; sorted by first word, then by length."""
    phrase_positions: Mapping[int, Sequence[int]]
    """A phrase, or a paraphrase, -> the positions at which it begins."""
    paraphrases: frozenset[int]
    """All paraphrases of all phrases."""
    matched: dict[str, list[tuple[int, int]]]
    """A cache for words of other sentences: kind of match and positions, in order."""


class Matcher:
    """Matches sentences with each other; its tables are reduced to the words of these sentences."""

    def __init__(self, tables: Tables, sentences: Iterable[Words]) -> None:
        """Look up all words and phrases of the sentences once."""
        sentences = list(dict.fromkeys(sentences))
        self._alike = _alike_words({word for sentence in sentences for word in sentence}, tables)
        paraphrases = tables.paraphrases(sentences)
        known = dict.fromkeys([*paraphrases, *(other for own in paraphrases.values() for other in own)])
        numbers = {phrase: number for number, phrase in enumerate(known)}
        self._lengths = [len(phrase) for phrase in numbers]
        self._paraphrases = {
            numbers[phrase]: [numbers[other] for other in own] for phrase, own in paraphrases.items()
        }
        beginnings = _beginnings(numbers)
        self.sentences = {sentence: self._sentence(sentence, beginnings) for sentence in sentences}

    def matches(self, caption: Words, reference: Words) -> list[list[Match]]:
        """Return all matches, by the word of the reference at which they begin, in the order of the
        program's.
        """
        caption_side, reference_side = self.sentences[caption], self.sentences[reference]
        results = [self._of_word(word, at, caption_side) for at, word in enumerate(reference)]
        if _same_keys(caption, reference):
            return [[match for match in own if match.kind == EXACT] for own in results]
        for at, width, start, length in self._pairs(reference_side, caption_side):
            results[at].append(match_of(PARAPHRASE, start, length, at, width))
        for start, length, at, width in self._pairs(caption_side, reference_side):
            results[at].append(match_of(PARAPHRASE, start, length, at, width))
        return results

    def _of_word(self, word: str, at: int, caption: MeteorSentence) -> list[Match]:
        matched = caption.matched.get(word)
        if matched is None:
            places = caption.positions
            matched = [
                (kind, start)
                for other, kind in self._alike[word]
                if other in places
                for start in places[other]
            ]
            matched.sort()
            caption.matched[word] = matched
        return [match_of(kind, start, 1, at, 1) for kind, start in matched] if matched else []

    def _pairs(self, one: MeteorSentence, other: MeteorSentence) -> Iterable[tuple[int, int, int, int]]:
        """Return phrases of one sentence with their paraphrases in the other: first words and lengths of
        both.
        """
        if one.paraphrases.isdisjoint(other.phrase_positions):
            return
        for start, phrase in one.phrases:
            for paraphrase in self._paraphrases[phrase]:
                for index in other.phrase_positions.get(paraphrase, ()):
                    yield start, self._lengths[phrase], index, self._lengths[paraphrase]

    def _sentence(self, words: Words, beginnings: _Beginnings) -> MeteorSentence:
        places = defaultdict(list)
        for i, word in enumerate(words):
            places[word].append(i)
        phrases: list[tuple[int, int]] = []
        phrase_places = defaultdict(list)
        for start in range(len(words)):
            longer = beginnings
            for word in words[start:]:
                if word not in longer:
                    break
                phrase, longer = longer[word]
                if phrase is not None:
                    phrase_places[phrase].append(start)
                    if phrase in self._paraphrases:
                        phrases.append((start, phrase))
        paraphrases = frozenset().union(*(self._paraphrases[phrase] for _, phrase in phrases))
        return MeteorSentence(words, dict(places), phrases, dict(phrase_places), paraphrases, {})


def _beginnings(numbers: Mapping[Words, int]) -> _Beginnings:
    """Return all phrases as a tree of their words."""
    tree: _Beginnings = {}
    for phrase, number in numbers.items():
        longer = tree
        for word in phrase[:-1]:
            longer = longer.setdefault(word, (None, {}))[1]
        longer[phrase[-1]] = (number, longer.get(phrase[-1], (None, {}))[1])
    return tree


def _alike_words(vocabulary: set[str], tables: Tables) -> dict[str, list[tuple[str, int]]]:
    """Return each word -> the words that match it, and how: EXACT alone, or STEM and SYNONYM, or one of
    them.
    """
    keys = {word: java_hash(word) for word in vocabulary}
    stems = {word: java_hash(tables.stem(word)) for word in vocabulary}
    senses = {word: tables.synonyms.of(word) for word in vocabulary}
    of_key, of_stem, of_sense = defaultdict(set), defaultdict(set), defaultdict(set)
    for word in vocabulary:
        of_key[keys[word]].add(word)
        of_stem[stems[word]].add(word)
        for sense in senses[word]:
            of_sense[sense].add(word)
    alike = {}
    for word in vocabulary:
        same = of_key[keys[word]]
        synonyms = set().union(*(of_sense[sense] for sense in senses[word]))
        alike[word] = [
            *((other, EXACT) for other in same),
            *((other, STEM) for other in of_stem[stems[word]] - same),
            *((other, SYNONYM) for other in synonyms - same),
        ]
    return alike


def _same_keys(caption: Words, reference: Words) -> bool:
    """Return whether the sentences are equal by the program's hashes."""
    return len(caption) == len(reference) and all(
        one == other or java_hash(one) == java_hash(other)
        for one, other in zip(caption, reference, strict=True)
    )


def java_hash(word: str) -> int:
    """Return the 32-bit hash by which the program compares words and stems ("as" equals "c5").

    s[0] 31^(n-1) + ... + s[n-1], over the UTF-16 units of the word.
    """
    units = word.encode("utf-16-be")
    number = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        number = (31 * number + (high << 8) + low) & 0xFFFFFFFF
    return number
