import json

import pytest
from support.tiny_sets import image_editing_request, write

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def test_records_are_called_by_uid_so_that_repeated_pairs_do_not_collapse(tmp_path):
    image_editing_request(tmp_path)
    opened = open_dataset(tmp_path)
    assert [r.pair_id for r in opened.records] == ["Zhopped_2", "Zhopped_3", "Reddit_1", "Reddit_2"]
    first, second = opened.records[:2]
    assert (first.before, first.after) == (second.before, second.after)
    assert (first.before.name, first.after.name) == ("Zhopped.com_a_a.jpg", "Zhopped.com_a_b.PNG")
    assert first.group_id == "Zhopped.com_a_a.jpg" and first.extra == {"site": "Zhopped"}
    assert any("distinct pairs: train 1, val 1, test 1" in note for note in opened.report.notes)


def test_sentences_stay_raw(tmp_path):
    image_editing_request(tmp_path)
    captions = {r.pair_id: r.captions for r in open_dataset(tmp_path).records}
    assert captions["Zhopped_2"] == ("change the back ground ",)
    assert captions["Reddit_1"] == ("crop it", "Crop it.", 'say "x')


def test_a_pair_without_a_sentence_is_told(tmp_path):
    line = {"img1": "Reddit.com_a_a.jpg", "img2": "Reddit.com_a_b.jpg", "sentences": []}
    write(tmp_path / "train.json", json.dumps(line))
    with pytest.raises(DatasetError, match="'sentences' holds no sentence"):
        open_dataset(tmp_path, pictures=False)


def test_the_second_name_of_the_validation_file(tmp_path):
    image_editing_request(tmp_path)
    (tmp_path / "valid.json").rename(tmp_path / "val.json")
    assert [r.pair_id for r in open_dataset(tmp_path, split="val").records] == ["Reddit_1"]


def test_the_form_in_lines_has_no_uids(tmp_path):
    line = {"img1": "Reddit.com_a_a.jpg", "img2": "Reddit.com_a_b.jpg", "sentences": ["make it bright"]}
    write(tmp_path / "train.json", "\n".join([json.dumps(line), json.dumps({**line, "sentences": "b"})]))
    opened = open_dataset(tmp_path, pictures=False)
    assert opened.name == "image_editing_request"
    assert [(r.pair_id, r.captions) for r in opened.records] == [
        ("train_1", ("make it bright",)),
        ("train_2", ("b",)),
    ]
    assert opened.records[0].before == tmp_path / "images/Reddit.com_a_a.jpg"


def test_the_real_files_give_the_published_counts(annotations, tmp_path, pictures_for):
    root = annotations / "image_editing_request"
    counts = json.loads((annotations / "counts.json").read_text())["image_editing_request"]
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.json").write_bytes((root / f"{name}.json").read_bytes())
    records = open_dataset(tmp_path, pictures=False).records
    pictures_for(records, tmp_path / "seed.png")
    opened = open_dataset(tmp_path)
    assert opened.report.differences == () and opened.report.blank_captions == 0
    for split, name in (("train", "train"), ("val", "valid"), ("test", "test")):
        here = [r for r in opened.records if r.split == split]
        assert len(here) == counts["records"][name]
        assert len({(r.before, r.after) for r in here}) == counts["pairs"][name]
        assert sum(len(r.captions) for r in here) == counts["sentences"][name]
    assert len({path for r in records for path in (r.before, r.after)}) == 5_883
    assert sum(r.extra["site"] == "Reddit" for r in records) == 2_103
    assert sum(c != c.strip() for r in records for c in r.captions) == 377


def test_the_real_splits_share_pairs_which_is_said(annotations):
    opened = open_dataset(annotations / "image_editing_request", pictures=False)
    places = {}
    for record in opened.records:
        places.setdefault((record.before, record.after), []).append((record.split, record.pair_id))
    crossing = [p for p in places.values() if {"train"} < {split for split, _ in p}]
    shared = {pair_id for found in crossing for split, pair_id in found if split != "train"}
    assert shared >= {"Zhopped_815", "Zhopped_1182", "Zhopped_2293"}
    notes = " | ".join(opened.report.notes)
    assert "pairs that train and val share: 2" in notes and "pairs that train and test share: 1" in notes
    assert "pairs that val and test share: 55" in notes
