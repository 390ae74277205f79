"""Which words of a caption match which of a reference: exact, by stem, as synonyms or as paraphrases."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whatchanged.evaluation.metrics.meteor.alignment import Match, match_of
from whatchanged.evaluation.metrics.meteor.paraphrases import Paraphrases
from whatchanged.evaluation.metrics.meteor.tables import Tables

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
Words = tuple[str, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence, and what of it the tables know."""

    words: Words
    places: Mapping[str, Sequence[int]]
    """A word to where it stands."""
    phrases: Sequence[tuple[int, Words]]
    """First word and phrase of each phrase that has paraphrases; by first word, then by length."""
    phrase_places: Mapping[Words, Sequence[int]]
    """A phrase, or a paraphrase, to where it begins."""


class Matcher:
    """The tables, narrowed to the words of certain sentences; it matches these with each other."""

    def __init__(self, tables: Tables, sentences: Iterable[Words]) -> None:
        """Look up all words and phrases of the sentences once."""
        sentences = list(dict.fromkeys(sentences))
        self._alike = _alike_words({word for sentence in sentences for word in sentence}, tables)
        self._paraphrases = tables.paraphrases(sentences)
        known = {*self._paraphrases, *(p for own in self._paraphrases.values() for p in own)}
        beginnings = {phrase[:end] for phrase in known for end in range(1, len(phrase) + 1)}
        self.sentences = {
            sentence: _sentence(sentence, self._paraphrases, known, beginnings) for sentence in sentences
        }

    def matches(self, caption: Words, reference: Words) -> list[list[Match]]:
        """All matches, by the word of the reference at which they begin, in the order of the program's."""
        caption_side, reference_side = self.sentences[caption], self.sentences[reference]
        found = [self._of_word(word, at, caption_side.places) for at, word in enumerate(reference)]
        if _same_keys(caption, reference):
            return [[match for match in own if match.kind == EXACT] for own in found]
        for at, phrase, start, paraphrase in self._pairs(reference_side, caption_side):
            found[at].append(match_of(PARAPHRASE, start, len(paraphrase), at, len(phrase)))
        for start, phrase, at, paraphrase in self._pairs(caption_side, reference_side):
            found[at].append(match_of(PARAPHRASE, start, len(phrase), at, len(paraphrase)))
        return found

    def _of_word(self, word: str, at: int, places: Mapping[str, Sequence[int]]) -> list[Match]:
        alike = self._alike[word]
        both = alike.keys() & places.keys()
        if not both:
            return []
        matched = sorted((kind, start) for other in both for kind in alike[other] for start in places[other])
        return [match_of(kind, start, 1, at, 1) for kind, start in matched]

    def _pairs(self, one: Sentence, other: Sentence) -> Iterable[tuple[int, Words, int, Words]]:
        """Phrases of one sentence with their paraphrases in the other, and where both begin."""
        for start, phrase in one.phrases:
            for paraphrase in self._paraphrases[phrase]:
                for place in other.phrase_places.get(paraphrase, ()):
                    yield start, phrase, place, paraphrase


def _sentence(words: Words, paraphrases: Paraphrases, known: set[Words], beginnings: set[Words]) -> Sentence:
    places = defaultdict(list)
    for i, word in enumerate(words):
        places[word].append(i)
    phrases = []
    phrase_places = defaultdict(list)
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            phrase = words[start:end]
            if phrase not in beginnings:
                break
            if phrase in known:
                phrase_places[phrase].append(start)
            if phrase in paraphrases:
                phrases.append((start, phrase))
    return Sentence(words, dict(places), phrases, dict(phrase_places))


def _alike_words(vocabulary: set[str], tables: Tables) -> dict[str, dict[str, tuple[int, ...]]]:
    """Each word to those that match it and how: EXACT alone, or STEM and SYNONYM, or one of them."""
    keys = {word: java_hash(word) for word in vocabulary}
    stems = {word: java_hash(tables.stem(word)) for word in vocabulary}
    senses = {word: tables.synonyms.of(word) for word in vocabulary}
    of_key, of_stem, of_sense = defaultdict(set), defaultdict(set), defaultdict(set)
    for word in vocabulary:
        of_key[keys[word]].add(word)
        of_stem[stems[word]].add(word)
        for sense in senses[word]:
            of_sense[sense].add(word)
    alike: dict[str, dict[str, tuple[int, ...]]] = {}
    for word in vocabulary:
        same = of_key[keys[word]]
        own: dict[str, tuple[int, ...]] = dict.fromkeys(same, (EXACT,))
        for other in of_stem[stems[word]] - same:
            own[other] = (STEM,)
        for other in set().union(*(of_sense[sense] for sense in senses[word])) - same:
            own[other] = (*own.get(other, ()), SYNONYM)
        alike[word] = own
    return alike


def _same_keys(caption: Words, reference: Words) -> bool:
    """Whether the sentences are equal, as the program sees it."""
    return len(caption) == len(reference) and all(
        one == other or java_hash(one) == java_hash(other)
        for one, other in zip(caption, reference, strict=True)
    )


def java_hash(word: str) -> int:
    """The 32-bit hash by which the program compares words and stems ("as" equals "c5").

    s[0] 31^(n-1) + ... + s[n-1], over the UTF-16 units of the word.
    """
    units = word.encode("utf-16-be")
    number = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        number = (31 * number + (high << 8) + low) & 0xFFFFFFFF
    return number
