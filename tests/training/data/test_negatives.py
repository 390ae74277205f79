import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatchanged.errors import DatasetError
from whatchanged.records import PairRecord
from whatchanged.training.data.negatives import (
    KINDS,
    CaptionVectors,
    Mined,
    fill,
    joined,
    read_negatives,
    share_lines,
    write_negatives,
)

RECORDS = [
    PairRecord(
        "d",
        f"pair{i}",
        f"group{i}",
        "train",
        "pair_caption",
        Path(f"b{i}.png"),
        Path(f"a{i}.png"),
        (f"the {word} one is gone", f"no {word} one any more"),
    )
    for i, word in enumerate(["red", "blue", "green"])
]
FALSE = {record.pair_id: tuple(f"{record.pair_id} sentence {i}" for i in range(6)) for record in RECORDS}

MINED = Mined(FALSE, {"retrieve": 12, "replace": 6}, 0.25, dict.fromkeys(FALSE, KINDS * 2))


def test_the_captions_with_the_same_rare_words_are_most_similar():
    sentences = ["the red one moved", "the blue one is gone", "a red one came"]
    first, second = CaptionVectors(sentences, 0).similar(["the blue thing", "red one came in"])
    assert first[0] == "the blue one is gone" and second[0] == "a red one came"
    assert set(first) == set(second) == set(sentences)


def test_proposals_are_taken_in_their_order_until_there_are_enough():
    """What was found is counted by kind; the share of words is that of Replace's alone."""
    texts = CaptionVectors([caption for record in RECORDS for caption in record.captions], 0)

    def propose(record, similar, rng):
        offered = [(KINDS[i % 3], f"{record.pair_id} {i}", 0.25 * i) for i in range(5)]
        return [], iter(offered)

    mined = fill(RECORDS, texts, propose, 0, 4)
    assert mined.sentences["pair1"] == ("pair1 0", "pair1 1", "pair1 2", "pair1 3")
    assert dict(mined.counts) == {"retrieve": 6, "replace": 3, "confuse": 3}
    assert mined.kinds["pair1"] == ("retrieve", "replace", "confuse", "retrieve")
    assert mined.replaced == pytest.approx(np.mean([0.25] * 3))
    with pytest.raises(DatasetError, match=r"pair0: only 5 of 6 false captions .* 6 captions at hand"):
        fill(RECORDS, texts, propose, 0, 6)


def test_the_published_file_form_comes_back(tmp_path):
    path = tmp_path / "negatives.jsonl"
    write_negatives(path, RECORDS, MINED)
    first = json.loads(path.read_text().splitlines()[0])
    assert list(first) == ["id", "img1", "img2", "sentences", "neg_samples", "neg_kinds"]
    assert first["neg_kinds"] == ["retrieve", "replace", "confuse"] * 2
    assert (first["img1"], first["img2"]) == ("b0.png", "a0.png") and len(first["neg_samples"]) == 6
    assert read_negatives(path, RECORDS) == FALSE


def test_pairs_of_equal_names_keep_their_own_false_captions(tmp_path):
    """A folder a pair, each with before.png and after.png."""
    records = [
        replace(r, before=Path(r.pair_id, "before.png"), after=Path(r.pair_id, "after.png")) for r in RECORDS
    ]
    path = tmp_path / "negatives.jsonl"
    write_negatives(path, records, MINED)
    assert read_negatives(path, records) == FALSE
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    without = [json.dumps({key: value for key, value in line.items() if key != "id"}) for line in lines]
    path.write_text("\n".join(without[:1] * 2))  # the same twice: nothing to choose
    assert read_negatives(path, records[:1]) == {records[0].pair_id: FALSE[records[0].pair_id]}
    path.write_text("\n".join(without))
    with pytest.raises(DatasetError, match=r"line 2: other false captions for before\.png, after\.png"):
        read_negatives(path, records)


def test_the_published_form_has_no_ids(tmp_path):
    path = tmp_path / "negatives.jsonl"
    write_negatives(path, RECORDS, MINED)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    without = [json.dumps({key: value for key, value in line.items() if key != "id"}) for line in lines]
    path.write_text("\n".join(without))
    assert read_negatives(path, RECORDS) == FALSE


def test_a_file_without_a_pair_or_with_a_broken_line_is_refused(tmp_path):
    path = tmp_path / "negatives.jsonl"
    write_negatives(path, RECORDS[1:], MINED)
    with pytest.raises(DatasetError, match=r"no false captions for pair0 "):
        read_negatives(path, RECORDS)
    path.write_text('{"img1": "a"}\n')
    with pytest.raises(DatasetError, match="line 1"):
        read_negatives(path, RECORDS)


def test_how_many_there_are_of_each_kind_lies_beside_the_file_and_is_told(tmp_path):
    write_negatives(tmp_path / "negatives.jsonl", RECORDS, MINED)
    kept = json.loads((tmp_path / "negatives.shares.json").read_text())
    assert kept == {"pairs": 3, "kinds": {"retrieve": 12, "replace": 6, "confuse": 0}, "replaced_words": 0.25}
    assert share_lines(tmp_path) == [
        "negatives: false captions of 3 pairs: 12 retrieve, 6 replace, 0 confuse; Replace changed 25 % of a"
        " caption's words"
    ]


def test_two_lots_are_joined_with_the_mean_share_of_all_replaced_words():
    one = Mined({"a": ("x",)}, {"replace": 3, "retrieve": 1}, 0.2, {"a": ("replace",)})
    other = Mined({"b": ("y",)}, {"replace": 1}, 0.6, {"b": ("replace",)})
    both = joined(one, other)
    assert both.sentences == {"a": ("x",), "b": ("y",)} and both.kinds == {
        "a": ("replace",),
        "b": ("replace",),
    }
    assert dict(both.counts) == {"replace": 4, "retrieve": 1}
    assert both.replaced == pytest.approx(0.3)
