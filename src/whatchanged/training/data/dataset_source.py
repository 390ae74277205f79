"""Opens the examples of a data set on disk, with prepared captions, pictures and false captions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import preparation
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources.dataset import DatasetConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import Source
from whatchanged.training.data.captions import no_change_captions, prepare, reword
from whatchanged.training.data.cross_task import open_labelled, open_singles
from whatchanged.training.data.examples import DatasetSource, ExampleMaker
from whatchanged.training.data.false_captions import find_false_captions
from whatchanged.training.data.pictures import picture_reader
from whatchanged.training.data.sources import Sources
from whatchanged.training.data.variations import VariedSource
from whatchanged.vocabulary import Vocabulary
from whatchanged.worlds import Truth, World, world_of


@dataclass(frozen=True)
class _Pairs:
    """The prepared captioned pairs of a data set, for training and for validation, and all words of the
    captions.

    world, truths: None and {} where the recipe does not need them.
    """

    root: Path
    train: Sequence[PairRecord]
    validation: Sequence[PairRecord]
    words: Sequence[str]
    longest_caption: int
    world: World | None
    truths: Mapping[str, Truth]


def open_dataset_sources(recipe: Recipe, run: Path) -> Sources:
    """Return the training and validation examples of the data set at ``data.path``, grouped as
    ``data.examples`` says.

    run: the run's folder, in which false captions are saved. Raises RecipeError where the recipe's data is
    not a data set on disk or lacks a folder. Raises DatasetError where a folder does not hold what the recipe
    needs.
    """
    data = recipe.data
    if not isinstance(data, DatasetConfig):
        raise RecipeError(f"{recipe.name}: data.source = {data.source!r} is no data set on disk.")
    pairs = _open_pairs(recipe, data)
    negatives: Mapping[str, tuple[str, ...]] = {}
    if count := recipe.false_captions("pairs"):
        kept = run / "negatives.jsonl"
        negatives = find_false_captions(pairs.train, count, recipe, kept, pairs.world, pairs.truths)
    labelled = _open_labelled(recipe, data)
    read = picture_reader(recipe.vision, data.features, pairs.root)
    truths = pairs.truths if recipe.vision.truth_beside_pairs else {}
    maker = ExampleMaker(pairs.train, pairs.root, read, negatives, truths)
    own = {}
    for stage in recipe.stages:
        if stage.examples:
            own[stage.name] = maker.make(stage.examples, stage.exchange, stage.changed_only)
        elif stage.changed_only:
            own[stage.name] = maker.make(data.examples, data.exchange, changed_only=True)
    single, single_words = _open_single(recipe, data, run)
    validation = list(pairs.validation)
    sources = Sources(
        maker.make(data.examples, data.exchange),
        DatasetSource(validation, [(i, 0) for i in range(len(validation))], read, {}),
        Vocabulary.from_captions([*pairs.words, *single_words]),
        no_change_captions([*pairs.train, *validation]),
        single,
        labelled,
        own,
        pairs.longest_caption,
    )
    if not data.shift and not data.mirror_unless:
        return sources
    return sources.changed(lambda source: VariedSource(source, data.shift, data.mirror_unless))


def planned_words(data: DatasetConfig) -> tuple[Vocabulary, str] | None:
    """Return the words of the data set's captions, and the name of their origin; None where the settings
    contain no data set.
    """
    if not data.path:
        return None
    records = open_dataset(Path(data.path), pictures=False).records
    found = Vocabulary.from_captions(preparation(data.preparation).known(records))
    return found, f"the {len(found):,} words of {data.path}"


def _open_pairs(recipe: Recipe, data: DatasetConfig) -> _Pairs:
    """Return the data set with captions prepared for the recipe. The errors are the errors of
    ``open_dataset_sources``.
    """
    if not data.path:
        raise RecipeError(f"{recipe.name}: data.path is empty. Say where the data set lies: --data FOLDER")
    root = Path(data.path)
    dataset = open_dataset(root, pictures=not recipe.vision.stored)
    world: World | None = None
    truths: Mapping[str, Truth] = {}
    reworded, made = data.wording != "captions", recipe.false_captions("pairs")
    if reworded or made or recipe.vision.truth_beside_pairs:  # many scenes take long to read
        world = world_of(dataset.name, root)
        truths = {} if world is None else world.truth.read(root, dataset.records)
    records = reword(dataset.records, data.wording, world, truths)
    prepared = preparation(data.preparation)
    captioned = [record for record in records if record.captions]
    train = [prepare(record, prepared) for record in captioned if record.split == "train"]
    held = _spread([record for record in captioned if record.split == "val"], data.validation)
    validation = [prepare(record, prepared) for record in held]
    if not train and recipe.stages:
        raise DatasetError(f"{root}: no captioned pairs in its train split, so there is nothing to train on.")
    if not validation and any(stage.evaluate_every for stage in recipe.stages):
        raise DatasetError(
            f"{root}: no captioned pairs in its val split to validate on. Use a data set with one, or set"
            " evaluate_every = 0 and patience = 0 in every stage."
        )
    words, longest = prepared.known(records), prepared.longest(captioned)
    return _Pairs(root, train, validation, words, longest, world, truths)


def _open_single(recipe: Recipe, data: DatasetConfig, run: Path) -> tuple[Source | None, Sequence[str]]:
    """Return examples and words for stages with data = "single". Returns no examples where the recipe has no
    such stage.
    """
    if all(stage.data != "single" for stage in recipe.stages):
        return None, []
    prepared = preparation(data.single_preparation)
    name, records = open_singles(data.single, pictures=not recipe.vision.stored)
    root = Path(data.single)
    train = [prepare(record, prepared) for record in records]
    negatives: Mapping[str, tuple[str, ...]] = {}
    if count := recipe.false_captions("single"):
        world = world_of(name, root)
        truths = {} if world is None else world.truth.read(root, train)
        kept = run / "negatives_single.jsonl"
        negatives = find_false_captions(train, count, recipe, kept, world, truths)
    captions = [(i, j) for i, record in enumerate(train) for j in range(len(record.captions))]
    read = picture_reader(recipe.vision, data.features, root)
    return DatasetSource(train, captions, read, negatives), prepared.known(records)


def _open_labelled(recipe: Recipe, data: DatasetConfig) -> Source | None:
    """Return pairs of labelled pictures, if a task reads labelled pictures."""
    tasks = [recipe.tasks[name] for stage in recipe.stages for name in stage.tasks]
    if all(task.reads != "labelled" for task in tasks):
        return None
    pictures = not recipe.vision.stored
    read = picture_reader(recipe.vision, data.features, Path(data.labelled))
    return open_labelled(data.labelled, read, recipe.method.labelled_classes, pictures)


def _spread(records: list[PairRecord], most: int) -> list[PairRecord]:
    """Return ``most`` records, drawn at random, in their original order. Returns all records if ``most`` is
    0.
    """
    if not most or len(records) <= most:
        return records
    return [records[i] for i in sorted(np.random.default_rng(0).permutation(len(records))[:most])]
