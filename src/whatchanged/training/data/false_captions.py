"""False captions for the tasks that need them: published with the data, kept in the run folder, or new."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from whatchanged.plugins import imported
from whatchanged.recipes.schema import Recipe
from whatchanged.records import PairRecord
from whatchanged.training.data.negatives import Mined, read_negatives, write_negatives
from whatchanged.training.data.text_negatives import Judge, mine_text
from whatchanged.worlds import Truth, World, language_of

FalseCaptions = Mapping[str, tuple[str, ...]]
"""Pair id -> sentences that are false of the pair."""


def wanted_false_captions(recipe: Recipe, data: str) -> int:
    """False captions that each pair needs in the stages with this ``data`` ("pairs" or "single"); 0 for
    none."""
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
    """``count`` false captions of each record; those that come with the data are taken as they are.

    kept: the file of the run folder that they are written to, and read from when the run is resumed. Captions
    in the language of a world are falsified by that world's rules. Those of free text are falsified by
    ``text_negatives``, and checked by ``world`` where it knows the truth.
    """
    if all(record.negatives for record in records):
        return {record.pair_id: record.negatives for record in records}
    if not kept.is_file():
        longest = recipe.method.longest_caption(single=records[0].after is None)
        speaking = language_of([record.captions[0] for record in records if record.captions])
        mine: Callable[..., Mined]
        if speaking is None:
            mine = partial(mine_text, judge=_judge(world, truths))
        else:
            falsify = imported(speaking.language.false_captions)
            complete = truths if all(record.pair_id in truths for record in records) else None
            mine = partial(falsify, truths=complete)
        mined = mine(records, seed=recipe.seed, count=count, longest=longest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_negatives(kept, records, mined.sentences)
    return read_negatives(kept, records)


def _judge(world: World | None, truths: Mapping[str, Truth]) -> Judge | None:
    """A judge that asks the world; None where no truth is known."""
    if world is None or not truths:
        return None

    def judge(record: PairRecord, sentence: str) -> bool | None:
        if record.pair_id not in truths:
            return None
        verdict = world.language.judge(sentence, truths[record.pair_id])
        return verdict.true if verdict.parsed else None

    return judge
