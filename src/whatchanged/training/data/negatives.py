"""False captions for PCL's task FDA: the steps that are the same for every language, and the file of false
captions.

    Retrieve   the captions of other pairs that are most similar by TF-IDF
    Replace    the half of a caption's nouns and adjectives that TF-IDF ranks highest, each replaced by
               another word of its kind
    Confuse    the two objects of a caption exchanged

``text_negatives`` makes false captions for free text, ``objects.clevr_negatives`` for the sentences of CLEVR.
Both modules also decide whether a sentence is false.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from whatchanged.errors import DatasetError
from whatchanged.files import whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.records import PairRecord

NegativeKind = Literal["retrieve", "replace", "confuse"]
KINDS: tuple[NegativeKind, ...] = ("retrieve", "replace", "confuse")
ProposedNegative = tuple[NegativeKind, str, float]
"""The kind of a false caption, its sentence, and the fraction of the sentence's words that were replaced."""
Proposed = tuple[list[str], Iterator[ProposedNegative]]
"""The false captions that a pair already has, and an iterator over further proposals, which differ from these
false captions."""

SHARES = ".shares.json"
"""The suffix of the file that records the number of false captions of each kind."""
MIN_DOCUMENTS = 10
"""A word may be a substitute only if Replace would choose it in at least this number of captions."""
POOL = 20_000
"""The largest number of different captions that Retrieve searches. The captions to search are drawn at
random.
"""
CANDIDATES = 200
"""The number of most similar captions that Retrieve examines for one pair."""
TRIES = 12
"""The number of attempts of Replace and Confuse for one caption."""


@dataclass(frozen=True)
class Mined:
    """The false captions that were made.

    The fields are: pair id -> the pair's false captions; the number of false captions of each kind; the share
    of words that Replace replaced; pair id -> the kind of each false caption, where the kind is known.
    """

    sentences: Mapping[str, tuple[str, ...]]
    counts: Mapping[NegativeKind, int]
    replaced: float
    kinds: Mapping[str, tuple[NegativeKind, ...]] = field(default_factory=dict)

    def shares(self) -> dict[str, Any]:
        """Return the number of pairs, the number of false captions of each kind, and the share of replaced
        words, in the format of the file in the run's folder.
        """
        counts = {kind: self.counts.get(kind, 0) for kind in KINDS}
        return {"pairs": len(self.sentences), "kinds": counts, "replaced_words": self.replaced}


def joined(one: Mined, other: Mined) -> Mined:
    """Join the false captions of two groups of pairs."""
    counts = Counter(one.counts) + Counter(other.counts)
    replaced = one.replaced * one.counts.get("replace", 0) + other.replaced * other.counts.get("replace", 0)
    return Mined(
        {**one.sentences, **other.sentences},
        counts,
        replaced / max(1, counts["replace"]),
        {**one.kinds, **other.kinds},
    )


def fill(
    records: Sequence[PairRecord],
    texts: "CaptionVectors",
    propose: Callable[[PairRecord, Sequence[str], np.random.Generator], Proposed],
    seed: int,
    count: int,
) -> Mined:
    """Take each record's proposals in order until the record has ``count`` false captions.

    propose: (record, the most similar captions, random numbers) -> the list to fill and the proposals. A
    proposal may depend on the present content of the list. Raises DatasetError for a record with too few
    proposals.
    """
    sentences: dict[str, tuple[str, ...]] = {}
    kinds: dict[str, tuple[NegativeKind, ...]] = {}
    counts: Counter[NegativeKind] = Counter()
    replaced: list[float] = []
    similar = texts.similar([most_specific(record) for record in records])
    for number, record in enumerate(records):
        chosen, proposals = propose(record, next(similar), np.random.default_rng((seed, number)))
        own: list[NegativeKind] = []
        for kind, sentence, share in proposals:
            counts[kind] += 1
            own.append(kind)
            replaced += [share] if kind == "replace" else []
            chosen.append(sentence)
            if len(chosen) == count:
                break
        else:
            raise DatasetError(
                f"{record.pair_id}: only {len(chosen)} of {count} false captions can be found among"
                f" the {len(texts.sentences)} captions at hand. Use more pairs, or leave out the task fda."
            )
        sentences[record.pair_id], kinds[record.pair_id] = tuple(chosen), tuple(own)
    return Mined(sentences, counts, float(np.mean(replaced)) if replaced else 0.0, kinds)


