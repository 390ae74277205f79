"""False captions for FDA where captions are free text: Retrieve, Replace and Confuse (PCL) for birds.

    Retrieve   the captions of other pairs that are most similar by TF-IDF
    Replace    the half of a caption's nouns and adjectives that TF-IDF ranks highest, each replaced by
               another frequently ranked word with the same tag (JJ, JJR, JJS, NN, NNS)
    Confuse    animal1 and animal2 exchanged

The paper tags words with CoreNLP. This module uses TextBlob's pattern tagger, whose lexicon comes with the
package. A caption of a single picture has no two animals to exchange, so Retrieve and Replace make all its
false captions.

A false caption must be false, but nothing proves falsehood for free text. If a world has the ground truth of
a pair, the world decides (``Judge``). Otherwise a caption is used only if it says something that none of the
pair's true captions says:
- Retrieve: the caption has a noun or adjective that no true caption has. A caption that has only words of the
  true captions may summarise these captions. The caption comes from other pictures, of other species where
  species are known.
- Replace: no true caption has the new words, nor a synonym ("grey" does not replace "gray").
- Confuse: captions that say the same of both animals ("same", "similar", "both", "no difference") are not
  used, nor are captions whose clauses the exchange leaves unchanged.
- A caption that calls both animals alike is not used if a true caption of the pair calls both animals alike.
  Otherwise at most one such caption is used.
A retrieved caption can still be true of a pair whose annotators did not mention what it says. docs/birds.md
measures how often, on drawn birds whose truth is known.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from whatchanged.errors import DatasetError, MissingExtra
from whatchanged.records import PairRecord
from whatchanged.training.data.negatives import (
    MIN_DOCUMENTS,
    CaptionVectors,
    Mined,
    NegativeKind,
    Proposed,
    ProposedNegative,
    fill,
    first_of,
    in_turn,
)

Judge = Callable[[PairRecord, str], bool | None]
"""A function that returns whether a sentence is true for a pair, or None if this is unknown."""

TAGS = frozenset({"JJ", "JJR", "JJS", "NN", "NNS"})
SUBJECTS = frozenset({"animal", "animals", "animal1", "animal2", "bird", "birds", "one", "other", "1", "2"})
"""Nouns that refer to an animal without describing it."""
SYMMETRIC = frozenset({"same", "similar", "identical", "both", "alike", "indistinguishable"})
SYNONYMS = {
    word: words[0]
    for words in (
        ("gray", "grey", "grayish", "greyish"),
        ("brown", "brownish"),
        ("yellow", "yellowish"),
        ("green", "greenish"),
        ("black", "blackish"),
        ("white", "whitish"),
        ("red", "reddish"),
        ("blue", "bluish", "blueish"),
        ("tan", "beige", "buff"),
        ("breast", "breasts", "chest", "chests", "belly", "bellies", "underside", "undersides"),
        ("beak", "beaks", "bill", "bills"),
        ("head", "heads", "crown", "crowns"),
        ("wing", "wings"),
        ("tail", "tails"),
        ("leg", "legs", "foot", "feet"),
        ("feather", "feathers", "feathering", "plumage"),
        ("big", "large", "bigger", "larger", "huge"),
        ("small", "little", "smaller", "tiny"),
        ("long", "longer"),
        ("short", "shorter"),
        ("spotted", "spots", "spot", "speckled", "specks", "flecks", "speckles"),
        ("striped", "stripes", "stripe", "streaks", "streaked", "barred", "bars"),
        ("colour", "color", "colored", "coloured", "coloring", "colors", "coloration"),
    )
    for word in words
}
"""A mapping from a word to the first word of its group.

