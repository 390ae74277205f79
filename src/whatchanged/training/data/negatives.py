"""False captions for FDA: Retrieve, Replace and Confuse (PCL), for captions of the CLEVR kind.

    Retrieve   the captions of other pairs that are most similar by TF-IDF
    Replace    the half of a caption's nouns and adjectives that TF-IDF ranks highest, each replaced by
               another word of its kind
    Confuse    the two things of a caption exchanged, or its thing exchanged with another caption's

A false caption must be false. Where the truth of a pair is known, it is proven by executing the sentence on
the scenes. Otherwise it must contradict one of the pair's own captions in the type of change, in a named
attribute of the changed thing, or in the new value; another relation alone contradicts nothing. Sentences
that cannot be read are never used. Departures from the paper: a word is replaced within its attribute (a
colour by a colour), so that the sentence can still be read and proven; for a distractor pair all six are
change captions of other scenes, since its own captions are like nothing but sentences that are true of it.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from whatchanged.errors import DatasetError
from whatchanged.files import whole
from whatchanged.records import PairRecord
from whatchanged.worlds.clevr.change import Change
from whatchanged.worlds.clevr.grading import Statement, is_true, parse
from whatchanged.worlds.clevr.language import RELATION_WORDS, SYNONYMS
from whatchanged.worlds.clevr.phrases import ATTRIBUTES
from whatchanged.worlds.clevr.scene import COLORS, MATERIALS, SHAPES, SIZES, Scene

Kind = Literal["retrieve", "replace", "confuse"]
KINDS: tuple[Kind, ...] = ("retrieve", "replace", "confuse")
Truth = tuple[Scene, Scene, Change]
Proposal = tuple[Kind, str, float]
"""A kind, a sentence of that kind, and the share of its words that were replaced."""
Proposed = tuple[list[str], Iterator[Proposal]]

MIN_DOCUMENTS = 10
"""Captions that a substitute word must appear in, among the words that Replace would choose there."""
POOL = 20_000
"""Different captions that Retrieve searches at most, drawn evenly."""
CANDIDATES = 200
"""Most similar captions that Retrieve looks at for one pair."""
TRIES = 12
"""Draws of Replace and Confuse for one caption before they give up."""

_VALUES = {value: values for values in (SIZES, COLORS, MATERIALS, SHAPES) for value in values}
_MEANING = {word: value for value, words in SYNONYMS.items() for word in words if value in _VALUES}
_RELATIONS = sorted(chain.from_iterable(RELATION_WORDS.values()), key=len, reverse=True)


@dataclass(frozen=True)
class Mined:
    """Pair id -> its false captions; how many of each kind; the share of words that Replace replaced."""

    sentences: Mapping[str, tuple[str, ...]]
    counts: Mapping[Kind, int]
    replaced: float


def mine(
    records: Sequence[PairRecord],
    truths: Mapping[str, Truth] | None,
    seed: int,
    count: int = 6,
    longest: int = 37,
) -> Mined:
    """Build ``count`` false captions for every record, a third of each kind; the same for the same seed.

    truths: pair id -> (scene before, scene after, change); None where no scenes are known. longest: words
    that a caption is cut to. Raises DatasetError for a pair that ``count`` false captions cannot be found
    for.
    """
    captions = _Captions(records, seed)

    def propose(record: PairRecord, similar: Sequence[str], rng: np.random.Generator) -> Proposed:
        truth = None if truths is None else truths[record.pair_id]
        chosen = _Chosen(record, truth, longest)
        return chosen.sentences, _proposals(record, similar, captions, chosen, count, rng)

    return fill(records, captions.texts, propose, seed, count)


def fill(
    records: Sequence[PairRecord],
    texts: "Texts",
    propose: Callable[[PairRecord, Sequence[str], np.random.Generator], "Proposed"],
    seed: int,
    count: int,
) -> Mined:
    """Take each record's proposals in their order until it has ``count`` of them.

    propose: (record, the most similar captions, random numbers) -> the list to fill, and the proposals, which
    look at that list. Raises DatasetError for a record whose proposals do not suffice.
    """
    sentences: dict[str, tuple[str, ...]] = {}
    counts: Counter[Kind] = Counter()
    replaced: list[float] = []
    similar = texts.similar([most_specific(record) for record in records])
    for number, record in enumerate(records):
        chosen, proposals = propose(record, next(similar), np.random.default_rng((seed, number)))
        for kind, sentence, share in proposals:
            counts[kind] += 1
            replaced += [share] if kind == "replace" else []
            chosen.append(sentence)
            if len(chosen) == count:
                break
        else:
            raise DatasetError(
                f"{record.pair_id}: only {len(chosen)} of {count} false captions can be found among"
                f" the {len(texts.sentences)} captions at hand. Use more pairs, or leave out the task fda."
            )
        sentences[record.pair_id] = tuple(chosen)
    return Mined(sentences, counts, float(np.mean(replaced)) if replaced else 0.0)


def _proposals(
    record: PairRecord,
    similar: Sequence[str],
    captions: "_Captions",
    chosen: "_Chosen",
    count: int,
    rng: np.random.Generator,
) -> Iterator[Proposal]:
    """Accepted (kind, sentence, share of words replaced), in the order in which they fill the places."""
    if record.changed is False or not record.captions:
        for number in rng.permutation(len(captions.changes)):
            if captions.groups[captions.changes[number]] != record.group_id:
                yield from chosen.accept("retrieve", captions.changes[number])
        return
    wanted: dict[Kind, int] = {kind: count // 3 + (i < count % 3) for i, kind in enumerate(KINDS)}
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
    for number in rng.permutation(len(captions.changes)):  # tiny pools: whatever is false
        yield from chosen.accept("retrieve", captions.changes[number])


class _Chosen:
    """What one pair's false captions must differ from, and those found so far."""

    def __init__(self, record: PairRecord, truth: Truth | None, longest: int) -> None:
        self.truth = truth
        self.longest = longest
        self.own = [statement for caption in record.captions if (statement := parse(caption)) is not None]
        self.own_texts = {cut(caption, longest) for caption in record.captions}
        self.distractor = record.changed is False
        self.sentences: list[str] = []

    def accept(self, kind: Kind, sentence: str, share: float = 0.0) -> Iterator[Proposal]:
        """The proposal itself if it is a new, proven false sentence, else nothing."""
        statement = parse(sentence)
        if statement is None or statement in self.own or cut(sentence, self.longest) in self.own_texts:
            return
        before = [parse(earlier) for earlier in self.sentences]
        if statement in before or (
            statement.type == "none" and (self.distractor or Statement("none") in before)
        ):
            return
        if self.truth is None:
            false = any(contradicts(statement, own) for own in self.own)
        else:
            false = not is_true(sentence, *self.truth)
        if false:
            yield kind, sentence, share


