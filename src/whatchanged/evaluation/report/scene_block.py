"""Captions judged by the truth of their pairs: the report's block "scene" and its table."""

from collections.abc import Mapping
from typing import Any

from whatchanged.evaluation.metrics.subsets import nested
from whatchanged.evaluation.report.layout import Table, blocks_in_order, share_with_ends
from whatchanged.evaluation.report.scored import Scored
from whatchanged.evaluation.statistics.intervals import share
from whatchanged.worlds import world_of

SHOWN = 10
"""How many unparsable captions the report shows."""


def scene_block(scored: Scored) -> dict[str, Any] | None:
    """Return the shares of right captions by subset, and every caption that could not be parsed.

    The shares have Wilson's intervals: the pairs of such a subset are from different scenes. None where no
    truth is known.
    """
    judged = scored.judged
    if judged is None:
        return None
    shares = {
        path: {name: share(*counts) for name, counts in judged.counts(pairs).items()}
        for path, pairs in scored.truth_subsets.items()
    }
    unparsed = judged.unparsed
    read = judged.read
    of_read = {
        path: {name: share(*counts) for name, counts in judged.counts(pairs[read[pairs]]).items()}
        for path, pairs in scored.truth_subsets.items()
        if read[pairs].any()
    }
    return {
        **nested(shares),
        "unparsable": {
            **share(len(unparsed), judged.known),
            "sentences": [{"id": pair_id, "caption": caption} for pair_id, caption in unparsed],
        },
        "without_truth": len(judged.kinds) - judged.known,
        "interval": "Wilson, 95 %, pairs taken as independent",
        "of_read": nested(of_read),
    }


def grade_titles(report: Mapping[str, Any]) -> dict[str, str]:
    """Return each grade of a report's world, in order, with its column header."""
    world = world_of(report["signature"]["dataset"])
    if world is not None:
        titles = world.breakdown.grade_titles
        return {name: titles.get(name, name.replace("_", " ")) for name in world.breakdown.grades}
    # A stored report of a world that is not installed here: its blocks contain the names.
    names = [name for _, block in blocks_in_order(report.get("scene", {})) for name in block]
    return {name: name.replace("_", " ") for name in dict.fromkeys(names)}


def read_table(scene: Mapping[str, Any], titles: Mapping[str, str]) -> Table | None:
    """Return the same shares among the captions that could be parsed; None where all could."""
    if not scene["unparsable"]["count"] or not scene.get("of_read"):
        return None
    return "Against the scene, of the sentences that could be read", scene_table(scene["of_read"], titles)[1]


def scene_table(scene: Mapping[str, Any], titles: Mapping[str, str]) -> Table:
    """Return the block's shares, a column for each grade."""
    rows = [["", "pairs", *titles.values()]]
    for path, block in blocks_in_order(scene):
        pairs = max(grade["of"] for grade in block.values())
        rows.append([path[-1], f"{pairs:,}", *(share_with_ends(block.get(name)) for name in titles)])
    return "Against the scene (%, 95 % interval)", rows


def unread_sentences(scene: Mapping[str, Any]) -> list[str]:
    """Return lines for below the table: how many captions could not be parsed, and the first of them."""
    unparsable = scene["unparsable"]
    lines = [f"Sentences that could not be read: {unparsable['count']} of {unparsable['of']:,}."]
    return lines + [f"  {each['id']}: {each['caption']!r}" for each in unparsable["sentences"][:SHOWN]]
