"""The page of ``whatchanged caption --html``, which shows every pair of an output with its caption."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from whatchanged.captioner.attention import AttentionFiles
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular
from whatchanged.page import Page, Pair
from whatchanged.records import PairRecord, corners

if TYPE_CHECKING:
    from whatchanged.captions.one_by_one import CaptionRun


def caption_page(run: "CaptionRun", records: Sequence[PairRecord]) -> Page:
    """Return the page of a complete run.

    The page shows attention if the run wrote attention maps. records: the records of the pairs, with
    references, boxes and splits.
    """
    known = {record.pair_id: record for record in records}
    maps = None if run.maps is None else AttentionFiles(run.maps.folder)
    lines = read_regular(run.output).splitlines()
    pairs = []
    for pair, text in zip(run.pairs, lines, strict=True):
        record = known[pair.pair_id]
        pairs.append(
            Pair(
                id=pair.pair_id,
                before=pair.before,
                after=pair.after,
                line=read_json(text),
                references=record.captions,
                boxes=(corners(record.boxes[0]), corners(record.boxes[1])),
                heatmaps=maps.heat(pair.pair_id) if maps is not None and pair.pair_id in maps else None,
                tags=_tags(record),
            )
        )
    return Page(title=run.output.name, pairs=pairs)


def _tags(record: PairRecord) -> Mapping[str, str]:
    """Return the tags by which the pairs can be filtered."""
    tags = {"split": str(record.split)}
    if record.change_type:
        tags["type"] = record.change_type
    return tags
