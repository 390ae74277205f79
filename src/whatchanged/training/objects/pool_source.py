"""A pool of drawn triples as a recipe's data: pairs of pictures or of stored tokens, with their truth."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whatchanged.errors import DatasetError, RecipeError
from whatchanged.files import whole
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.recipes.methods import Task
from whatchanged.recipes.schema import Recipe
from whatchanged.recipes.sources.pool import PoolConfig
from whatchanged.records import PairRecord
from whatchanged.training.batches import Example
from whatchanged.training.data.captions import check_wording
from whatchanged.training.data.false_captions import FalseCaptions
from whatchanged.training.data.negatives import read_negatives, write_negatives
from whatchanged.training.data.sources import Sources
from whatchanged.training.objects.checked_rows import CheckedRows
from whatchanged.training.objects.clevr_negatives import mine
from whatchanged.training.objects.pool import Pairing, Shard, check_size, open_shards, pairing
from whatchanged.training.objects.supervision import ABSENT
from whatchanged.training.objects.token_files import open_tokens
from whatchanged.training.vision.augmentation import augment_pixels
from whatchanged.vocabulary import Vocabulary
from whatchanged.worlds.clevr.change import NOTHING, SceneChange
from whatchanged.worlds.clevr.grading import other_object
from whatchanged.worlds.clevr.language import NO_CHANGE, WORDS, write_captions
from whatchanged.worlds.clevr.scene import Scene
from whatchanged.worlds.clevr.world import WORLD

PAIRS = ((0, 1, "forth"), (0, 2, "none"), (2, 1, "forth"), (1, 0, "back"), (1, 2, "back"), (2, 0, "none"))
"""Ordered pairs of a triple's pictures. The two official pairs come first.

