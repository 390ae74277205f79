"""Sentences against the truth of their pairs: the report's block "scene" and its table."""

from collections.abc import Mapping
from typing import Any

from whatchanged.evaluation.metrics.subsets import nested
from whatchanged.evaluation.report.layout import Table, blocks_in_order, share_with_ends
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.statistics.intervals import share
from whatchanged.worlds import World


def scene_block(scored: Scored) -> dict[str, Any] | None:
    """The shares of right sentences by subset, and every sentence that could not be read.

    The shares have Wilson's intervals: the pairs of such a subset are of different scenes. None where no
    truth is known.
    """
    judged = scored.judged
    if judged is None:
        return None
    shares = {
        place: {name: share(*counts) for name, counts in judged.counts(pairs).items()}
        for place, pairs in scored.truth_subsets.items()
    }
    unparsed = judged.unparsed
    return {
        **nested(shares),
        "unparsable": {
            **share(len(unparsed), judged.known),
            "sentences": [{"id": pair_id, "caption": caption} for pair_id, caption in unparsed],
        },
        "without_truth": len(judged.kinds) - judged.known,
        "interval": "Wilson, 95 %, pairs taken as independent",
    }


def scene_table(scene: Mapping[str, Any], world: World) -> Table:
    """The block's shares, a column for each of the world's grades."""
    rows = [["", "pairs", *(grade_title(world, name) for name in world.grades)]]
    for place, block in blocks_in_order(scene):
        pairs = max(grade["of"] for grade in block.values())
        rows.append([place[-1], f"{pairs:,}", *(share_with_ends(block.get(name)) for name in world.grades)])
    return "Against the scene (%, 95 % interval)", rows


def grade_title(world: World, name: str) -> str:
    """How the column of a grade is headed."""
    return world.grade_titles.get(name, name.replace("_", " "))


def unread_sentences(scene: Mapping[str, Any], shown: int = 10) -> list[str]:
    """Lines for below the table: how many sentences could not be read, and the first of them."""
    unparsable = scene["unparsable"]
    lines = [f"Sentences that could not be read: {unparsable['count']} of {unparsable['of']:,}."]
    return lines + [f"  {each['id']}: {each['caption']!r}" for each in unparsable["sentences"][:shown]]
