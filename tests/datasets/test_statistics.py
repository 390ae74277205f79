from pathlib import Path

from whatchanged.datasets.statistics import Spread, summarise
from whatchanged.records import PairRecord


def record(number, split, captions, kind=None, group=None):
    path = Path(f"{number}.png")
    return PairRecord(
        "plain",
        str(number),
        group or str(number),
        split,
        "pair_caption",
        path,
        path,
        captions,
        change_type=kind,
    )


def test_a_summary_worked_out_by_hand():
    records = [
        record(1, "train", ("a b", "a"), "add", "g"),
        record(2, "train", ("c c c",), "none", "g"),
        record(3, "test", ()),
    ]
    train, test = summarise(records)
    assert (train.split, train.pairs, train.groups, train.captions) == ("train", 2, 1, 3)
    assert train.captions_a_pair == Spread(1, 1.5, 2) and train.words_a_caption == Spread(1, 2.0, 3)
    assert (train.vocabulary, train.once) == (3, 1)
    assert train.types == (("add", 1), ("none", 1))
    assert (test.captions, test.words_a_caption, test.vocabulary) == (0, Spread(0, 0.0, 0), 0)


def test_words_count_as_they_stand():
    (one,) = summarise([record(1, "val", ("A a",))])
    assert (one.vocabulary, one.once) == (2, 2)


def test_real_lengths_are_the_published_ones(annotations):
    from whatchanged.datasets import open_dataset

    by_split = summarise(open_dataset(annotations / "birds_to_words", pictures=False).records)
    lengths = [(round(s.words_a_caption.mean, 1), s.words_a_caption.most) for s in by_split]
    assert lengths == [(32.4, 231), (31.0, 133), (31.9, 183)]
    assert by_split[0].captions_a_pair.least == 3 and by_split[0].captions_a_pair.most == 10
