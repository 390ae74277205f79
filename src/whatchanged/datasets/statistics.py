"""What a data set's captions are like: how many, how long, which words; one summary a split."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whatchanged.datasets.preparation import between_blanks
from whatchanged.datasets.reading import SPLITS
from whatchanged.records import CHANGE_TYPES, ChangeType, PairRecord, Split


@dataclass(frozen=True)
class Spread:
    """Least, mean and greatest of some numbers; zeros where there are none."""

    least: int
    mean: float
    most: int

    @classmethod
    def of(cls, numbers: Sequence[int]) -> "Spread":
        """The spread of ``numbers``."""
        return cls(min(numbers), sum(numbers) / len(numbers), max(numbers)) if numbers else cls(0, 0.0, 0)


@dataclass(frozen=True)
class Summary:
    """One split. Words are what ``words`` cuts; ``once`` are those that occur a single time."""

    split: Split
    pairs: int
    groups: int
    types: tuple[tuple[ChangeType, int], ...]
    classes: int
    captions: int
    captions_a_pair: Spread
    words_a_caption: Spread
    vocabulary: int
    once: int


def summarise(records: Sequence[PairRecord]) -> tuple[Summary, ...]:
    """The summary of each split that has records; words stand between blanks."""
    return tuple(
        _summary(split, here) for split in SPLITS if (here := [r for r in records if r.split == split])
    )


def _summary(split: Split, records: Sequence[PairRecord]) -> Summary:
    types = Counter(record.change_type for record in records)
    counts: Counter[str] = Counter()
    lengths = []
    for record in records:
        for caption in record.captions:
            found = between_blanks(caption)
            counts.update(found)
            lengths.append(len(found))
    return Summary(
        split=split,
        pairs=len(records),
        groups=len({record.group_id for record in records}),
        types=tuple((kind, types[kind]) for kind in CHANGE_TYPES if types[kind]),
        classes=len({label for record in records for label in record.labels or ()}),
        captions=len(lengths),
        captions_a_pair=Spread.of([len(record.captions) for record in records]),
        words_a_caption=Spread.of(lengths),
        vocabulary=len(counts),
        once=sum(count == 1 for count in counts.values()),
    )
