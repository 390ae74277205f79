"""The published counts of pairs and captions of data sets.

A folder may have other counts without being invalid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whatchanged.datasets.reading import SPLITS
from whatchanged.records import PairRecord


@dataclass(frozen=True)
class Counts:
    """The numbers of pairs (or single pictures) and of captions of train, val and test.

    A number is None if it is not published or uncertain.
    """

    pairs: tuple[int, int, int]
    captions: tuple[int, int, int] | None = None
    total: int | None = None
    """The number of captions of all splits together, if only this sum is published."""
    source: str = ""


PUBLISHED: Mapping[str, Counts] = {
    "clevr_change": Counts((67_660, 3_976, 7_970), total=493_735, source="split file; captions: the paper"),
    "clevr_dc": Counts((40_800, 2_400, 4_800), source="split file"),
    "spot_the_diff": Counts((8_566, 1_493, 1_270), (17_676, 3_310, 2_107), source="annotations v0.1"),
    "spot_the_diff_blanks": Counts((8_566, 1_493, 1_270), (17_676, 3_310, 2_107), source="annotations v0.1"),
    "spot_the_diff_records": Counts((9_524, 1_634, 1_404), (17_676, 3_310, 2_107), source="annotations v0.1"),
    "spot_the_diff_multi": Counts((8_566, 1_493, 1_270), (8_566, 1_493, 1_270), source="CARD's files"),
    "spot_the_diff_multi_blanks": Counts((8_566, 1_493, 1_270), (8_566, 1_493, 1_270), source="CARD's files"),
    "image_editing_request": Counts((3_061, 383, 495), (3_061, 1_149, 1_485), source="the project's files"),
    "birds_to_words": Counts((2_685, 325, 337), (12_890, 1_556, 1_604), source="files of PCL's authors"),
    "levir_cc": Counts((6_815, 1_333, 1_929), (34_075, 6_665, 9_645), source="the paper and its files"),
    "cub": Counts((5_994, 0, 5_794), total=117_880, source="official split; ten captions a picture"),
    "ui_train": Counts((835, 185, 0), (1_670, 370, 0), source="labels of this project"),
    "nabirds": Counts((23_929, 0, 24_633), source="the paper"),
}


def unit(records: Sequence[PairRecord]) -> str:
    """Return the noun for records: "pictures" if every record has a single picture, and otherwise "pairs"."""
    return "pairs" if any(record.after is not None for record in records) else "pictures"


def differences(name: str, records: Sequence[PairRecord]) -> tuple[str, ...]:
    """Return a line for each count that differs from the published count.

    records: the records of all splits.
    """
    counts = PUBLISHED.get(name)
    if counts is None or any(r.kind == "pair_label" for r in records):
        return ()
    results = []
    total, what = 0, unit(records)
    for i, split in enumerate(SPLITS):
        here = [record for record in records if record.split == split]
        captions = sum(len(record.captions) for record in here)
        total += captions
        if len(here) != counts.pairs[i]:
            results.append(f"{split}: {len(here):,} {what}, published {counts.pairs[i]:,} ({counts.source})")
        if counts.captions is not None and captions != counts.captions[i]:
            results.append(
                f"{split}: {captions:,} captions, published {counts.captions[i]:,} ({counts.source})"
            )
    if counts.total is not None and total != counts.total:
        results.append(f"{total:,} captions in all, published {counts.total:,} ({counts.source})")
    return tuple(results)
