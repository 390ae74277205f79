"""PCL's cross-task examples: single pictures with captions (CUB), and pairs of labelled pictures (NABirds).

The authors built 48,562 pairs of NABirds pictures by a rule that they did not publish. Here, in each pass,
every picture is the first picture of one pair. The partner is drawn anew each time: with probability 1/2 from
the class of the first picture, otherwise from another class. A picture that is alone in its class always gets
a partner of another class. If a data set already holds PCL's pairs, these pairs are read unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes.methods import Task
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example, PictureReader

SAME = 0.5
"""The probability that a partner is drawn from the same class."""


@dataclass(frozen=True)
class LabelledPairs:
    """Examples of two labelled pictures. Picture ``index`` is the first picture of example ``index``.

    Records that are pairs already stay unchanged.
    """

    records: Sequence[PairRecord]
    read: PictureReader

    def __len__(self) -> int:
        return len(self.records)

    def count(self, task: Task) -> int:
        """Return the number of pictures. In a pass, each picture is the first picture of one pair."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Return the example of picture ``index`` and a partner, which is drawn with ``rng``."""
        record = self.records[index]
        pair = record if record.after is not None else self._paired(record, index, rng)
        assert pair.after is not None
        return Example(pair, "", self.read(pair.before), self.read(pair.after))

    def _paired(self, record: PairRecord, index: int, rng: np.random.Generator) -> PairRecord:
        order, starts, labels = self._by_class
        label = labels[index]
        first, end = int(starts[label]), int(starts[label + 1])
        inside = end - first
        if inside > 1 and rng.random() < SAME:
            place = first + int(rng.integers(inside - 1))
            place += place >= int(np.flatnonzero(order[first:end] == index)[0]) + first
        else:
            place = int(rng.integers(len(order) - inside))
            place += inside * (place >= first)
        other = self.records[int(order[place])]
        assert record.labels is not None and other.labels is not None
        labels_of_both = (record.labels[0], other.labels[0])
        return replace(
            record,
            pair_id=f"{record.pair_id}_{other.pair_id}",
            kind="pair_label",
            after=other.before,
            labels=labels_of_both,
            same_class=labels_of_both[0] == labels_of_both[1],
        )

    @cached_property
    def _by_class(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the pictures ordered by class, the position at which each class begins in this order, and
        each picture's class.
        """
        labels = np.array([record.labels[0] if record.labels else 0 for record in self.records])
        order = np.argsort(labels, kind="stable")
        return order, np.searchsorted(labels[order], np.arange(labels.max() + 2)), labels


def open_labelled(folder: str, read: PictureReader, classes: int, pictures: bool) -> LabelledPairs:
    """Return the training pictures of the labelled set at ``folder``, ready to be paired.

    classes: the method's number of classes. Raises RecipeError where ``folder`` is empty. Raises DatasetError
    where the folder holds no labels, labels of one class alone, or a label above classes - 1.
    """
    if not folder:
        raise RecipeError(
            "task fgvc reads labelled pictures (NABirds). Say where: --set data.labelled=FOLDER"
        )
    dataset = open_dataset(folder, pictures=pictures)
    records = [r for r in dataset.records if r.split == "train" and r.labels and not r.captions]
    if not records:
        raise DatasetError(
            f"{folder}: no labelled pictures without captions in its train split (NABirds has)."
        )
    results = {label for record in records for label in record.labels or ()}
    if max(results) >= classes:
        raise DatasetError(
            f"{folder}: its classes are numbered up to {max(results)}, from 0; method.classes is {classes}."
            f" Set method.classes={max(results) + 1}."
        )
    if len(results) < 2:
        raise DatasetError(f"{folder}: all its training pictures are of one class; two at least are wanted.")
    return LabelledPairs(records, read)


def open_singles(folder: str, pictures: bool) -> tuple[str, list[PairRecord]]:
    """Return the name of the single-picture set at ``folder``, and the captioned training pictures of the
    set.

    Raises RecipeError where ``folder`` is empty, DatasetError where the folder holds no such set.
    """
    if not folder:
        raise RecipeError(
            'a stage with data = "single" reads captioned single pictures (CUB). Say where:'
            " --set data.single=FOLDER."
        )
    dataset = open_dataset(folder, pictures=pictures)
    records = [r for r in dataset.records if r.split == "train" and r.captions]
    if not records or any(record.kind != "single_caption" for record in records):
        raise DatasetError(
            f"{folder}: this is {dataset.name}; wanted single pictures with captions and a train split (CUB)."
        )
    return dataset.name, records