The pictures are 0 default, 1 semantic and 2 nonsemantic.
"""
ORDERED = {
    "official": PAIRS[:2],
    "all": PAIRS,
    "balanced": PAIRS + tuple(pair for pair in PAIRS if pair[2] == "none"),
}
"""The choices of ``data.ordered_pairs``. "balanced" lists the unchanged pairs twice, so that they make up
half."""
BEGUN = "shards.json"
"""The file in a run folder that lists the shards of the run and the number of triples that it holds out."""
NEGATIVE_PAIRS = 6_000
"""The number of pairs, from the first one on, that get false captions. Checking one pair takes
milliseconds."""


@dataclass(frozen=True)
class PoolSource:
    """Examples of the triples ``first`` .. ``last`` - 1 of a pool.

    tokens: per shard (n, variants, 3, N, F + 4); empty where pictures are read. pairs: see ``PAIRS``. varied:
    pictures are augmented at each visit; of stored tokens, one variant is drawn. The sentence of a fixed
    wording, and the objects that its words mention, take long to compute and never change, so they are
    cached.
    """

    shards: Sequence[Shard]
    tokens: Sequence[CheckedRows]
    first: int
    last: int
    pairs: Sequence[tuple[int, int, str]]
    wording: str
    varied: bool
    negatives: FalseCaptions = field(default_factory=dict)
    _written: dict[int, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _mentioned: dict[int, NDArray[np.int8]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __len__(self) -> int:
        return (self.last - self.first) * len(self.pairs)

    def count(self, task: Task) -> int:
        """Return the number of all examples. Where the task needs false captions, return the number of
        examples with false captions.
        """
        return len(self.negatives) if task.false_captions else len(self)

    def example(self, index: int, rng: np.random.Generator) -> Example:
        """Return pair ``index`` with its pictures or tokens, a caption, and the ground truth."""
        shard, i, pair = self._position(index)
        k, m, _ = self.pairs[pair]
        captions = self.captions(index, rng)
        record = self.record(index, captions)
        before, after = self._read(shard, i, k, m, rng)
        false = self.negatives.get(record.pair_id, ())
        known = pairing(self.shards[shard], i, k, m, self._change(shard, i, pair))
        known = replace(known, mentioned=self._mentioned_in(index, captions[0], known))
        return Example(record, captions[0], before, after, false, known)

    def record(self, index: int, captions: tuple[str, ...]) -> PairRecord:
        """Return the pair as a record. The pictures of a pool have no separate files, so the paths in the
        record are only names.
        """
        shard, i, pair = self._position(index)
        k, m, _ = self.pairs[pair]
        change = self._change(shard, i, pair)
        scene = f"{self.shards[shard].number:05d}{i:02d}"
        names = (Path(f"{scene}_{k}.png"), Path(f"{scene}_{m}.png"))
        return PairRecord(
            "clevr_change",
            f"{scene}_{k}{m}.png",
            scene,
            "train",
            "pair_caption",
            *names,
            captions,
            changed=change.type != "none",
            change_type=change.type,
        )

    def truth(self, index: int) -> tuple[Scene, Scene, SceneChange]:
        """Return the scenes before and after and the change between them."""
        shard, i, pair = self._position(index)
        k, m, _ = self.pairs[pair]
        return self.shards[shard].scene(i, k), self.shards[shard].scene(i, m), self._change(shard, i, pair)

    def captions(self, index: int, rng: np.random.Generator) -> tuple[str, ...]:
        """Return the captions of pair ``index``: drawn with ``rng``, or the sentence of a fixed wording."""
        if self.wording == "captions":
            return write_captions(*self.truth(index), rng)
        if index not in self._written:
            self._written[index] = WORLD.write(self.truth(index), self.wording)
        return (self._written[index],)

    def _mentioned_in(self, index: int, sentence: str, known: Pairing) -> NDArray[np.int8]:
        if self.wording == "captions":
            return mentioned_objects(sentence, known, *self.truth(index))
        if index not in self._mentioned:
            self._mentioned[index] = mentioned_objects(sentence, known, *self.truth(index))
        return self._mentioned[index]

    def _position(self, index: int) -> tuple[int, int, int]:
        triple, pair = divmod(index, len(self.pairs))
        return (*divmod(self.first + triple, len(self.shards[0])), pair)

    def _change(self, shard: int, i: int, pair: int) -> SceneChange:
        change = self.shards[shard].change(i)
        return {"forth": change, "back": change.reversed(), "none": NOTHING}[self.pairs[pair][2]]

    def _read(
        self, shard: int, i: int, k: int, m: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.tokens:
            variants = self.tokens[shard].read(i)
            choice = rng.integers(len(variants), size=2) if self.varied else (0, 0)
            return variants[choice[0], k].astype(np.float32), variants[choice[1], m].astype(np.float32)
        pictures = self.shards[shard].triples.read(i)[[k, m]]
        if self.varied:
            generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
            pictures = augment_pixels(torch.from_numpy(pictures), generator).numpy()
        return pictures[0], pictures[1]


def mentioned_objects(
    sentence: str, known: Pairing, before: Scene, after: Scene, change: SceneChange
) -> NDArray[np.int8]:
    """Return the objects, at most two, that each word of a true sentence, and its end, mentions.

    (words + 1, 2, 2): index before and index after, -1 for none; (0, 2, 2) without a change. The words of a
    relation mention both objects, the words that name the second object mention that one, and all other words
    the changed one.
    """
    mentioned = np.full((len(sentence.split()) + 1 if change.type != "none" else 0, 2, 2), ABSENT, np.int8)
    mentioned[:, 0] = [ABSENT if end is None else end for end in (change.before, change.after)]
    other = other_object(sentence, before, after, change) if len(mentioned) else None
    if other is not None:
        item, relation, name = other
        side = int(change.type == "add")  # the scene that the sentence speaks of
        partner = (known.partner_before, known.partner_after)[side][item]
        mentioned[relation, 1] = mentioned[name, 0] = (partner, item) if side else (item, partner)
    return mentioned


def open_pool(recipe: Recipe, run: Path) -> Sources:
    """Return the training and validation pairs of the pool at ``data.path``.

    At most the first tenth of its triples is held out for validation. A resumed run reads the same shards,
    with the same triples held out, as at its start, even if the pool has grown. Raises RecipeError where no
    pool or an unknown wording is named; DatasetError where the pool or its tokens are missing, or its
    pictures have another size than the recipe's.
    """
    data = recipe.data
    if not isinstance(data, PoolConfig):
        raise RecipeError(f"{recipe.name}: data.source = {data.source!r} is no pool.")
    if not data.path:
        raise RecipeError(f"{recipe.name}: data.path is empty. Say where the pool lies: --data POOL")
    check_wording(data.wording, WORLD)
    pool = Path(data.path)
    begun = _begun(run)
    shards = open_shards(pool, None if begun is None else begun[0])
    if recipe.vision.picture_size is not None:
        check_size(pool, shards, *recipe.vision.picture_size)
    tokens = open_tokens(Path(data.tokens), pool, shards) if data.tokens else []
    triples = sum(len(shard) for shard in shards)
    held = triples // 10 if data.validation == 0 else min(data.validation // 2, triples // 10)
    held = max(1, held) if begun is None else begun[1]
    if held >= triples:
        raise DatasetError(
            f"{pool}: all of its triples ({triples}) are held out to validate, so none is left to train on."
            " Draw more."
        )
    pairs = ORDERED[data.ordered_pairs]
    negatives: FalseCaptions = {}
    if count := recipe.false_captions("pairs"):
        plain = PoolSource(shards, (), held, triples, pairs, data.wording, False)
        negatives = _false_captions(plain, count, recipe, run)
    if begun is None and not (run / "checkpoints").exists():  # not in a run that began without this file
        _begin(run, shards, held)
    varied = bool(tokens) or data.augment == "examples"  # otherwise the loop augments whole batches
    return Sources(
        PoolSource(shards, tokens, held, triples, pairs, data.wording, varied, negatives),
        PoolSource(shards, tokens, 0, held, ORDERED["official"], "captions", False),
        Vocabulary.from_captions([" ".join(WORDS)]),
        NO_CHANGE,
    )


def _begun(run: Path) -> tuple[list[int], int] | None:
    """Return the numbers of the shards with which a run began, and how many triples it holds out.

    None where the run's folder has no such file. Raises DatasetError where it cannot be read.
    """
    file = run / BEGUN
    if not file.is_file():
        return None
    try:
        kept = read_json(read_regular_text(file))
        return [int(number) for number in kept["shards"]], int(kept["held"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(
            f"{file}: the run's list of shards cannot be read ({error}). Start the run again in another"
            " folder."
        ) from error


def _begin(run: Path, shards: Sequence[Shard], held: int) -> None:
    run.mkdir(parents=True, exist_ok=True)
    with whole(run / BEGUN) as draft:
        draft.write_text(json.dumps({"shards": [shard.number for shard in shards], "held": held}))


def _false_captions(source: PoolSource, count: int, recipe: Recipe, run: Path) -> FalseCaptions:
    """Return false captions of the source's first ``NEGATIVE_PAIRS`` pairs, which are saved in the run's
    folder.

    False captions have the wording of the true captions. Otherwise the style of a sentence would reveal
    whether the sentence is true.
    """
    records, truths = [], {}
    for index in range(min(len(source), NEGATIVE_PAIRS)):
        truth = source.truth(index)
        captions = source.captions(index, np.random.default_rng((recipe.seed, index)))
        records.append(source.record(index, captions))
        truths[records[-1].pair_id] = truth
    kept = run / "negatives.jsonl"
    if not kept.is_file():
        mined = mine(records, truths, recipe.seed, count, recipe.method.longest_caption())
        run.mkdir(parents=True, exist_ok=True)
        write_negatives(kept, records, mined)
    return read_negatives(kept, records)
