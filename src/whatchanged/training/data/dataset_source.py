"""A data set on disk as a recipe's data: captions prepared, pairs cut into examples, false captions found."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import Preparation, preparation
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes.schema import PCLConfig, PCLCrossTaskConfig, Recipe
from whatchanged.records import PairRecord
from whatchanged.training.batches import Source
from whatchanged.training.data.cross_task import open_labelled, open_singles
from whatchanged.training.data.examples import DatasetSource, Kind, cut
from whatchanged.training.data.pictures import reader
from whatchanged.training.data.sources import Sources
from whatchanged.vocabulary import Vocabulary
from whatchanged.worlds.birds.language import is_true
from whatchanged.worlds.birds.twin import read_truth
from whatchanged.worlds.clevr.language import Wording, write_fixed
from whatchanged.worlds.clevr.world import truths as scene_truths

if TYPE_CHECKING:
    from whatchanged.training.data.text_negatives import Judge


def open_dataset_sources(recipe: Recipe, run: Path) -> Sources:
    """Train and validation examples of the data set at ``data.path``, cut as ``data.examples`` says.

    Raises RecipeError where the recipe asks for what a data set on disk does not have, DatasetError where the
    folder does not hold what it should.
    """
    if not recipe.data.path:
        raise RecipeError(f"{recipe.name}: data.path is empty. Say where the data set lies: --data FOLDER")
    if recipe.data.ordered_pairs != "official":
        wanted = recipe.data.ordered_pairs
        raise RecipeError(f'{recipe.name}: data.ordered_pairs = "{wanted}" needs data.source = "pool"')
    if recipe.data.augment != "examples":
        raise RecipeError(f'{recipe.name}: data.augment = "{recipe.data.augment}" needs data.source = "pool"')
    root = Path(recipe.data.path)
    dataset = open_dataset(root, pictures=recipe.vision.kind != "features")
    truths = scene_truths(root, dataset.records)
    records = [_reworded(r, recipe.data.wording, truths) for r in dataset.records]
    prepared = preparation(recipe.data.preparation)
    train = [with_prepared_captions(r, prepared) for r in records if r.split == "train" and r.captions]
    validation = _spread([r for r in records if r.split == "val" and r.captions], recipe.data.validation)
    validation = [with_prepared_captions(r, prepared) for r in validation]
    if not train and recipe.stages:
        raise DatasetError(f"{root}: no captioned pairs in its train split, so there is nothing to train on.")
    if not validation and any(stage.evaluate_every for stage in recipe.stages):
        raise DatasetError(
            f"{root}: no captioned pairs in its val split to validate on. Use a data set with one, or set"
            " evaluate_every = 0 and patience = 0 in every stage."
        )
    negatives: Mapping[str, tuple[str, ...]] = {}
    if any("fda" in stage.tasks and stage.data == "pairs" for stage in recipe.stages):
        negatives = _negatives(train, truths, recipe, run / "negatives.jsonl", bird_judge(root))
    read = reader(recipe.vision, recipe.data.features, root)
    common: tuple[Kind, bool] = (recipe.data.examples, recipe.data.exchange)
    own = {}
    for stage in recipe.stages:
        if stage.examples or stage.changed_only:
            kind, exchange = (stage.examples, stage.exchange) if stage.examples else common
            own[stage.name] = cut(train, kind, exchange, stage.changed_only, root, read, negatives)
    single, words = _open_single(recipe, run)
    labelled = None
    if isinstance(recipe.method, PCLCrossTaskConfig) and any(
        "fgvc" in stage.tasks for stage in recipe.stages
    ):
        pictures = recipe.vision.kind != "features"
        read_labelled = reader(recipe.vision, recipe.data.features, Path(recipe.data.labelled))
        labelled = open_labelled(recipe.data.labelled, read_labelled, recipe.method.classes, pictures)
    return Sources(
        cut(train, *common, False, root, read, negatives),
        DatasetSource(validation, [(i, 0) for i in range(len(validation))], read, {}),
        Vocabulary.from_captions([*prepared.known(records), *words]),
        single,
        labelled,
        own,
    )


def _open_single(recipe: Recipe, run: Path) -> tuple[Source | None, list[str]]:
    """What stages with data = "single" read, and its words; nothing where there is no such stage."""
    stages = [stage for stage in recipe.stages if stage.data == "single"]
    if not stages:
        return None, []
    prepared = preparation(recipe.data.single_preparation)
    records = open_singles(recipe.data.single, recipe.vision.kind != "features")
    train = [with_prepared_captions(record, prepared) for record in records]
    negatives: Mapping[str, tuple[str, ...]] = {}
    if any("fda" in stage.tasks for stage in stages):
        negatives = _negatives(
            train, {}, recipe, run / "negatives_single.jsonl", bird_judge(Path(recipe.data.single))
        )
    captions = [(i, j) for i, record in enumerate(train) for j in range(len(record.captions))]
    read = reader(recipe.vision, recipe.data.features, Path(recipe.data.single))
    return DatasetSource(train, captions, read, negatives), prepared.known(records)


def bird_judge(root: Path) -> "Judge | None":
    """Whether a sentence is true of a record's pictures, where the folder knows its birds."""
    birds = read_truth(root)
    if not birds:
        return None

    def judge(record: PairRecord, sentence: str) -> bool | None:
        pictures = [path for path in (record.before, record.after) if path is not None]
        return is_true(sentence, *(birds[path.name] for path in pictures))

    return judge


