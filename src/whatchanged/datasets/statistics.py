"""Statistics of the captions in each split of a data set: the number of captions, the lengths of captions,
and the size of the vocabulary.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whatchanged.datasets.preparation import between_blanks
from whatchanged.datasets.reading import SPLITS
from whatchanged.records import PairRecord, Split


@dataclass(frozen=True)
class Spread:
    """The minimum, mean and maximum of a list of numbers. All three are 0 for an empty list."""

    least: int
    mean: float
    most: int

    @classmethod
    def of(cls, numbers: Sequence[int]) -> "Spread":
        """Return the spread of ``numbers``."""
        return cls(min(numbers), sum(numbers) / len(numbers), max(numbers)) if numbers else cls(0, 0.0, 0)


@dataclass(frozen=True)
class Summary:
    """The statistics of one split.

    Words are separated by blanks. once: the number of words that occur exactly once.
    """

    split: Split
    pairs: int
    groups: int
    types: tuple[tuple[str, int], ...]
    classes: int
    captions: int
    captions_a_pair: Spread
    words_a_caption: Spread
    vocabulary: int
    once: int


def summarise(records: Sequence[PairRecord], kinds: Sequence[str] = ()) -> tuple[Summary, ...]:
    """Return the summary of each split that has records. Words are separated by blanks.

    kinds: the change types in the order of the result. Other change types follow in alphabetical order, and
    "none" is last.
    """
    results = []
    for split in SPLITS:
        here = [record for record in records if record.split == split]
        if here:
            results.append(_summary(split, here, kinds))
    return tuple(results)


def _summary(split: Split, records: Sequence[PairRecord], kinds: Sequence[str]) -> Summary:
    types = Counter(record.change_type for record in records if record.change_type is not None)
    others = sorted(kind for kind in types if kind not in kinds and kind != "none")
    counts: Counter[str] = Counter()
    lengths = []
    for record in records:
        for caption in record.captions:
            results = between_blanks(caption)
            counts.update(results)
            lengths.append(len(results))
    return Summary(
        split=split,
        pairs=len(records),
        groups=len({record.group_id for record in records}),
        types=tuple((kind, types[kind]) for kind in (*kinds, *others, "none") if types[kind]),
        classes=len({label for record in records for label in record.labels or ()}),
        captions=len(lengths),
        captions_a_pair=Spread.of([len(record.captions) for record in records]),
        words_a_caption=Spread.of(lengths),
        vocabulary=len(counts),
        once=sum(count == 1 for count in counts.values()),
    )
