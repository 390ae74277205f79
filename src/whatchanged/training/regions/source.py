"""The examples of a recipe that learns from the stored regions of pairs, drawn and real."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes.methods import Task
from whatchanged.recipes.methods.regions import RegionsConfig
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources.regions import RegionPairsConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.data.grid_files import picture_name
from whatchanged.training.data.sources import Sources
from whatchanged.training.regions.store import RegionFiles
from whatchanged.vocabulary import NO_WORDS
from whatchanged.worlds import Truth, world_of


@dataclass(frozen=True)
class RegionPairs:
    """One example a pair: its stored regions and its truth; nothing is drawn.

    root: the folder or list of the data set, by which the pictures are named in ``files``.
    """

    records: Sequence[PairRecord]
    root: Path
    files: RegionFiles
    truths: Mapping[str, Truth]

    def __len__(self) -> int:
        return len(self.records)

    def count(self, task: Task) -> int:
        """Every task can use every example."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Pair ``index``. Raises DatasetError where its regions are not stored."""
        record = self.records[index]
        assert record.after is not None
        names = (picture_name(record.before, self.root), picture_name(record.after, self.root))
        found = self.files.read(*names)
        truth = self.truths.get(record.pair_id)
        return Example(record, "", found.before, found.after, truth=truth, measured=found.numbers)


@dataclass(frozen=True)
class Joined:
    """The pairs of several sets as one source: each set once, or several times over.

    parts: (pairs, how often they come).
    """

    parts: Sequence[tuple[RegionPairs, int]]

    def __len__(self) -> int:
        return sum(len(pairs) * times for pairs, times in self.parts)

    def count(self, task: Task) -> int:
        """Every task can use every example."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Example ``index``. Raises DatasetError where its regions are not stored."""
        for pairs, times in self.parts:
            if index < len(pairs) * times:
                return pairs.example(index % len(pairs), rng)
            index -= len(pairs) * times
        raise IndexError(index)


def open_region_pairs(recipe: Recipe, run: Path) -> Sources:
    """The pairs of ``data.path`` with the regions of ``data.features``, to train and to validate on; before
    them, where ``data.real_repeats`` asks for that, the pairs of ``data.real_path``.

    Raises RecipeError where the recipe names no such folder, or its method reads no regions; DatasetError
    where there are no pairs to train on, or others or more regions are stored.
    """
    data, method = recipe.data, recipe.method
    if not isinstance(data, RegionPairsConfig) or not isinstance(method, RegionsConfig):
        raise RecipeError(f"{recipe.name}: {method.name} does not read data.source = {data.source!r}.")
    options = "--data FOLDER", "--features FOLDER"
    drawn = _open(recipe, "", options, method.regions)
    if not data.real_repeats:
        return Sources(*drawn, NO_WORDS)
    options = "--set data.real_path=FOLDER", "--set data.real_features=FOLDER"
    real = _open(recipe, "real_", options, method.regions)
    train = Joined([(real[0], data.real_repeats), (drawn[0], 1)])
    return Sources(train, Joined([(real[1], 1), (drawn[1], 1)]), NO_WORDS)


def _open(
    recipe: Recipe, prefix: str, options: tuple[str, str], regions: int
) -> tuple[RegionPairs, RegionPairs]:
    """The pairs of one set, to train and to validate on.

    prefix: of the keys that name its folders. options: what sets them on the command line.
    """
    path, features = (getattr(recipe.data, prefix + key) for key in ("path", "features"))
    if not path:
        raise RecipeError(
            f"{recipe.name}: data.{prefix}path is empty. Say where the data set lies: {options[0]}"
        )
    if not features:
        raise RecipeError(
            f"{recipe.name}: data.{prefix}features is empty. Say where the regions lie: {options[1]}"
        )
    root = Path(path)
    dataset = open_dataset(root, pictures=False)
    world = world_of(dataset.name, root)
    truths = {} if world is None else world.truth.read(root, dataset.records)
    pairs = [record for record in dataset.records if record.after is not None]
    train, validation = ([record for record in pairs if record.split == split] for split in ("train", "val"))
    if not train and recipe.stages:
        raise DatasetError(f"{root}: no pairs in its train split, so there is nothing to train on.")
    files = RegionFiles(Path(features))
    files.check(regions)
    return RegionPairs(train, root, files, truths), RegionPairs(validation, root, files, truths)
