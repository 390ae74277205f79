"""Varies a pair slightly at each visit, by shifts and mirroring. The difference between the two pictures does
not change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whatchanged.recipes.methods import Task
from whatchanged.training.batches import Example, Source


@dataclass(frozen=True)
class VariedSource:
    """The examples of ``source``, shifted by up to ``shift`` pixels along each axis. Half of the examples are
    mirrored.

    Both pictures of an example are varied alike, so the difference between the pictures stays. The partner of
    an example is varied independently. Pixels at the edge are repeated. mirror_unless: an example whose
    captions hold one of these words is never mirrored. An empty list mirrors no example.
    """

    source: Source
    shift: int
    mirror_unless: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.source)

    def count(self, task: Task) -> int:
        """Return the count of the source."""
        return self.source.count(task)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Return example ``index``. The variation is drawn after all random numbers of the source."""
        return self._varied(self.source.example(index, rng), rng)

    def _varied(self, example: Example, rng: np.random.Generator) -> Example:
        height, width = example.before.shape[:2]
        down, right = rng.integers(-self.shift, self.shift + 1, 2)
        rows = np.clip(np.arange(height) - down, 0, height - 1)
        columns = np.clip(np.arange(width) - right, 0, width - 1)
        if self._may_be_mirrored(example) and rng.random() < 0.5:
            columns = width - 1 - columns
        cells = np.ix_(rows, columns)
        partner = None if example.partner is None else self._varied(example.partner, rng)
        return replace(example, before=example.before[cells], after=example.after[cells], partner=partner)

    def _may_be_mirrored(self, example: Example) -> bool:
        words = {word for caption in (example.caption, *example.negatives) for word in caption.split()}
        return bool(self.mirror_unless) and words.isdisjoint(self.mirror_unless)
