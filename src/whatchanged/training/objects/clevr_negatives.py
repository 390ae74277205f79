"""False captions for PCL's task FDA in the language of CLEVR: Retrieve, Replace and Confuse.

Confuse exchanges the two objects of a caption, or its object and another caption's. A false caption must be
false. If the truth of a pair is known, the sentence is judged on the scenes. Otherwise it must contradict one
of the pair's own captions: in the type of change, in a named attribute of the changed object, or in the new
value. A different relation alone contradicts nothing. Sentences that cannot be parsed are never used.

Departures from the paper: a word is replaced by another value of the same attribute (a colour by a colour),
so that the sentence can still be parsed; all false captions of a distractor pair are change captions of other
scenes, because captions similar to its own are true of it.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord
from whatchanged.training.data.negatives import (
    KINDS,
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
from whatchanged.worlds.clevr.grading import ParsedStatement, is_true, parse
from whatchanged.worlds.clevr.language import RELATION_WORDS, SYNONYMS
from whatchanged.worlds.clevr.phrases import ATTRIBUTES
from whatchanged.worlds.clevr.scene import COLORS, MATERIALS, SHAPES, SIZES
from whatchanged.worlds.clevr.world import SceneTruth

_VALUES = {value: values for values in (SIZES, COLORS, MATERIALS, SHAPES) for value in values}
_MEANING = {word: value for value, words in SYNONYMS.items() for word in words if value in _VALUES}
_RELATIONS = sorted(chain.from_iterable(RELATION_WORDS.values()), key=len, reverse=True)


def mine(
    records: Sequence[PairRecord],
    truths: Mapping[str, SceneTruth] | None,
    seed: int,
    count: int = 6,
    longest: int = 37,
) -> Mined:
    """Make ``count`` false captions for every record, a third of each kind. Equal seeds give equal captions.

    truths: pair id -> (scene before, scene after, change); None where no scenes are known. longest: the
    number of words to which a caption is truncated. Raises DatasetError for a pair that has fewer than
    ``count``.
    """
    captions = _SceneCaptions(records, seed)

    def propose(record: PairRecord, similar: Sequence[str], rng: np.random.Generator) -> Proposed:
        truth = None if truths is None else truths[record.pair_id]
        chosen = _SceneNegatives(record, truth, longest)
        return chosen.sentences, _proposals(record, similar, captions, chosen, count, rng)

    return fill(records, captions.texts, propose, seed, count)


def _proposals(
    record: PairRecord,
    similar: Sequence[str],
    captions: "_SceneCaptions",
    chosen: "_SceneNegatives",
    count: int,
    rng: np.random.Generator,
) -> Iterator[ProposedNegative]:
    """Accepted proposals in their order: each kind's share, then more where a kind had too few."""
    if record.changed is False or not record.captions:
        for number in rng.permutation(len(captions.changes)):
            if captions.groups[captions.changes[number]] != record.group_id:
                yield from chosen.accept("retrieve", captions.changes[number])
        return
    wanted: dict[NegativeKind, int] = {kind: count // 3 + (i < count % 3) for i, kind in enumerate(KINDS)}
    retrieved = chain.from_iterable(
        chosen.accept("retrieve", sentence)
        for sentence in similar
        if captions.groups[sentence] != record.group_id
    )
    replaced = chain.from_iterable(
        chosen.accept("replace", *captions.replace(caption, rng)) for caption in in_turn(record.captions, rng)
    )
    confused = chain.from_iterable(
        chosen.accept("confuse", captions.confuse(caption, rng)) for caption in in_turn(record.captions, rng)
    )
    kinds = zip(KINDS[1:] + KINDS[:1], (replaced, confused, retrieved), strict=True)
    for kind, proposals in kinds:
        for _ in range(wanted[kind]):
            yield from first_of(proposals)
    yield from retrieved
    yield from replaced
    for number in rng.permutation(len(captions.changes)):  # small pools: any false caption
        yield from chosen.accept("retrieve", captions.changes[number])


class _SceneNegatives:
    """The captions from which one pair's false captions must differ, and the false captions found so far."""

    def __init__(self, record: PairRecord, truth: SceneTruth | None, longest: int) -> None:
        self.truth = truth
        self.longest = longest
        self.own = [statement for caption in record.captions if (statement := parse(caption)) is not None]
        self.own_texts = {truncate(caption, longest) for caption in record.captions}
        self.distractor = record.changed is False
        self.sentences: list[str] = []

    def accept(self, kind: NegativeKind, sentence: str, share: float = 0.0) -> Iterator[ProposedNegative]:
        """Yield the proposal if the sentence is new and proven false; otherwise yield nothing."""
        statement = parse(sentence)
        if statement is None or statement in self.own or truncate(sentence, self.longest) in self.own_texts:
            return
        before = [parse(earlier) for earlier in self.sentences]
        if statement in before or (
            statement.type == "none" and (self.distractor or ParsedStatement("none") in before)
        ):
            return
        if self.truth is None:
            false = any(contradicts(statement, own) for own in self.own)
        else:
            false = not is_true(sentence, *self.truth)
        if false:
            yield kind, sentence, share


def contradicts(statement: ParsedStatement, own: ParsedStatement) -> bool:
    """Return whether a statement cannot be true of a pair of which ``own`` is true.

    A pair has one change. Therefore another type, another new value, or another value of an attribute that
    both name is a contradiction. An attribute that only one of them names is none, and neither is another
    relation.
    """
    if statement.type != own.type or statement.value != own.value:
        return True
    if statement.phrase is None or own.phrase is None:
        return False
    named = ((getattr(statement.phrase.head, a), getattr(own.phrase.head, a)) for a in ATTRIBUTES)
    return any(mine is not None and theirs is not None and mine != theirs for mine, theirs in named)


class _SceneCaptions:
    """The captions from which false captions are made, the TF-IDF of these captions, and the words that may
    replace other words.
    """

    def __init__(self, records: Sequence[PairRecord], seed: int) -> None:
        known: dict[str, str] = {}
        for record in records:
            for caption in record.captions:
                known.setdefault(" ".join(caption.split()), record.group_id)
        if not known:
            raise DatasetError("These pairs have no captions, so no false captions can be made for them.")
        everything = sorted(known)
        self.texts = CaptionVectors(everything, seed)
        self.groups = {sentence: known[sentence] for sentence in self.texts.sentences}
        self.changes = [s for s in self.groups if (p := parse(s)) is not None and p.type != "none"]
        documents = Counter(chain.from_iterable(self._ranked(words.split()) for words in everything))
        self.substitutes: dict[str, list[str]] = {}
        for (_, word), number in sorted(documents.items()):
            if number >= min(MIN_DOCUMENTS, len(everything) // 10):
                self.substitutes.setdefault(_MEANING[word], []).append(word)

    def replace(self, caption: str, rng: np.random.Generator) -> tuple[str, float]:
        """Return the caption with its highest-ranked half replaced, and the share of its words that this
        changed.
        """
        words = caption.split()
        ranked = {word for _, word in self._ranked(words)}
        changed = list(words)
        for index, word in enumerate(words):
            if word not in ranked:
                continue
            others = [
                o for v in _VALUES[_MEANING[word]] if v != _MEANING[word] for o in self.substitutes.get(v, ())
            ]
            if others:
                changed[index] = others[int(rng.integers(len(others)))]
        replaced = sum(a != b for a, b in zip(words, changed, strict=True))
        return " ".join(changed), replaced / max(1, len(words))

    def confuse(self, caption: str, rng: np.random.Generator) -> str:
        """Return the caption with its two objects exchanged, or with the object of another change caption."""
        first, relation, second, rest = split_phrases(caption)
        if second and rng.random() < 0.5:
            return f"{second}{relation}{first}{rest}"
        if self.changes:
            first = split_phrases(self.changes[int(rng.integers(len(self.changes)))])[0]
        return f"{first}{relation}{second}{rest}"

    def _ranked(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """Nouns and adjectives, the half with the highest TF-IDF: (first value of the attribute, word)."""
        content = Counter(word for word in words if word in _MEANING)
        ranked = sorted(content, key=lambda word: (-content[word] * self.texts.weights.get(word, 0.0), word))
        return [(_VALUES[_MEANING[word]][0], word) for word in ranked[: math.ceil(len(ranked) / 2)]]


def split_phrases(caption: str) -> tuple[str, str, str, str]:
    """Return a caption as (object, relation, other object, rest), with its blanks; the middle two may be
    empty.
    """
    first, start = _noun_phrase(caption, 0)
    tail = caption[start:]
    for lead in (" that is ", " "):
        for relation in _RELATIONS:
            if tail.startswith(f"{lead}{relation} the "):
                cut = start + len(lead) + len(relation) + 1
                second, end = _noun_phrase(caption, cut)
                return first, caption[start:cut], second, caption[end:]
    return first, "", "", tail


def _noun_phrase(caption: str, start: int) -> tuple[str, int]:
    """From ``start``: "the", attribute words, and a noun; returns the phrase and where it ends."""
    end = start
    for number, word in enumerate(caption[start:].split(" ")):
        end += len(word) + (number > 0)
        if word in SYNONYMS["thing"] or _MEANING.get(word) in SHAPES:
            return caption[start:end], end
    return caption[start:], len(caption)


def truncate(sentence: str, longest: int) -> str:
    """Return the first ``longest`` words in lower case."""
    return " ".join(sentence.lower().split()[:longest])
