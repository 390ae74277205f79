"""Judge captions by the truth of their pairs, in data sets of a known world."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whatchanged.evaluation.metrics.additive import Additive, shares
from whatchanged.evaluation.metrics.subsets import NO_CHANGE, Subsets, kinds_in_order
from whatchanged.records import PairRecord
from whatchanged.worlds import Truth, Verdict, World, world_of

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Truths:
    """The truth of the pairs of a data set, and the world that judges by it."""

    world: World
    by_id: Mapping[str, Truth]


def read_truths(root: Path, records: Sequence[PairRecord]) -> Truths | None:
    """Read the truth of the records' pairs from the data set's folder.

    Return None where the folder has none, or the data set shows no known world.
    """
    world = world_of(records[0].dataset, root)
    if world is None:
        return None
    results = world.truth.read(root, records)
    return Truths(world, results) if results else None


@dataclass(frozen=True)
class Judged:
    """The verdicts on P captions. A pair without truth has no verdict and counts nowhere."""

    world: World
    ids: tuple[str, ...]
    captions: tuple[str, ...]
    kinds: tuple[str | None, ...]
    """The true change; None where it is unknown."""
    verdicts: tuple[Verdict | None, ...]
    right: Flags
    """(P, G) Whether the caption earns the grade, in the order of the world's ``grades``."""
    applies: Flags
    """(P, G) Whether the grade applies to the pair at all."""

    @property
    def known(self) -> int:
        """Return how many pairs have a truth."""
        return sum(kind is not None for kind in self.kinds)

    @property
    def unparsed(self) -> list[tuple[str, str]]:
        """Return (id, caption) of each caption that is outside the world's language."""
        return [
            (pair_id, caption)
            for pair_id, caption, verdict in zip(self.ids, self.captions, self.verdicts, strict=True)
            if verdict is not None and not verdict.parsed
        ]

    def subsets(self, viewpoints: Subsets) -> Subsets:
        """Return the subsets by the true change: changed, unchanged, each type, and the given viewpoints.

        Viewpoints contain only changed pairs. Subsets without pairs, or without a grade, are left out.
        """
        kinds = np.array([kind or "" for kind in self.kinds])
        changed: Flags = (kinds != "") & (kinds != NO_CHANGE)
        results: Subsets = {
            ("semantic",): np.flatnonzero(changed),
            ("distractor",): np.flatnonzero(kinds == NO_CHANGE),
        }
        for kind in kinds_in_order(self.kinds, self.world.breakdown.kinds):
            results["types", kind] = np.flatnonzero(kinds == kind)
        for subset, pairs in viewpoints.items():
            results[subset] = pairs[changed[pairs]]
        return {names: pairs for names, pairs in results.items() if len(pairs) and self._columns(pairs)}

    def of(self, pairs: NDArray[np.int64]) -> Additive:
        """Return the shares of right captions among some pairs, which are all changed or all unchanged."""
        columns = self._columns(pairs)
        names = [self.world.breakdown.grades[column] for column in columns]
        return shares(names, self.right[pairs][:, columns], self.applies[pairs][:, columns])

    @property
    def read(self) -> Flags:
        """Return whether each caption could be parsed (P,); False where no truth is known."""
        return np.array([verdict is not None and verdict.parsed for verdict in self.verdicts])

    def counts(self, pairs: NDArray[np.int64]) -> dict[str, tuple[int, int]]:
        """Return grade -> how many of these pairs earn it, and to how many it applies."""
        applies = self.applies[pairs]
        hits = (self.right[pairs] & applies).sum(axis=0)
        of = applies.sum(axis=0)
        grades = self.world.breakdown.grades
        return {grades[column]: (int(hits[column]), int(of[column])) for column in self._columns(pairs)}

    def _columns(self, pairs: NDArray[np.int64]) -> list[int]:
        """Return the grades of a subset: all for changed pairs; for unchanged ones those that apply to
        any.
        """
        every = range(len(self.world.breakdown.grades))
        if self.kinds[pairs[0]] != NO_CHANGE:
            return list(every)
        return [column for column in every if self.applies[pairs, column].any()]


def judged(records: Sequence[PairRecord], captions: Sequence[str], truths: Truths) -> Judged:
    """Judge every caption by the truth of its pair; ``captions[i]`` belongs to ``records[i]``."""
    world = truths.world
    kinds: list[str | None] = []
    verdicts: list[Verdict | None] = []
    right = np.zeros((len(records), len(world.breakdown.grades)), bool)
    applies = np.zeros_like(right)
    for i, (record, caption) in enumerate(zip(records, captions, strict=True)):
        if record.pair_id not in truths.by_id:
            kinds.append(None)
            verdicts.append(None)
            continue
        truth = truths.by_id[record.pair_id]
        verdict = world.language.judge(caption, truth)
        kinds.append(world.truth.kind_of(truth))
        verdicts.append(verdict)
        grades = [verdict.grades[name] for name in world.breakdown.grades]
        right[i] = [grade is True for grade in grades]
        applies[i] = [grade is not None for grade in grades]
    ids = tuple(record.pair_id for record in records)
    return Judged(world, ids, tuple(captions), tuple(kinds), tuple(verdicts), right, applies)