class CaptionVectors:
    """TF-IDF vectors of captions, with words separated by blanks. At most ``POOL`` captions are searched.

    everything: all distinct captions, sorted.
    """

    def __init__(self, everything: Sequence[str], seed: int) -> None:
        self.vectors = TfidfVectorizer(token_pattern=r"\S+").fit(everything)
        keep = np.random.default_rng(seed).permutation(len(everything))[:POOL]
        self.sentences = [everything[i] for i in sorted(keep)]
        self.table = self.vectors.transform(self.sentences)
        self.weights = dict(zip(self.vectors.get_feature_names_out(), self.vectors.idf_, strict=True))

    def similar(self, queries: Sequence[str]) -> Iterator[list[str]]:
        """Return for each query the most similar captions, best first."""
        chunk = 256
        for start in range(0, len(queries), chunk):
            rows = (self.vectors.transform(queries[start : start + chunk]) @ self.table.T).toarray()
            for row in rows:
                best = np.argpartition(-row, min(CANDIDATES, len(row) - 1))[:CANDIDATES]
                yield [self.sentences[i] for i in best[np.lexsort((best, -row[best]))]]


def in_turn(captions: Sequence[str], rng: np.random.Generator) -> Iterator[str]:
    """Return the captions in a random order, repeated ``TRIES`` times."""
    order = rng.permutation(len(captions))
    return (captions[i] for _ in range(TRIES) for i in order)


def first_of(proposals: Iterator[ProposedNegative]) -> Iterator[ProposedNegative]:
    """Yield the next proposal, if a further proposal exists."""
    results = next(proposals, None)
    if results is not None:
        yield results


def most_specific(record: PairRecord) -> str:
    """Return the pair's longest caption. Retrieve compares other captions with this caption."""
    return max(record.captions, key=lambda caption: (len(caption.split()), caption), default="")


def write_negatives(path: Path, records: Iterable[PairRecord], mined: Mined) -> None:
    """Write the published format, atomically: JSON lines with img1, img2, sentences, neg_samples.

    Each line begins with the pair's id, because pictures in different folders may have the same name. Each
    line ends with the kind of each false caption, where the kind is known. The file NAME.shares.json beside
    ``path`` records the number of false captions of each kind, and the share of words that Replace replaced.
    """
    with whole(path.with_suffix(SHARES)) as draft:
        draft.write_text(json.dumps(mined.shares()) + "\n", encoding="utf-8")
    with whole(path) as draft, draft.open("w", encoding="utf-8") as file:
        for record in records:
            line: dict[str, Any] = {
                "id": record.pair_id,
                "img1": record.before.name,
                "img2": "" if record.after is None else record.after.name,
                "sentences": list(record.captions),
                "neg_samples": list(mined.sentences[record.pair_id]),
            }
            if record.pair_id in mined.kinds:
                line["neg_kinds"] = list(mined.kinds[record.pair_id])
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def share_lines(run: Path) -> list[str]:
    """Return one line of summary for each file of false captions that a run made."""
    lines = []
    for file in sorted(run.glob(f"*{SHARES}")):
        shares = read_json(read_regular_text(file))
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in shares["kinds"].items())
        lines.append(
            f"{file.name.removesuffix(SHARES)}: false captions of {shares['pairs']:,} pairs: {kinds}; Replace"
            f" changed {100 * shares['replaced_words']:.0f} % of a caption's words"
        )
    return lines


def read_negatives(path: Path, records: Iterable[PairRecord]) -> dict[str, tuple[str, ...]]:
    """Return a mapping from pair id to the false captions of these records, from a file in the published
    format.

    The id in a line identifies the pair. In a line without an id, the two file names identify the pair.
    Raises DatasetError for a line in another format, where two lines give a pair different false captions,
    and where a record has no false captions.
    """
    results: dict[tuple[str, ...], tuple[str, ...]] = {}
    try:
        lines = read_regular_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot read the false captions: {error}") from error
    for number, text in enumerate(lines, 1):
        try:
            line: Any = read_json(text)
            false = tuple(str(sentence) for sentence in line["neg_samples"])
            names = (Path(line["img1"]).name, Path(line["img2"]).name)
            pair = (str(line["id"]),) if "id" in line else names
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(
                f"{path}, line {number}: wanted img1, img2, neg_samples; got {text[:80]!r}"
            ) from error
        if results.setdefault(pair, false) != false:  # a pool's unchanged pair may come twice, with the same
            raise DatasetError(
                f"{path}, line {number}: other false captions for {', '.join(pair)} than in an earlier line."
                " Delete the file to have them made anew, or give each line the pair's id."
            )
    by_pair = {}
    for record in records:
        names = (record.before.name, "" if record.after is None else record.after.name)
        own = results.get((record.pair_id,), results.get(names))
        if own is None:
            raise DatasetError(f"{path}: no false captions for {record.pair_id} ({names[0]}, {names[1]}).")
        by_pair[record.pair_id] = own
    return by_pair
