import json

import pytest
from PIL import Image

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def write(root, name, value):
    (root / name).write_text(json.dumps(value))


@pytest.fixture
def folder(tmp_path):
    """Two scenes in the official layout: 3 gained a thing (train), 1205 lost one (test)."""
    for index in (3, 1205):
        for place, view in (("images", "default"), ("sc_images", "semantic"), ("nsc_images", "nonsemantic")):
            (tmp_path / place).mkdir(exist_ok=True)
            Image.new("RGBA", (8, 8)).save(tmp_path / place / f"CLEVR_{view}_{index:06d}.png")
    write(tmp_path, "splits.json", {"train": [3], "val": [], "test": [1205]})
    write(tmp_path, "type_mapping.json", {"add": ["000003.png"], "drop": ["001205.png"], "color": []})
    write(tmp_path, "change_captions.json", {"CLEVR_default_000003.png": ["b  b", "a", "a"]})
    write(tmp_path, "no_change_captions.json", {"CLEVR_default_000003.png": ["nothing has changed"]})
    write(
        tmp_path,
        "change_captions_with_bbox.json",
        {
            "3": {"bbox_before": [], "bbox_after": [1, 2, 3, 4]},
            "1205": {"bbox_before": [5, 6, 7, 8], "bbox_after": None},
        },
    )
    write(tmp_path, "change_captions_by_IOU.json", {"3": 0.25})
    return tmp_path


def test_names_captions_and_truth_follow_from_the_ids(folder):
    dataset = open_dataset(folder)
    assert dataset.name == "clevr_change"
    changed, same, lost, kept = dataset.records
    assert [r.pair_id for r in dataset.records] == [
        "000003.png",
        "000003.png_n",
        "001205.png",
        "001205.png_n",
    ]
    assert changed.before == same.before == folder / "images/CLEVR_default_000003.png"
    assert changed.after == folder / "sc_images/CLEVR_semantic_000003.png"
    assert kept.after == folder / "nsc_images/CLEVR_nonsemantic_001205.png"
    assert changed.group_id == same.group_id == "000003"
    assert changed.captions == ("b  b", "a", "a")
    assert same.captions == ("nothing has changed",)
    assert lost.captions == ()
    assert (changed.changed, changed.change_type) == (True, "add")
    assert (same.changed, same.change_type) == (False, "none")
    assert changed.boxes == (None, (1, 2, 3, 4))
    assert lost.boxes == ((5, 6, 7, 8), None)
    assert same.boxes == (None, None)
    assert (changed.viewpoint_iou, lost.viewpoint_iou) == (0.25, None)
    notes = " | ".join(dataset.report.notes)
    assert "change_captions.json: scenes without captions: 1 (first: 1205)" in notes


def test_splits_choose_scenes(folder):
    assert {r.pair_id for r in open_dataset(folder, split="test").records} == {"001205.png", "001205.png_n"}
    with pytest.raises(DatasetError, match=r"no pairs in split 'val'. Pairs found: train 2, val 0, test 2"):
        open_dataset(folder, split="val")


def test_annotations_other_than_the_splits_may_be_absent(folder):
    for name in ("type_mapping", "change_captions_with_bbox", "change_captions_by_IOU", "no_change_captions"):
        (folder / f"{name}.json").unlink()
    dataset = open_dataset(folder)
    assert dataset.records[0].change_type is None
    assert dataset.records[0].boxes == (None, None)
    assert "type_mapping.json is absent" in dataset.report.notes
    (folder / "change_captions.json").unlink()
    assert all(r.captions == () for r in open_dataset(folder).records)


def test_missing_pictures_are_counted_or_their_pairs_left_out(folder):
    (folder / "sc_images/CLEVR_semantic_000003.png").unlink()
    (folder / "images/CLEVR_default_001205.png").unlink()
    with pytest.raises(DatasetError, match=r"pictures are missing: 2 \(first: .*000003.png.*--skip-missing"):
        open_dataset(folder)
    dataset = open_dataset(folder, skip_missing=True)
    assert [r.pair_id for r in dataset.records] == ["000003.png_n"]
    assert dataset.report.skipped == ("000003.png", "001205.png", "001205.png_n")
    assert len(dataset.report.missing) == 2
    assert len(open_dataset(folder, pictures=False).records) == 4


