from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.records import PairRecord
from whatchanged.training.data.cross_task import LabelledPairs, open_labelled, open_singles


def record(number, label, after=None):
    kind, labels = ("single_label", (label,)) if after is None else ("pair_label", (label, 0))
    path = Path(f"{number}.jpg")
    return PairRecord("nabirds", str(number), str(number), "train", kind, path, after, labels=labels)


def read(path):
    return np.full((1, 1), int(path.stem), np.float32)


FGVC = PCLCrossTaskConfig(max_length=20).tasks["fgvc"]
LABELS = [3, 0, 0, 3, 5, 0, 3, 3]


def test_partners_are_of_the_same_class_half_the_time_and_never_the_picture_itself():
    source = LabelledPairs([record(i, label) for i, label in enumerate(LABELS)], read)
    assert len(source) == source.count(FGVC) == 8
    for index, label in enumerate(LABELS):
        partners, rng = Counter(), np.random.default_rng(index)
        for _ in range(2000):
            pair = source.example(index, rng)
            other = int(pair.after[0, 0])
            assert int(pair.before[0, 0]) == index and pair.record.pair_id == f"{index}_{other}"
            assert pair.record.labels == (label, LABELS[other])
            assert pair.record.same_class == (label == LABELS[other])
            partners[other] += 1
        assert set(partners) == set(range(8)) - {index}
        if LABELS.count(label) == 1:
            continue
        same = sum(partners[i] for i in range(8) if LABELS[i] == label)
        assert abs(same - 1000) < 120
        for kin in (True, False):  # each of a class as often as the others
            counts = [n for i, n in partners.items() if (LABELS[i] == label) == kin]
            assert max(counts) < 1.5 * min(counts)


def test_a_picture_alone_in_its_class_meets_others():
    source = LabelledPairs([record(0, 0), record(1, 1), record(2, 1)], read)
    rng = np.random.default_rng(0)
    assert {source.example(0, rng).record.same_class for _ in range(50)} == {False}


def test_published_pairs_are_read_as_they_are():
    source = LabelledPairs([record(4, 2, after=Path("7.jpg"))], read)
    pair = source.example(0, np.random.default_rng(0))
    assert (int(pair.before[0, 0]), int(pair.after[0, 0]), pair.record.labels) == (4, 7, (2, 0))


def test_folders_are_named_found_and_of_the_right_kind(tiny_birds):
    name, singles = open_singles(str(tiny_birds / "cub"), True)
    assert name == "cub"
    assert {r.kind for r in singles} == {"single_caption"} and {r.split for r in singles} == {"train"}
    labelled = open_labelled(str(tiny_birds / "nabirds"), read, 6, True)
    assert {r.split for r in labelled.records} == {"train"} and len(labelled) == 48
    with pytest.raises(RecipeError, match=r"data\.single=FOLDER"):
        open_singles("", True)
    with pytest.raises(DatasetError, match="wanted single pictures with captions"):
        open_singles(str(tiny_birds / "birds_to_words"), True)
    with pytest.raises(RecipeError, match=r"data\.labelled=FOLDER"):
        open_labelled("", read, 6, True)
    with pytest.raises(DatasetError, match="no labelled pictures without captions"):
        open_labelled(str(tiny_birds / "cub"), read, 6, True)
    with pytest.raises(DatasetError, match=r"Set method\.classes=6"):
        open_labelled(str(tiny_birds / "nabirds"), read, 5, True)