Words of one group are so similar that exchanging them could leave a caption true.
"""

_ANIMAL = re.compile(r"\b(animal ?)([12])\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[.,;]|\bwhile\b|\bwhereas\b|\bbut\b|\band\b(?= animal ?[12])")


def mine_text(
    records: Sequence[PairRecord],
    seed: int,
    count: int = 6,
    longest: int = 77,
    judge: Judge | None = None,
    among: Sequence[PairRecord] | None = None,
) -> Mined:
    """Make ``count`` false captions for every record: a third of each kind (single pictures: half of two).

    The same seed gives the same captions. longest: the number of words to which a caption is truncated.
    among: the pairs whose captions may be used; None: the pairs of the records. Raises DatasetError for a
    record with fewer than ``count`` false captions, MissingExtra without TextBlob.
    """
    captions = _TextCaptions(records if among is None else among, seed)

    def propose(record: PairRecord, similar: Sequence[str], rng: np.random.Generator) -> Proposed:
        chosen = _TextNegatives(record, captions, longest, judge)
        return chosen.sentences, _proposals(record, similar, captions, chosen, count, rng)

    return fill(records, captions.texts, propose, seed, count)


def _proposals(
    record: PairRecord,
    similar: Sequence[str],
    captions: "_TextCaptions",
    chosen: "_TextNegatives",
    count: int,
    rng: np.random.Generator,
) -> Iterator[ProposedNegative]:
    """Yield accepted proposals in order: each kind's share, then more retrieved and replaced captions if a
    kind had too few proposals.
    """
    kinds: tuple[NegativeKind, ...] = (
        ("replace", "retrieve") if record.after is None else ("replace", "confuse", "retrieve")
    )
    retrieved = chain.from_iterable(
        chosen.accept("retrieve", s) for s in similar if captions.is_unrelated(record, s)
    )
    replaced = chain.from_iterable(
        chosen.accept("replace", *captions.replace(caption, rng)) for caption in in_turn(record.captions, rng)
    )
    order = rng.permutation(len(record.captions))
    confused = chain.from_iterable(
        chosen.accept("confuse", exchange(record.captions[i]))
        for i in order
        if can_exchange(record.captions[i])
    )
    sources = {"replace": replaced, "confuse": confused, "retrieve": retrieved}
    for number, kind in enumerate(kinds):
        for _ in range(count // len(kinds) + (number < count % len(kinds))):
            yield from first_of(sources[kind])
    yield from retrieved
    yield from replaced
    for number in rng.permutation(len(captions.texts.sentences)):  # small sets: any other caption
        if captions.is_unrelated(record, captions.texts.sentences[number]):
            yield from chosen.accept("retrieve", captions.texts.sentences[number])


class _TextNegatives:
    """The captions from which one pair's false captions must differ, and the false captions found so far."""

    def __init__(
        self, record: PairRecord, captions: "_TextCaptions", longest: int, judge: Judge | None
    ) -> None:
        self.record, self.captions, self.longest, self.judge = record, captions, longest, judge
        self.own = {canonical(caption, longest) for caption in record.captions}
        self.mentioned = {_meaning(word) for caption in record.captions for word in caption.split()}
        self.symmetric = any(is_symmetric(caption) for caption in record.captions)
        self.sentences: list[str] = []

    def accept(self, kind: NegativeKind, sentence: str, share: float = 0.0) -> Iterator[ProposedNegative]:
        """Yield the proposal if the sentence is new and not known to be true; otherwise yield nothing."""
        known = self.own | {canonical(earlier, self.longest) for earlier in self.sentences}
        if canonical(sentence, self.longest) in known:
            return
        if is_symmetric(sentence) and (self.symmetric or any(is_symmetric(s) for s in self.sentences)):
            return
        cut = " ".join(sentence.split()[: self.longest])
        true = None if self.judge is None else self.judge(self.record, cut)
        says_more = bool({_meaning(word) for word in self.captions.content(cut)} - self.mentioned)
        if true is False or (true is None and (kind == "confuse" or says_more or is_symmetric(sentence))):
            yield kind, sentence, share