@pytest.mark.parametrize(
    "name, value, message",
    [
        (
            "splits.json",
            {"train": [3], "val": [], "test": [3]},
            "scene 3 stands in 'train' and again in 'test'",
        ),
        ("splits.json", {"train": ["3"]}, "'train' should be a list of scene numbers"),
        ("splits.json", {"train": [], "val": [], "test": []}, "names no pairs"),
        ("splits.json", [3], "a JSON object is wanted, this is a list"),
        ("type_mapping.json", {"add": ["000003.png"]}, r"no change type for 1 scenes \(first: 001205.png\)"),
        ("type_mapping.json", {"paint": []}, "unknown change type 'paint'. Known: color, material"),
        (
            "type_mapping.json",
            {"add": ["000003.png"], "drop": ["000003.png"]},
            "under 'add' and under 'drop'",
        ),
        ("type_mapping.json", {"add": 3}, "'add' should be a list of file names"),
        ("change_captions.json", {"CLEVR_default_000003.png": "a"}, "should be a list of sentences"),
        ("change_captions_with_bbox.json", {"3": {"bbox_after": [1, 2]}}, 'the boxes of "3"'),
        ("change_captions_with_bbox.json", {"3": [1, 2]}, 'the boxes of "3"'),
        ("change_captions_with_bbox.json", {"3": {"bbox_after": ["nan", "1", "2", "3"]}}, 'the boxes of "3"'),
        ("change_captions_with_bbox.json", {"3": {"bbox_before": [True, 1, 2, 3]}}, 'the boxes of "3"'),
        ("change_captions_by_IOU.json", {"3": "far"}, 'the overlap of "3" should be a number'),
    ],
)
def test_broken_annotations_say_what_is_wrong(folder, name, value, message):
    write(folder, name, value)
    with pytest.raises(DatasetError, match=message):
        open_dataset(folder)


def test_files_that_are_not_json_are_named(folder):
    (folder / "splits.json").write_text('{"train": [3')
    with pytest.raises(DatasetError, match=r"splits.json: not JSON"):
        open_dataset(folder)
    (folder / "splits.json").unlink()
    with pytest.raises(DatasetError, match=r"splits.json: missing"):
        open_dataset(folder)


def test_every_spelling_of_a_scene_is_the_same_scene(folder):
    spelled = {"CLEVR_default_000003.png": ["a"], "001205.png": ["b"]}
    write(folder, "change_captions.json", spelled)
    write(folder, "no_change_captions.json", {"3": ["c"], "CLEVR_nonsemantic_001205.png": ["d"]})
    captions = [r.captions for r in open_dataset(folder, "clevr_change").records]
    assert captions == [("a",), ("c",), ("b",), ("d",)]
    write(folder, "change_captions.json", {"CLEVR_default_000003.png": ["a"], "3": ["b"]})
    with pytest.raises(DatasetError, match="'3' names scene 3 a second time"):
        open_dataset(folder, "clevr_change")


def test_a_missing_picture_gives_no_other_picture_its_captions(folder):
    """The published loaders pair by position in the sorted folder; here the names decide."""
    (folder / "images/CLEVR_default_000003.png").unlink()
    dataset = open_dataset(folder, skip_missing=True)
    assert {r.before.name for r in dataset.records} == {"CLEVR_default_001205.png"}
    assert dataset.report.skipped == ("000003.png", "000003.png_n")


def test_captions_of_scenes_in_no_split_are_counted(folder):
    write(folder, "change_captions.json", {f"CLEVR_default_{i:06d}.png": ["a"] for i in (3, 597, 1205)})
    notes = open_dataset(folder).report.notes
    assert any("in no split, not used: 1 (first: 597)" in note for note in notes)


def test_the_types_of_papers_and_code_are_the_files_types(folder):
    write(folder, "type_mapping.json", {"texture": ["000003.png"], "drop": ["001205.png"]})
    assert open_dataset(folder).records[0].change_type == "material"


