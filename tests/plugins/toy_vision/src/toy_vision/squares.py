"""The toy source: pairs of squares that are painted as they are read."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from toy_world.drawing import GROUNDS, paint, sample
from toy_world.world import NO_CHANGE, captions, kind_of

from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Recipe
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.data.sources import Sources
from whatchanged.vocabulary import Vocabulary


@dataclass(frozen=True)
class Squares:
    """Pairs ``first``, ``first + 1``, ...; each follows from its number."""

    first: int
    count_: int
    unchanged: float
    size: tuple[int, int]

    def __len__(self) -> int:
        return self.count_

    def count(self, task: Task) -> int:
        """All of them."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """One of the sentences, drawn anew."""
        truth = sample(np.random.default_rng(self.first + index), self.unchanged)
        said, kind = captions(truth, rng), kind_of(truth)
        name = f"{self.first + index}"
        paths = Path(f"{name}_before.png"), Path(f"{name}_after.png")
        record = PairRecord(
            "toy_squares", name, name, "train", "pair_caption", *paths, said,
            changed=kind != "none", change_type=kind,
        )  # fmt: skip
        pixels = [np.asarray(paint(square, GROUNDS["light"], self.size)) for square in truth]
        return Example(record, said[0], *pixels, truth=truth)


def open_squares(recipe: Recipe, run: Path) -> Sources:
    """Pairs to train and others to validate on."""
    data, size = recipe.data, recipe.vision.picture_size
    train = Squares(1000, data.pairs, data.unchanged, size)
    validation = Squares(0, 12, data.unchanged, size)
    said = [captions(sample(np.random.default_rng(i), 0.3), np.random.default_rng(i)) for i in range(200)]
    return Sources(train, validation, Vocabulary.from_captions(sum(said, ())), NO_CHANGE)
