"""False captions for the tasks that need them: the records' own, those kept in the run folder, or new
ones."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from whatchanged.recipes.schema import Recipe
from whatchanged.records import PairRecord
from whatchanged.training.data.negatives import Mined, read_negatives, write_negatives
from whatchanged.training.data.text_negatives import Judge, mine_text
from whatchanged.worlds import Truth, World, language_of

FalseCaptions = Mapping[str, tuple[str, ...]]
"""Pair id -> sentences that are false of the pair."""


def wanted_false_captions(recipe: Recipe, data: str) -> int:
    """How many each pair needs for the stages with this ``data`` ("pairs", "single"); 0 for none."""
    tasks = [recipe.tasks[name] for stage in recipe.stages if stage.data == data for name in stage.tasks]
    return max((task.false_captions for task in tasks), default=0)


def find_false_captions(
    records: Sequence[PairRecord],
    count: int,
    recipe: Recipe,
    kept: Path,
    world: World | None,
    truths: Mapping[str, Truth],
) -> FalseCaptions:
    """``count`` for each record. kept: the file that they are written to, and read from when a run goes on.

    A world whose language the captions are in makes them; others are made of free text, and checked by the
    world where it knows the truth.
    """
    if all(record.negatives for record in records):
        return {record.pair_id: record.negatives for record in records}
    if not kept.is_file():
        longest = recipe.method.longest_caption(single=records[0].after is None)
        language = language_of([record.captions[0] for record in records if record.captions])
        mine: Callable[..., Mined]
        if language is None:
            mine = partial(mine_text, judge=_judge(world, truths))
        else:
            module, _, name = language.false_captions.partition(":")
            complete = truths if all(record.pair_id in truths for record in records) else None
            mine = partial(getattr(import_module(module), name), truths=complete)
        mined = mine(records, seed=recipe.seed, count=count, longest=longest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_negatives(kept, records, mined.sentences)
    return read_negatives(kept, records)


def _judge(world: World | None, truths: Mapping[str, Truth]) -> Judge | None:
    """Whether a sentence is true of a record, where the world knows; None: nobody can tell."""
    if world is None or not truths:
        return None

    def judge(record: PairRecord, sentence: str) -> bool | None:
        if record.pair_id not in truths:
            return None
        verdict = world.judge(sentence, truths[record.pair_id])
        return verdict.true if verdict.parsed else None

    return judge