def test_captions_from_the_scorers_copy(folder):
    (folder / "change_captions.json").unlink()
    (folder / "no_change_captions.json").unlink()
    annotations = [
        {"caption": "b", "id": 0, "image_id": "000003.png"},
        {"caption": "no change was made", "id": 1, "image_id": "000003.png_n"},
        {"caption": "a", "id": 2, "image_id": "000003.png"},
    ]
    write(folder, "total_change_captions_reformat.json", {"annotations": annotations})
    dataset = open_dataset(folder)
    assert [r.captions for r in dataset.records[:2]] == [("b", "a"), ("no change was made",)]
    assert "captions read from total_change_captions_reformat.json" in dataset.report.notes


def test_the_form_in_lines(folder):
    """PCL's: the kind of a pair stands in the name of its second picture."""
    for name in ("splits.json", "change_captions.json", "no_change_captions.json", "type_mapping.json"):
        (folder / name).unlink()
    first = {"img1": "CLEVR_default_000003.png", "img2": "CLEVR_semantic_000003.png", "sentences": ["a", "b"]}
    other = {**first, "img2": "CLEVR_nonsemantic_000003.png", "sentences": ["nothing has changed"]}
    (folder / "train.json").write_text("\n".join(map(json.dumps, (first, other))))
    (folder / "train_neg_tfidf6.json").write_text(json.dumps({**first, "neg_samples": ["x", "y"]}))
    changed, same = open_dataset(folder, "clevr_change").records
    assert (changed.pair_id, changed.captions, changed.negatives) == ("000003.png", ("a", "b"), ("x", "y"))
    assert (same.pair_id, same.change_type, same.group_id) == ("000003.png_n", "none", "000003")
    assert same.after == folder / "nsc_images/CLEVR_nonsemantic_000003.png"
    (folder / "train.json").write_text(json.dumps({**first, "img2": "CLEVR_semantic_000004.png"}))
    with pytest.raises(DatasetError, match="should be two pictures of one scene"):
        open_dataset(folder, "clevr_change")


@pytest.fixture(scope="module")
def real(annotations):
    return open_dataset(annotations / "clevr_change", pictures=False)


def test_the_real_splits_and_types_give_the_published_counts(annotations, real):
    counts = json.loads((annotations / "counts.json").read_text())["clevr_change"]
    dataset, records = real, real.records
    assert dataset.name == "clevr_change" and len(records) == counts["pairs_with_distractors"]
    for split, scenes in counts["splits"].items():
        here = [r for r in records if r.split == split]
        assert len(here) == 2 * scenes and sum(r.change_type == "none" for r in here) == scenes
    for kind, scenes in counts["types"].items():
        assert sum(r.change_type == kind for r in records) == scenes
    test = [r.change_type for r in records if r.split == "test"]
    assert [test.count(kind) for kind in counts["types"]] == [797] * 5
    overlaps = [r.viewpoint_iou for r in records if r.viewpoint_iou is not None]
    assert len(overlaps) == counts["iou"]
    assert next(r for r in records if r.group_id == "000000").viewpoint_iou == 0.42185118599875526
    assert dataset.report.differences == (
        "0 captions in all, published 493,735 (split file; captions: the paper)",
    )


def test_the_real_ids_have_197_gaps(real):
    records = real.records
    there = {int(r.group_id) for r in records}
    gone = sorted(set(range(40_000)) - there)
    assert len(gone) == 197 and gone[:5] == [597, 857, 1038, 1119, 1405]
    duplicates = {r.pair_id: r.split for r in records}
    assert all(duplicates[f"{i:06d}.png"] == duplicates[f"{i:06d}.png_n"] for i in there)


def test_the_development_renders_read_as_they_are(development_renders):
    dataset = open_dataset(development_renders)
    assert len(dataset.records) == 200
    assert dataset.report.missing == () and dataset.report.notes == ()
    first, same = dataset.records[:2]
    assert first.captions[0] == "the cyan metal cube turned gray"
    assert first.change_type == "color" and first.boxes == ((229, 152, 50, 56), (220, 152, 71, 80))
    assert same.captions[-1] == "there is no change"
    assert sum(len(r.captions) for r in dataset.records if r.changed) == 606
