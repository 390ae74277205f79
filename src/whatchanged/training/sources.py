"""Where a recipe's examples come from: a data set on disk, with pictures or precomputed features, or a pool.

To add a source: a module with a function ``(Recipe, run folder) -> Sources``, and a line in ``SOURCES``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import Preparation, preparation
from whatchanged.errors import DatasetError, RecipeError
from whatchanged.images import open_image, resize
from whatchanged.pieces import read_merges
from whatchanged.recipes.schema import (
    PCLBirdsConfig,
    PCLConfig,
    Recipe,
    StageConfig,
    Task,
    VisionConfig,
)
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example, Reader, Source, Sourced
from whatchanged.training.cross_task import open_labelled, open_singles
from whatchanged.training.grid_files import GridFiles, is_grid_folder, picture_name
from whatchanged.vocabulary import Vocabulary
from whatchanged.worlds.birds.language import is_true
from whatchanged.worlds.birds.twin import read_truth

if TYPE_CHECKING:
    from whatchanged.training.text_negatives import Judge

Wording = Literal["captions", "short", "full", "relational"]
Kind = Literal["captions", "pairs", "scenes"]

SOURCES: Mapping[str, str] = {
    "dataset": "whatchanged.training.sources:open_dataset_sources",
    "pool": "whatchanged.training.pool_source:open_pool",
}


@dataclass(frozen=True)
class Sources:
    """What a run reads: examples to train on, one per pair to validate on, and the words."""

    train: Source
    validation: Source
    vocabulary: Vocabulary
    single: Source | None = None
    """One item per caption of single pictures, where a stage reads them."""
    labelled: Source | None = None
    """Pairs of labelled pictures, where a stage has the task fgvc."""
    own: Mapping[str, Source] = field(default_factory=dict)
    """Examples of the stages, by name, that cut the pairs in a way of their own."""

    def of(self, stage: StageConfig) -> Sourced:
        """What the tasks of a stage read."""
        own = self.own.get(stage.name, self.train)
        own = own if stage.data == "pairs" or self.single is None else self.single
        if self.labelled is None:
            return own
        return {task: self.labelled if task == "fgvc" else own for task in get_args(Task)}


def open_sources(recipe: Recipe, run: Path) -> Sources:
    """The sources that ``data.source`` names; what is costly to make is kept in the run folder.

    ``data.merges`` replaces the source's words with CLIP's pieces.
    """
    if recipe.data.source != "dataset" and recipe.data.preparation != "none":
        raise RecipeError(
            f'{recipe.name}: data.preparation = "{recipe.data.preparation}" is for captions on disk;'
            ' drawn captions have no other words. Use "none".'
        )
    module, _, name = SOURCES[recipe.data.source].partition(":")
    sources = cast(Sources, getattr(import_module(module), name)(recipe, run))
    if recipe.data.merges:
        sources = replace(sources, vocabulary=read_merges(Path(recipe.data.merges)))
    return sources


@dataclass(frozen=True)
class DatasetSource:
    """Examples of a data set. ``items``: record number and caption number of each example.

    views: record number -> the unchanged pair of its scene, whose other view stands where the picture before
    was in half of the visits.
    """

    records: Sequence[PairRecord]
    items: Sequence[tuple[int, int]]
    read: Reader
    negatives: Mapping[str, tuple[str, ...]]
    views: Mapping[int, PairRecord] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)

    def count(self, task: str) -> int:
        """Every task can use every example."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Example ``index``; every caption is an example of its own, so at most the view is drawn."""
        number, caption = self.items[index]
        record = self.records[number]
        if number in self.views and rng.random() < 0.5:
            record, _ = exchanged(record, self.views[number])
        return _example(record, caption, self.read, self.negatives)


@dataclass(frozen=True)
class DrawnSource:
    """Examples whose captions are drawn anew at each visit: of pairs, or of scenes (changed pair, unchanged).

    ``exchange``: half of a scene's visits show its unchanged view where the picture before was, in both.
    """

    groups: Sequence[tuple[PairRecord, ...]]
    exchange: bool
    read: Reader
    negatives: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.groups)

    def count(self, task: str) -> int:
        """Every task can use every example."""
        return len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Pair ``index``, or both pairs of scene ``index``, the unchanged one as ``partner``."""
        group = self.groups[index]
        if self.exchange and rng.random() < 0.5:
            group = exchanged(*group)
        first, *rest = [
            _example(record, int(rng.integers(len(record.captions))), self.read, self.negatives)
            for record in group
        ]
        return replace(first, partner=rest[0]) if rest else first


def exchanged(changed: PairRecord, same: PairRecord) -> tuple[PairRecord, PairRecord]:
    """A scene's pairs with its unchanged views swapped: (n, c) and (n, d) for (d, c) and (d, n)."""
    assert same.after is not None
    boxes = (None, changed.boxes[1])
    return (
        replace(changed, before=same.after, boxes=boxes, viewpoint_iou=None),
        replace(same, before=same.after, after=same.before, boxes=same.boxes[::-1]),
    )