def contradicts(statement: Statement, own: Statement) -> bool:
    """Whether a statement cannot be true of a pair of which ``own`` is true.

    A pair has one change, so another type, another new value, or another value of an attribute that both name
    settles it; an attribute that only one of them names, or another relation, does not.
    """
    if statement.type != own.type or statement.value != own.value:
        return True
    if statement.phrase is None or own.phrase is None:
        return False
    named = ((getattr(statement.phrase.head, a), getattr(own.phrase.head, a)) for a in ATTRIBUTES)
    return any(mine is not None and theirs is not None and mine != theirs for mine, theirs in named)


class Texts:
    """Different captions, sorted, as TF-IDF vectors (words between blanks); at most ``POOL`` are searched."""

    def __init__(self, everything: Sequence[str], seed: int) -> None:
        self.vectors = TfidfVectorizer(token_pattern=r"\S+").fit(everything)
        keep = np.random.default_rng(seed).permutation(len(everything))[:POOL]
        self.sentences = [everything[i] for i in sorted(keep)]
        self.table = self.vectors.transform(self.sentences)
        self.weights = dict(zip(self.vectors.get_feature_names_out(), self.vectors.idf_, strict=True))

    def similar(self, queries: Sequence[str]) -> Iterator[list[str]]:
        """For each query the most similar captions, best first."""
        chunk = 256
        for start in range(0, len(queries), chunk):
            rows = (self.vectors.transform(queries[start : start + chunk]) @ self.table.T).toarray()
            for row in rows:
                best = np.argpartition(-row, min(CANDIDATES, len(row) - 1))[:CANDIDATES]
                yield [self.sentences[i] for i in best[np.lexsort((best, -row[best]))]]


