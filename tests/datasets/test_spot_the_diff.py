import json

import pytest
from support.tiny_sets import spot_the_diff, write

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def test_single_joins_the_records_of_an_id_and_drops_blank_sentences(tmp_path):
    spot_the_diff(tmp_path)
    opened = open_dataset(tmp_path)
    assert [r.pair_id for r in opened.records] == ["235.png", "256.png", "10.png", "1.png"]
    first = opened.records[0]
    assert first.captions == ("the person is gone", "the suv is gone")
    assert first.extra == {"records": 2} and first.group_id == "235"
    notes = " | ".join(opened.report.notes)
    assert "ids in more than one record, joined: 1 (first: 235)" in notes
    assert "blank sentences dropped: 2" in notes
    assert "blank sentences only (train 1, val 0, test 0): 1 (first: 7.png)" in notes


def test_pairs_are_made_by_name(tmp_path):
    """A sorted listing would put 1_2.png behind 10.png."""
    spot_the_diff(tmp_path)
    one = open_dataset(tmp_path).records[-1]
    images = tmp_path / "resized_images"
    assert (one.before, one.after) == (images / "1.png", images / "1_2.png")


def test_blank_sentences_can_be_kept(tmp_path):
    spot_the_diff(tmp_path)
    opened = open_dataset(tmp_path, "spot_the_diff_blanks")
    assert opened.records[0].captions == ("the person is gone", "", "the suv is gone")
    assert opened.records[2].captions == (" ",)
    assert opened.report.blank_captions == 2


def test_records_stay_apart(tmp_path):
    spot_the_diff(tmp_path)
    records = open_dataset(tmp_path, "spot_the_diff_records").records
    assert [r.pair_id for r in records[:3]] == [f"spotdiff_train_{i}" for i in range(3)]
    assert [r.group_id for r in records[:3]] == ["235", "256", "235"]
    assert records[2].captions == ("the suv is gone",)


def test_the_conversion_with_uids(tmp_path):
    """Its img0 and img1 are absolute paths of another machine: the file name alone counts."""
    entry = {"img0": "/home/u/x/resized_images/77.png", "img1": "/home/u/x/resized_images/77_2.png"}
    write(tmp_path / "valid.json", [{**entry, "sents": ["a", "b"], "uid": "spotdiff_valid_0"}])
    opened = open_dataset(tmp_path, pictures=False)
    assert (opened.name, opened.records[0].pair_id, opened.records[0].split) == (
        "spot_the_diff",
        "77.png",
        "val",
    )
    assert opened.records[0].before == tmp_path / "resized_images/77.png"
    (named,) = open_dataset(tmp_path, "spot_the_diff_records", pictures=False).records
    assert named.pair_id == "spotdiff_valid_0"


def test_one_sentence_a_line(tmp_path):
    lines = [{"sentences": "a car left", "img_id": "5"}, {"sentences": ["it rains"], "img_id": "5"}]
    write(tmp_path / "train.json", "\n".join(map(json.dumps, lines)))
    (record,) = open_dataset(tmp_path, pictures=False).records
    assert record.captions == ("a car left", "it rains")


def test_reformatted_files(tmp_path):
    write(tmp_path / "reformat_test.json", [{"img_id": "256", "sentences": ["a", "b"]}])
    (record,) = open_dataset(tmp_path, pictures=False).records
    assert (record.pair_id, record.split, record.captions) == ("256.png", "test", ("a", "b"))


def test_no_annotations(tmp_path):
    with pytest.raises(DatasetError, match=r"no annotations/train.json"):
        open_dataset(tmp_path, "spot_the_diff")


def test_the_real_annotations_give_the_published_counts(annotations):
    counts = json.loads((annotations / "counts.json").read_text())["spot_the_diff"]
    root = annotations / "spot_the_diff"
    kept = open_dataset(root, "spot_the_diff_blanks", pictures=False)
    assert kept.report.differences == ()
    assert kept.report.blank_captions == sum(counts["blank_sentences"].values())
    for split in ("train", "val", "test"):
        here = [r for r in kept.records if r.split == split]
        assert len(here) == counts["pairs"][split]
        assert sum(r.extra["records"] for r in here) == counts["records"][split]
        assert sum(len(r.captions) for r in here) == counts["sentences"][split]
        only = sum(not any(c.strip() for c in r.captions) for r in here)
        assert only == counts["pairs_with_only_blank_sentences"][split]


@pytest.fixture(scope="module")
def single(annotations):
    return open_dataset(annotations / "spot_the_diff", pictures=False)


def test_the_real_pairs_that_are_left_out_explain_the_difference(annotations, single):
    counts = json.loads((annotations / "counts.json").read_text())["spot_the_diff"]
    opened = single
    for split in ("train", "val", "test"):
        here = [r for r in opened.records if r.split == split]
        assert len(here) == counts["pairs"][split] - counts["pairs_with_only_blank_sentences"][split]
        sentences = counts["sentences"][split] - counts["blank_sentences"][split]
        assert sum(len(r.captions) for r in here) == sentences
    assert len(opened.report.differences) == 6


def test_the_real_pairs_where_annotators_disagree_keep_every_sentence(single):
    captions = next(r.captions for r in single.records if r.pair_id == "138.png")
    nothing = [c for c in captions if "no difference" in c]
    assert nothing and len(nothing) < len(captions)


def test_the_real_pairs_of_a_split_with_pictures(annotations, tmp_path, pictures_for):
    (tmp_path / "annotations").mkdir()
    content = (annotations / "spot_the_diff/test.json").read_bytes()
    (tmp_path / "annotations/test.json").write_bytes(content)
    pictures_for(open_dataset(tmp_path, pictures=False).records, tmp_path / "seed.png")
    assert len(open_dataset(tmp_path).records) == 1_263
    (tmp_path / "resized_images/256_2.png").unlink()
    opened = open_dataset(tmp_path, skip_missing=True)
    assert opened.report.skipped == ("256.png",)