class _TextCaptions:
    """The captions from which false captions are made, the records of each caption, and the words that may
    replace other words.
    """

    def __init__(self, records: Sequence[PairRecord], seed: int) -> None:
        self.where: dict[str, list[PairRecord]] = {}
        for record in records:
            for caption in record.captions:
                self.where.setdefault(" ".join(caption.split()), []).append(record)
        if not self.where:
            raise DatasetError("These pictures have no captions, so no false captions can be made for them.")
        everything = sorted(self.where)
        self.texts = CaptionVectors(everything, seed)
        documents = Counter(chain.from_iterable(self._ranked(caption).items() for caption in everything))
        enough = min(MIN_DOCUMENTS, 1 + len(everything) // 50)
        self.substitutes: dict[str, list[str]] = {}
        for (word, tag), number in sorted(documents.items()):
            if number >= enough:
                self.substitutes.setdefault(tag, []).append(word)

    def is_unrelated(self, record: PairRecord, sentence: str) -> bool:
        """Return whether a sentence is a caption of unrelated pictures only (see ``_related``)."""
        return not any(_related(record, other) for other in self.where[sentence])

    def content(self, caption: str) -> dict[str, str]:
        """Return a mapping from word to tag for a caption's nouns and adjectives, without ``SUBJECTS``,
        ``SYMMETRIC`` and short words.
        """
        return {
            word: tag
            for word, tag in _tagged(caption)
            if tag in TAGS and word not in SUBJECTS | SYMMETRIC and word.isalpha() and len(word) > 2
        }

    def replace(self, caption: str, rng: np.random.Generator) -> tuple[str, float]:
        """Replace the highest-ranked half of a caption's nouns and adjectives. Returns the new caption and
        the share of changed words.
        """
        words = caption.split()
        ranked, used = self._ranked(caption), {_meaning(word) for word in words}
        drawn: dict[str, str] = {}
        for word, tag in ranked.items():
            others = [other for other in self.substitutes.get(tag, ()) if _meaning(other) not in used]
            if others:
                drawn[word] = others[int(rng.integers(len(others)))]
                used.add(_meaning(drawn[word]))
        changed = [drawn.get(_plain(word), word) for word in words]
        share = sum(a != b for a, b in zip(words, changed, strict=True)) / max(1, len(words))
        return " ".join(changed), share

    def _ranked(self, caption: str) -> dict[str, str]:
        """Return a mapping from word to tag for the half of the nouns and adjectives with the highest
        TF-IDF.
        """
        content = self.content(caption)
        times = Counter(_plain(word) for word in caption.split())
        ranked = sorted(content, key=lambda word: (-times[word] * self.texts.weights.get(word, 0.0), word))
        return {word: content[word] for word in ranked[: max(1, len(ranked) // 2)]}


def canonical(sentence: str, longest: int) -> str:
    """Return the first ``longest`` words in lower case, without punctuation. All synonyms become one word."""
    words = (_meaning(word) for word in sentence.split()[:longest])
    return " ".join(word for word in words if word)


def is_symmetric(sentence: str) -> bool:
    """Return whether a sentence says that both animals are alike. Such a sentence contains one of the
    authors' words for likeness, or one of a few more words.
    """
    words = {_plain(word) for word in sentence.split()}
    return bool(words & SYMMETRIC) or ("no" in words and bool(words & {"difference", "differences"}))


def exchange(caption: str) -> str:
    """Return the caption after exchanging animal1 and animal2."""
    return _ANIMAL.sub(lambda found: found[1] + "21"[int(found[2]) - 1], caption)


def can_exchange(caption: str) -> bool:
    """Return whether the exchange changes the meaning: clauses differ, and no clause is about both
    animals.
    """
    if is_symmetric(caption) or re.search(
        r"animal ?1 and animal ?2|animal ?2 and animal ?1", caption.lower()
    ):
        return False
    before, after = (
        Counter(" ".join(clause.split()) for clause in _CLAUSES.split(text.lower()) if clause.strip())
        for text in (caption, exchange(caption))
    )
    return before != after


def _related(one: PairRecord, other: PairRecord) -> bool:
    """Return whether two records show the same two pictures in any order. Two records of the same species or
    class are related, too, where species or class are known.
    """
    if {one.before, one.after} == {other.before, other.after}:
        return True
    if one.after is None:
        return one.group_id == other.group_id  # the class
    species = one.extra.get("species")
    return species is not None and species == other.extra.get("species")


def _plain(word: str) -> str:
    return word.lower().strip(".,;:!?\"'`()")


def _meaning(word: str) -> str:
    plain = _plain(word)
    return SYNONYMS.get(plain, plain)


@lru_cache(maxsize=200_000)
def _tagged(caption: str) -> tuple[tuple[str, str], ...]:
    """Return (word, part of speech) of every word between blanks, in lower case and without punctuation."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the package leaves its lexicon's file open
            from textblob.en import tag

            words = " ".join(word for word in map(_plain, caption.split()) if word)
            return tuple((str(word), str(part)) for word, part in tag(words, tokenize=False))
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "Building false captions of free text", error.name or "textblob", "train"
        ) from error
