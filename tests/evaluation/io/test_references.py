import json

import pytest

from whatchanged.errors import DatasetError, PredictionsError
from whatchanged.evaluation.io.references import open_references


def sentences_of(dataset):
    return {record.pair_id: record.captions for record in dataset.records}


def test_coco_annotations_in_any_order(tmp_path):
    path = tmp_path / "references.json"
    entries = [("000001.png", "a"), ("000001.png_n", "same"), ("000001.png", "b"), ("000002.png", "a")]
    annotations = [{"id": 0, "image_id": i, "caption": c} for i, c in entries]
    path.write_text(json.dumps({"info": {}, "type": "captions", "images": [], "annotations": annotations}))
    found = open_references(path)
    assert sentences_of(found) == {"000001.png": ("a", "b"), "000001.png_n": ("same",), "000002.png": ("a",)}
    assert [(r.changed, r.change_type, r.group_id) for r in found.records] == [
        (True, None, "000001"),
        (False, "none", "000001"),
        (True, None, "000002"),
    ]


def test_ids_without_distractors_say_nothing_of_change(tmp_path):
    path = tmp_path / "spot.json"
    path.write_text('{"annotations": [{"image_id": 256, "caption": "the car is gone"}]}')
    (record,) = open_references(path).records
    assert (record.pair_id, record.group_id, record.changed, record.after) == ("256", "256", None, None)


def test_pcl_lines(tmp_path):
    path = tmp_path / "test.json"
    lines = [
        {"img1": "CLEVR_default_000123.png", "img2": "CLEVR_nonsemantic_000123.png", "sentences": ["same"]},
        {"img1": "647514", "img2": "5595152", "description": [["animal1", "is", "red"], ["a", "b"]]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert sentences_of(open_references(path)) == {
        "000123.png_n": ("same",),
        "647514_5595152": ("animal1 is red", "a b"),
    }


def test_bare_lines_and_lists_of_pairs(tmp_path):
    path = tmp_path / "references.jsonl"
    path.write_text('{"id": "1", "captions": ["a", "b"]}')
    assert sentences_of(open_references(path)) == {"1": ("a", "b")}
    path.write_text('{"id": "1", "before": "x.png", "after": "y.png", "captions": ["a"]}')
    found = open_references(path)
    assert found.name == "plain" and found.records[0].after == tmp_path / "y.png"
    (tmp_path / "list.csv").write_text("before,after,captions\nx.png,y.png,a|b\n")
    assert sentences_of(open_references(tmp_path / "list.csv")) == {"2": ("a", "b")}


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the file is empty"),
        ('{"annotations": [\n{"image_id": "1", "caption": "a"\n', "line 3, column 1: not JSON"),
        ('{"annotations": []}', '"annotations" should be a list'),
        ('{"annotations": [{"image_id": "1"}]}', "annotation 1: a sentence is wanted, this is null"),
        ('{"annotations": [{"caption": "a"}]}', "annotation 1: an object with image_id and caption"),
        ('{"id": "1", "captions": ["a"]}\n' * 2, "line 2: a second line for 1"),
        ('{"id": "1", "captions": []}', "pair 1 has no sentence"),
        ('{"id": "1", "captions": "a"}', "line 1: the sentences should be a list"),
        ('{"id": "1", "captions": [7]}', "a sentence is wanted, this is 7"),
        ('{"model": "x"}', "no known format of references. Known: a data set folder"),
        # predictions where references are wanted
        ('{"id": "1", "caption": "a", "no_change": 0.5}', "line 1: .*look like predictions.* come first"),
        ('[{"image_id": "1", "caption": "a"}]', "entry 1: .*look like predictions"),
        ('{"ImgId": "a_b", "candidates": ["a"]}', "look like predictions"),
    ],
)
@pytest.mark.parametrize("name", ["r.json", "r.jsonl"])
def test_what_cannot_be_read(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(PredictionsError, match=message):
        open_references(tmp_path / name)


def test_a_bare_file_knows_no_splits(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": "1", "captions": ["a"]}')
    with pytest.raises(PredictionsError, match=r"knows no splits\. Give the data set's folder"):
        open_references(tmp_path / "r.jsonl", "test")


def test_a_bare_file_knows_no_pictures(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": "1", "captions": ["a"]}')
    with pytest.raises(PredictionsError, match="knows no pictures to miss"):
        open_references(tmp_path / "r.jsonl", skip_missing=True)


def test_folders_are_data_sets(tmp_path):
    with pytest.raises(DatasetError, match="no such file or folder"):
        open_references(tmp_path / "none")
    with pytest.raises(DatasetError, match="not a folder of a known data set"):
        open_references(tmp_path)
