import json
from pathlib import Path

from whatchanged.datasets import PUBLISHED, READERS, differences
from whatchanged.records import PairRecord


def pairs(number, split, captions=("a",)):
    return [
        PairRecord("x", f"{split}{i}", str(i), split, "pair_caption", Path("a"), Path("b"), captions)
        for i in range(number)
    ]


def test_every_reader_but_that_of_ones_own_data_has_published_counts():
    assert set(READERS) - set(PUBLISHED) == {"plain", "folders", "named_pairs"}


def test_equal_counts_and_others():
    whole = [*pairs(2_685, "train"), *pairs(325, "val"), *pairs(337, "test")]
    results = differences("birds_to_words", whole)
    assert (
        results[0] == "train: 2,685 captions, published 12,890 (files of PCL's authors)" and len(results) == 3
    )
    lacking = differences("birds_to_words", whole[1:])
    assert lacking[0] == "train: 2,684 pairs, published 2,685 (files of PCL's authors)"
    assert differences("plain", whole) == ()


def test_the_table_agrees_with_the_counts_of_the_real_files(annotations):
    counts = json.loads((annotations / "counts.json").read_text())
    spot, ier, birds = (counts[n] for n in ("spot_the_diff", "image_editing_request", "birds_to_words"))
    assert PUBLISHED["spot_the_diff"].pairs == tuple(spot["pairs"].values())
    assert PUBLISHED["spot_the_diff"].captions == tuple(spot["sentences"].values())
    assert PUBLISHED["spot_the_diff_records"].pairs == tuple(spot["records"].values())
    assert PUBLISHED["image_editing_request"].pairs == tuple(ier["records"].values())
    assert PUBLISHED["image_editing_request"].captions == tuple(ier["sentences"].values())
    assert PUBLISHED["birds_to_words"].captions == tuple(birds["captions"].values())
    assert PUBLISHED["levir_cc"].pairs == tuple(counts["levir_cc"]["pairs"].values())
    assert sum(PUBLISHED["levir_cc"].captions) == counts["levir_cc"]["captions"]
    assert PUBLISHED["clevr_dc"].pairs == tuple(counts["clevr_dc"]["splits"].values())
    assert PUBLISHED["clevr_change"].pairs == tuple(2 * n for n in counts["clevr_change"]["splits"].values())
