"""Finds false captions that were published with the data or saved in the run folder, or makes new false
captions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whatchanged.errors import DatasetError
from whatchanged.plugins import imported
from whatchanged.recipes.schema import Recipe
from whatchanged.records import PairRecord
from whatchanged.training.data.negatives import Mined, joined, read_negatives, write_negatives
from whatchanged.training.data.text_negatives import Judge, mine_text
from whatchanged.worlds import Truth, World, language_of

FalseCaptions = Mapping[str, tuple[str, ...]]
"""A mapping from a pair id to sentences that are false for the pair."""


def find_false_captions(
    records: Sequence[PairRecord],
    count: int,
    recipe: Recipe,
    kept: Path,
    world: World | None,
    truths: Mapping[str, Truth],
) -> FalseCaptions:
    """Return ``count`` false captions for each record. False captions that come with the data are used
    unchanged.

    kept: the file in the run folder to which the false captions are written. A resumed run reads this file.
    If a pair's captions are in the language of a world, the rules of this world make the pair's false
    captions. For all other pairs, ``text_negatives`` makes false captions as for free text. ``world`` checks
    these captions where it has the ground truth of the pair.
    """
    if all(record.negatives for record in records):
        return {record.pair_id: record.negatives for record in records}
    if not kept.is_file():
        longest = recipe.method.longest_caption(single=records[0].after is None)
        settings = {"seed": recipe.seed, "count": count, "longest": longest}
        mined = _mine(records, _judge(world, truths), truths, settings)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_negatives(kept, records, mined)
    return read_negatives(kept, records)


def _mine(
    records: Sequence[PairRecord],
    judge: Judge | None,
    truths: Mapping[str, Truth],
    settings: Mapping[str, Any],
) -> Mined:
    """Makes each pair's false captions. A world's rules make the false captions where a pair's captions are
    in the world's language.

    If only some pairs have captions in the world's language, there may be too few such captions to choose
    false captions from. The false captions of these pairs are then made as for free text, too.
    """
    speaking = language_of([record.captions[0] for record in records if record.captions])
    if speaking is None:
        return mine_text(records, judge=judge, **settings)
    falsify = imported(speaking.language.false_captions)
    in_language = [record for record in records if _speaks(speaking, record)]
    free = [record for record in records if not _speaks(speaking, record)]
    complete = truths if all(record.pair_id in truths for record in in_language) else None
    if not free:
        mined: Mined = falsify(records, truths=complete, **settings)
        return mined
    try:
        by_rules = falsify(in_language, truths=complete, **settings)
    except DatasetError:
        return mine_text(records, judge=judge, **settings)
    return joined(by_rules, mine_text(free, judge=judge, among=records, **settings))


def _speaks(world: World, record: PairRecord) -> bool:
    """Return whether at least half of a pair's captions are in the world's language. Returns True for a pair
    without captions.
    """
    return not record.captions or language_of(record.captions) is world


def _judge(world: World | None, truths: Mapping[str, Truth]) -> Judge | None:
    """Return a function that asks the world whether a caption is true, or None where there is no ground
    truth.
    """
    if world is None or not truths:
        return None

    def judge(record: PairRecord, sentence: str) -> bool | None:
        if record.pair_id not in truths:
            return None
        verdict = world.language.judge(sentence, truths[record.pair_id])
        return verdict.true if verdict.parsed else None

    return judge
