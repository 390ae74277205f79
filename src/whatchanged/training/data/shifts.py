"""Pairs that stand a little elsewhere in the frame each time they are read: more views of few pictures."""

from dataclasses import dataclass, replace

import numpy as np

from whatchanged.recipes.methods import Task
from whatchanged.training.batches import Example, Source


@dataclass(frozen=True)
class ShiftedSource:
    """The examples of ``source``, their pictures shifted by up to ``most`` pixels along each axis.

    Both pictures of an example are shifted alike, so what differs between them stays as it is; its partner is
    shifted by itself. Pixels at the edge are repeated.
    """

    source: Source
    most: int

    def __len__(self) -> int:
        return len(self.source)

    def count(self, task: Task) -> int:
        """As many as the source says."""
        return self.source.count(task)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Example ``index``; the shift is drawn behind all that the source draws."""
        return self._shifted(self.source.example(index, rng), rng)

    def _shifted(self, example: Example, rng: np.random.Generator) -> Example:
        height, width = example.before.shape[:2]
        down, right = rng.integers(-self.most, self.most + 1, 2)
        rows = np.clip(np.arange(height) - down, 0, height - 1)
        columns = np.clip(np.arange(width) - right, 0, width - 1)
        cells = np.ix_(rows, columns)
        partner = None if example.partner is None else self._shifted(example.partner, rng)
        return replace(example, before=example.before[cells], after=example.after[cells], partner=partner)
