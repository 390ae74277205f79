"""Makes numbered examples of a data set's captioned pairs: one example per caption, per pair, or per scene of
two pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from whatchanged.errors import DatasetError
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Examples
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example, PictureReader, Source
from whatchanged.worlds import Truth


@dataclass(frozen=True)
class DatasetSource:
    """Examples of a data set, one per caption.

    items: for each example, the number of the record and the number of the caption in the record. views:
    record number -> the unchanged pair of the record's scene. In half of the visits, the second picture of
    this unchanged pair replaces the picture before. truths: pair id -> the ground truth of the pair, for a
    vision that learns from ground truth; {} for other visions.
    """

    records: Sequence[PairRecord]
    items: Sequence[tuple[int, int]]
    read: PictureReader
    negatives: Mapping[str, tuple[str, ...]]
    views: Mapping[int, PairRecord] = field(default_factory=dict)
    truths: Mapping[str, Truth] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)

    def count(self, task: Task) -> int:
        """Return the number of examples. Every task can use every example."""
        return len(self.items)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Return example ``index``. Only the view is drawn at random, if ``views`` has the record."""
        number, caption = self.items[index]
        record = self.records[number]
        if number in self.views and rng.random() < 0.5:
            record, _ = exchanged(record, self.views[number])
        return _example(record, caption, self.read, self.negatives, self.truths)


@dataclass(frozen=True)
class DrawnSource:
    """Examples of pairs, or of scenes (changed pair, unchanged pair), whose caption is drawn at each visit.

    exchange: in half of the visits, the function ``exchanged`` replaces the pairs of a scene.
    """

    groups: Sequence[tuple[PairRecord, ...]]
    exchange: bool
    read: PictureReader
    negatives: Mapping[str, tuple[str, ...]]
    truths: Mapping[str, Truth] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.groups)

    def count(self, task: Task) -> int:
        """Return the number of examples. Every task can use every example."""
        return len(self.groups)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Return pair ``index``, or both pairs of scene ``index``. The unchanged pair of a scene is the
        ``partner``.
        """
        group = self.groups[index]
        if self.exchange and rng.random() < 0.5:
            group = exchanged(*group)
        first, *rest = [
            _example(record, int(rng.integers(len(record.captions))), self.read, self.negatives, self.truths)
            for record in group
        ]
        return replace(first, partner=rest[0]) if rest else first


def exchanged(changed: PairRecord, same: PairRecord) -> tuple[PairRecord, PairRecord]:
    """Return a scene's two pairs after swapping the two views of the unchanged scene.

    Let d be the picture before, c the changed picture, and n the unchanged picture from another view. The
    pairs (d, c) and (d, n) become (n, c) and (n, d).
    """
    assert same.after is not None
    boxes = (None, changed.boxes[1])
    return (
        replace(changed, before=same.after, boxes=boxes, viewpoint_iou=None),
        replace(same, before=same.after, after=same.before, boxes=same.boxes[::-1]),
    )


def _example(
    record: PairRecord,
    caption: int,
    read: PictureReader,
    negatives: Mapping[str, tuple[str, ...]],
    truths: Mapping[str, Truth],
) -> Example:
    after = record.before if record.after is None else record.after
    false, truth = negatives.get(record.pair_id, ()), truths.get(record.pair_id)
    return Example(record, record.captions[caption], read(record.before), read(after), false, truth)


def _scenes(train: Sequence[PairRecord], root: Path) -> Sequence[tuple[PairRecord, ...]]:
    """Return each scene's changed pair and unchanged pair. Raises DatasetError for a scene with other
    pairs.
    """
    members: dict[str, list[PairRecord]] = {}
    for record in train:
        members.setdefault(record.group_id, []).append(record)
    for scene, pairs in members.items():
        if sorted(str(pair.changed) for pair in pairs) != ["False", "True"]:
            raise DatasetError(
                f"{root}: scene {scene} has {len(pairs)} training pairs, wanted one changed and one not."
                ' Use examples = "pairs", and no exchange.'
            )
    return [tuple(sorted(pairs, key=lambda pair: not pair.changed)) for pairs in members.values()]


@dataclass(frozen=True)
class ExampleMaker:
    """The training pairs of the data set at ``root``; ``make`` groups them into examples."""

    train: Sequence[PairRecord]
    root: Path
    read: PictureReader
    negatives: Mapping[str, tuple[str, ...]]
    truths: Mapping[str, Truth] = field(default_factory=dict)

    def make(self, kind: Examples, exchange: bool, changed_only: bool = False) -> Source:
        """Group the pairs into examples of a kind: one example per caption, per pair, or per scene.

        exchange: see ``exchanged``. changed_only: leave out the unchanged pairs. Raises DatasetError where
        the data set lacks the pairs that the kind needs.
        """
        train = self.train
        views: dict[int, PairRecord] = {}
        if changed_only and exchange:
            scenes = _scenes(train, self.root)
            train = [pair for pair, _ in scenes]
            views = {number: same for number, (_, same) in enumerate(scenes)}
        elif changed_only:
            train = [record for record in train if record.changed is not False]
        if changed_only and not train:
            raise DatasetError(
                f"{self.root}: no training pair changed. Set changed_only = false in every stage."
            )
        if kind == "captions":
            captions = [(i, j) for i, record in enumerate(train) for j in range(len(record.captions))]
            return DatasetSource(train, captions, self.read, self.negatives, views, self.truths)
        groups = _scenes(train, self.root) if kind == "scenes" else [(record,) for record in train]
        return DrawnSource(groups, exchange, self.read, self.negatives, self.truths)