def _example(
    record: PairRecord, caption: int, read: Reader, negatives: Mapping[str, tuple[str, ...]]
) -> Example:
    after = record.before if record.after is None else record.after
    false = negatives.get(record.pair_id, ())
    return Example(record, record.captions[caption], read(record.before), read(after), false)


def _scenes(train: Sequence[PairRecord], root: Path) -> Sequence[tuple[PairRecord, ...]]:
    """Each scene's changed pair and its unchanged one. Raises DatasetError where a scene has others."""
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
    root = Path(recipe.data.path)
    dataset = open_dataset(root, pictures=recipe.vision.kind != "features")
    truths = _truths(root)
    records = [_reworded(r, recipe.data.wording, truths) for r in dataset.records]
    prepared = preparation(recipe.data.preparation)
    train = [_prepared(r, prepared) for r in records if r.split == "train" and r.captions]
    validation = _spread([r for r in records if r.split == "val" and r.captions], recipe.data.validation)
    validation = [_prepared(r, prepared) for r in validation]
    if not train:
        raise DatasetError(f"{root}: no captioned pairs in its train split, so there is nothing to train on.")
    if not validation and any(stage.evaluate_every for stage in recipe.stages):
        raise DatasetError(
            f"{root}: no captioned pairs in its val split to validate on. Use a data set with one, or set"
            " evaluate_every = 0 in every stage."
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
            own[stage.name] = _cut(train, kind, exchange, stage.changed_only, root, read, negatives)
    single, words = _open_single(recipe, run)
    labelled = None
    if isinstance(recipe.method, PCLBirdsConfig) and any("fgvc" in stage.tasks for stage in recipe.stages):
        pictures = recipe.vision.kind != "features"
        read_labelled = reader(recipe.vision, recipe.data.features, Path(recipe.data.labelled))
        labelled = open_labelled(recipe.data.labelled, read_labelled, recipe.method.classes, pictures)
    return Sources(
        _cut(train, *common, False, root, read, negatives),
        DatasetSource(validation, [(i, 0) for i in range(len(validation))], read, {}),
        Vocabulary.from_captions([*prepared.known(records), *words]),
        single,
        labelled,
        own,
    )


def _cut(
    train: Sequence[PairRecord],
    kind: Kind,
    exchange: bool,
    changed_only: bool,
    root: Path,
    read: Reader,
    negatives: Mapping[str, tuple[str, ...]],
) -> Source:
    """The training pairs as examples of one kind (``data.examples``, ``stage.examples``).

    Raises DatasetError where the folder has not what that kind needs.
    """
    views: dict[int, PairRecord] = {}
    if changed_only and exchange:
        scenes = _scenes(train, root)
        train, views = [pair for pair, _ in scenes], {i: same for i, (_, same) in enumerate(scenes)}
    elif changed_only:
        train = [record for record in train if record.changed is not False]
    if not train:
        raise DatasetError(f"{root}: no training pair changed. Set changed_only = false in every stage.")
    if kind == "captions":
        captions = [(i, j) for i, record in enumerate(train) for j in range(len(record.captions))]
        return DatasetSource(train, captions, read, negatives, views)
    groups = _scenes(train, root) if kind == "scenes" else [(record,) for record in train]
    return DrawnSource(groups, exchange, read, negatives)


def _open_single(recipe: Recipe, run: Path) -> tuple[Source | None, list[str]]:
    """What stages with data = "single" read, and its words; nothing where there is no such stage."""
    stages = [stage for stage in recipe.stages if stage.data == "single"]
    if not stages:
        return None, []
    prepared = preparation(recipe.data.single_preparation)
    records = open_singles(recipe.data.single, recipe.vision.kind != "features")
    train = [_prepared(record, prepared) for record in records]
    negatives: Mapping[str, tuple[str, ...]] = {}
    if any("fda" in stage.tasks for stage in stages):
        negatives = _negatives(
            train, {}, recipe, run / "negatives_single.jsonl", bird_judge(Path(recipe.data.single))
        )
    captions = [(i, j) for i, record in enumerate(train) for j in range(len(record.captions))]
    read = reader(recipe.vision, recipe.data.features, Path(recipe.data.single))
    return DatasetSource(train, captions, read, negatives), prepared.known(records)


def reader(vision: VisionConfig, features: str, root: Path) -> Reader:
    """How a picture of the data set at ``root`` is read: features (N, F) float32, or pixels (H, W, 3) uint8.

    features: a folder of ``grid_files``, or one with an ``.npy`` a picture. Raises DatasetError where its
    grids are not those that the recipe wants.
    """
    if vision.kind != "features":
        size = (vision.image_width, vision.image_height)
        return lambda path: resize(open_image(path), size)
    if not features:
        raise RecipeError("data.features is empty. Say where the precomputed features lie: --features FOLDER")
    grid = (vision.rows, vision.columns, vision.feature_width)
    if not is_grid_folder(Path(features)):
        return lambda path: read_features(Path(features), path, *grid)
    stored = GridFiles(Path(features))
    stored.check(*grid)
    return lambda path: stored.read(picture_name(path, root))


def read_features(folder: Path, picture: Path, rows: int, columns: int, width: int) -> NDArray[np.float32]:
    """The features of one picture as (N, F), N = rows x columns, cell number = columns x row + column.

    Looked for as FOLDER/<picture's file name>.npy, FOLDER/<its folder>/<file name>.npy (sc_images also as
    sc_features, as the field's extractors call it). Stored as (F, rows, columns), (F, N) or (N, F).
    Raises DatasetError if the file is missing or of another shape.
    """
    inside = [picture.parent.name, picture.parent.name.replace("images", "features")]
    places = [folder / f"{picture.name}.npy", *(folder / name / f"{picture.name}.npy" for name in inside)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise DatasetError(
            f"{places[0]}: no features of {picture.name} (nor at {places[2]}). Extract them first."
        )
    try:
        stored = np.load(found, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DatasetError(f"{found}: cannot read the features: {error}. Extract them again.") from error
    cells = rows * columns
    if stored.shape == (cells, width):
        return np.ascontiguousarray(stored, np.float32)
    if stored.shape in ((width, rows, columns), (width, cells)):
        return np.ascontiguousarray(stored.reshape(width, cells).T, np.float32)
    raise DatasetError(
        f"{found}: got the shape {stored.shape}, wanted ({width}, {rows}, {columns}), ({width}, {cells}) or"
        f" ({cells}, {width}). Set vision.rows, columns and feature_width to what is stored."
    )


def _truths(root: Path) -> Mapping[str, Any]:
    """Pair id -> (scene before, scene after, change), empty where the folder holds no scene truth."""
    if not (root / "scenes.json").is_file() or not (root / "pairs.json").is_file():
        return {}
    from whatchanged.worlds.clevr.truth import read_triples

    truths = {}
    for triple in read_triples(root):
        name = f"{triple.index:06d}.png"
        truths[name], truths[f"{name}_n"] = triple.pairs()
    return truths


def bird_judge(root: Path) -> "Judge | None":
    """Whether a sentence is true of a record's pictures, where the folder knows its birds."""
    birds = read_truth(root)
    if not birds:
        return None

    def judge(record: PairRecord, sentence: str) -> bool | None:
        pictures = [path for path in (record.before, record.after) if path is not None]
        return is_true(sentence, *(birds[path.name] for path in pictures))

    return judge


def _reworded(record: PairRecord, wording: Wording, truths: Mapping[str, Any]) -> PairRecord:
    """The record with the world's fixed sentence for its training captions, if the recipe wants it."""
    if wording == "captions" or record.split != "train":
        return record
    if record.pair_id not in truths:
        raise RecipeError(
            f'data.wording = "{wording}" needs the truth of every scene; {record.pair_id} has none.'
            ' Use "captions".'
        )
    from whatchanged.worlds.clevr.language import write_fixed

    before, after, change = truths[record.pair_id]
    return replace(record, captions=(write_fixed(before, after, change, wording),))


def _prepared(record: PairRecord, prepared: Preparation) -> PairRecord:
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
    from whatchanged.training.negatives import mine, read_negatives, write_negatives
    from whatchanged.training.text_negatives import in_free_text, mine_text

    if all(record.negatives for record in train):
        return {record.pair_id: record.negatives for record in train}
    if not kept.is_file():
        assert isinstance(recipe.method, PCLConfig)  # only PCL has the task fda
        complete = truths if all(record.pair_id in truths for record in train) else None
        longest, count = recipe.method.max_length - 3, recipe.method.negatives
        if isinstance(recipe.method, PCLBirdsConfig) and train[0].after is None:
            longest = recipe.method.single_length - 3
        if in_free_text(train):
            mined = mine_text(train, recipe.seed, count, longest, judge)
        else:
            mined = mine(train, complete, recipe.seed, count, longest=longest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_negatives(kept, train, mined.sentences)
    return read_negatives(kept, train)
