import json

import pytest
from support.tiny_sets import UI_CHANGE, ui_pair, ui_train

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def changed_line(root, **change):
    line = {**ui_pair("ab-001", "train", "yes"), **change}
    (root / "pairs.jsonl").write_text(json.dumps(line))
    return root


def test_labels_become_records_with_both_sentences(tmp_path):
    ui_train(tmp_path)
    opened = open_dataset(tmp_path)
    assert opened.name == "ui_train"
    found = {record.pair_id: (record.split, record.changed, record.change_type) for record in opened.records}
    assert found == {
        "ab-001": ("train", True, "moved"),
        "ab-002": ("train", False, "none"),
        "cd-001": ("val", None, None),
    }
    first = opened.records[0]
    assert first.captions == ("The button moved down.", "The button stands lower.")
    assert first.boxes == ((2, 3, 4, 5), (2, 4, 4, 5))  # left, top, width, height
    assert first.before == tmp_path / "images" / "ab-001_before.png"
    assert first.extra["changes"] == [UI_CHANGE] and first.extra["repo"] == "owner/things"


def test_the_list_itself_can_be_named(tmp_path):
    ui_train(tmp_path)
    assert open_dataset(tmp_path / "pairs.jsonl").records == open_dataset(tmp_path).records


def test_a_list_without_labels_is_another_data_set(tmp_path):
    ui_train(tmp_path)
    line = {"id": "1", "before": "images/ab-001_before.png", "after": "images/ab-001_after.png"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(line))
    assert open_dataset(tmp_path).name == "plain"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 3}, "'id' should be a text"),
        ({"split": "test"}, "unknown split 'test'. Known: train, validation"),
        ({"visible_change": "maybe"}, "unknown visible_change 'maybe'"),
        ({"changes": {}}, "'changes' should be a list of objects"),
        ({"changes": []}, "a visible change needs an entry"),
        ({"changes": [{**UI_CHANGE, "kind": "grown"}]}, "change 1: unknown kind 'grown'"),
        ({"changes": [{**UI_CHANGE, "box_after": [5, 5, 5, 9]}]}, "change 1: a box is left, top"),
        ({"changes": [{**UI_CHANGE, "box_before": None, "box_after": None}]}, "change 1: a box"),
        ({"before": "../secret.png"}, "leaves the folder"),
        ({"sentences": "one"}, "should be a list of sentences"),
    ],
)
def test_damage_is_told_by_its_line_and_left_out_where_that_is_asked_for(tmp_path, change, message):
    ui_train(tmp_path)
    changed_line(tmp_path, **change)
    with pytest.raises(DatasetError, match=message) as told:
        open_dataset(tmp_path, "ui_train")
    assert "line 1" in str(told.value)
    with pytest.raises(DatasetError, match=r"it names no pairs\. Left out: 1"):
        open_dataset(tmp_path, "ui_train", skip_missing=True)


def test_a_folder_without_a_list_is_told(tmp_path):
    with pytest.raises(DatasetError, match=r"pairs\.jsonl: missing"):
        open_dataset(tmp_path, "ui_train")