class _Captions:
    """The captions that false ones are made of, their TF-IDF, and the words that may replace others."""

    def __init__(self, records: Sequence[PairRecord], seed: int) -> None:
        known: dict[str, str] = {}
        for record in records:
            for caption in record.captions:
                known.setdefault(" ".join(caption.split()), record.group_id)
        if not known:
            raise DatasetError("These pairs have no captions, so no false captions can be made for them.")
        everything = sorted(known)
        self.texts = Texts(everything, seed)
        self.groups = {sentence: known[sentence] for sentence in self.texts.sentences}
        self.changes = [s for s in self.groups if (p := parse(s)) is not None and p.type != "none"]
        documents = Counter(chain.from_iterable(self._ranked(words.split()) for words in everything))
        self.substitutes: dict[str, list[str]] = {}
        for (_, word), number in sorted(documents.items()):
            if number >= min(MIN_DOCUMENTS, len(everything) // 10):
                self.substitutes.setdefault(_MEANING[word], []).append(word)

    def replace(self, caption: str, rng: np.random.Generator) -> tuple[str, float]:
        """The caption with its highest-ranked half replaced, and the share of its words that this changed."""
        words = caption.split()
        ranked = {word for _, word in self._ranked(words)}
        changed = list(words)
        for place, word in enumerate(words):
            if word not in ranked:
                continue
            others = [
                o for v in _VALUES[_MEANING[word]] if v != _MEANING[word] for o in self.substitutes.get(v, ())
            ]
            if others:
                changed[place] = others[int(rng.integers(len(others)))]
        return " ".join(changed), sum(a != b for a, b in zip(words, changed, strict=True)) / max(
            1, len(words)
        )

    def confuse(self, caption: str, rng: np.random.Generator) -> str:
        """The caption with its two things exchanged, or with another change caption's thing."""
        first, relation, second, rest = split_phrases(caption)
        if second and rng.random() < 0.5:
            return f"{second}{relation}{first}{rest}"
        stranger = (
            split_phrases(self.changes[int(rng.integers(len(self.changes)))])[0] if self.changes else first
        )
        return f"{stranger}{relation}{second}{rest}"

    def _ranked(self, words: Sequence[str]) -> list[tuple[str, str]]:
        """(attribute value's kind, word) of the half of the nouns and adjectives with the highest TF-IDF."""
        content = Counter(word for word in words if word in _MEANING)
        ranked = sorted(content, key=lambda word: (-content[word] * self.texts.weights.get(word, 0.0), word))
        return [(_VALUES[_MEANING[word]][0], word) for word in ranked[: math.ceil(len(ranked) / 2)]]


def split_phrases(caption: str) -> tuple[str, str, str, str]:
    """A caption as (thing, relation, other thing, rest), blanks kept; the middle two may be empty."""
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


def in_turn(captions: Sequence[str], rng: np.random.Generator) -> Iterator[str]:
    """The captions in a random order, over and over, ``TRIES`` times each."""
    order = rng.permutation(len(captions))
    return (captions[i] for _ in range(TRIES) for i in order)


def first_of(proposals: Iterator[Proposal]) -> Iterator[Proposal]:
    """The next proposal, if there is one."""
    found = next(proposals, None)
    if found is not None:
        yield found


def most_specific(record: PairRecord) -> str:
    """What Retrieve compares other captions with: the pair's longest caption."""
    return max(record.captions, key=lambda caption: (len(caption.split()), caption), default="")


def cut(sentence: str, longest: int) -> str:
    """The first ``longest`` words in lower case."""
    return " ".join(sentence.lower().split()[:longest])


def write_negatives(
    path: Path, records: Iterable[PairRecord], negatives: Mapping[str, tuple[str, ...]]
) -> None:
    """Write the published form, atomically: JSON lines with img1, img2, sentences, neg_samples.

    Each line has the pair's id before these, because names of pictures may come again in other folders.
    """
    with whole(path) as draft, draft.open("w", encoding="utf-8") as file:
        for record in records:
            line = {
                "id": record.pair_id,
                "img1": record.before.name,
                "img2": "" if record.after is None else record.after.name,
                "sentences": list(record.captions),
                "neg_samples": list(negatives[record.pair_id]),
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_negatives(path: Path, records: Iterable[PairRecord]) -> dict[str, tuple[str, ...]]:
    """Read the published form for these records: by pair id, or by the two names where a line has no id.

    Raises DatasetError on a line that is not of this form, where a pair has two sets of false captions, and
    where a record has none.
    """
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot read the false captions: {error}") from error
    for number, text in enumerate(lines, 1):
        try:
            line: Any = json.loads(text)
            false = tuple(str(sentence) for sentence in line["neg_samples"])
            names = (Path(line["img1"]).name, Path(line["img2"]).name)
            pair = (str(line["id"]),) if "id" in line else names
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(
                f"{path}, line {number}: wanted img1, img2, neg_samples; got {text[:80]!r}"
            ) from error
        if found.setdefault(pair, false) != false:  # a pool's unchanged pairs may come twice, but alike
            raise DatasetError(
                f"{path}, line {number}: other false captions for {', '.join(pair)} than in an earlier line."
                " Delete the file, and they are found anew; or give each line the pair's id."
            )
    by_pair = {}
    for record in records:
        names = (record.before.name, "" if record.after is None else record.after.name)
        own = found.get((record.pair_id,), found.get(names))
        if own is None:
            raise DatasetError(f"{path}: no false captions for {record.pair_id} ({names[0]}, {names[1]}).")
        by_pair[record.pair_id] = own
    return by_pair