def _reworded(
    record: PairRecord, wording: Wording | Literal["captions"], truths: Mapping[str, Any]
) -> PairRecord:
    """The record with the world's fixed sentence for its training captions, if the recipe wants it."""
    if wording == "captions" or record.split != "train":
        return record
    if record.pair_id not in truths:
        raise RecipeError(
            f'data.wording = "{wording}" needs the truth of every scene; {record.pair_id} has none.'
            ' Use "captions".'
        )
    before, after, change = truths[record.pair_id]
    return replace(record, captions=(write_fixed(before, after, change, wording),))


def with_prepared_captions(record: PairRecord, prepared: Preparation) -> PairRecord:
    """The record with prepared captions: cut to the paper's length in training, whole as references.

    Scores on validation data compare prepared words with prepared words; ``evaluate`` uses the raw captions.
    """
    if prepared.name == "none":
        return record
    if record.split != "train":
        return replace(record, captions=tuple(" ".join(prepared.words(c)) for c in record.captions))
    return replace(
        record,
        captions=tuple(prepared.text(caption) for caption in record.captions),
        negatives=tuple(prepared.text(caption) for caption in record.negatives),
    )


def _spread(records: list[PairRecord], most: int) -> list[PairRecord]:
    """``most`` of the records, drawn evenly and kept in order; all of them for 0."""
    if not most or len(records) <= most:
        return records
    return [records[i] for i in sorted(np.random.default_rng(0).permutation(len(records))[:most])]


def _negatives(
    train: list[PairRecord],
    truths: Mapping[str, Any],
    recipe: Recipe,
    kept: Path,
    judge: "Judge | None" = None,
) -> Mapping[str, tuple[str, ...]]:
    """The records' own false captions, or built ones, which are kept for the next sitting."""
    from whatchanged.training.data.negatives import read_negatives, write_negatives
    from whatchanged.training.data.text_negatives import in_free_text, mine_text
    from whatchanged.training.objects.clevr_negatives import mine

    if all(record.negatives for record in train):
        return {record.pair_id: record.negatives for record in train}
    if not kept.is_file():
        assert isinstance(recipe.method, PCLConfig)  # only PCL has the task fda
        complete = truths if all(record.pair_id in truths for record in train) else None
        longest, count = recipe.method.max_length - 3, recipe.method.negatives
        if isinstance(recipe.method, PCLCrossTaskConfig) and train[0].after is None:
            longest = recipe.method.single_length - 3
        if in_free_text(train):
            mined = mine_text(train, recipe.seed, count, longest, judge)
        else:
            mined = mine(train, complete, recipe.seed, count, longest=longest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_negatives(kept, train, mined.sentences)
    return read_negatives(kept, train)
