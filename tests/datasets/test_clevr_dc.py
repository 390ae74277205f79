import json

import pytest
from support.tiny_sets import clevr_dc, paint, write

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def test_unpadded_names_are_made_from_ids_not_from_a_sorted_listing(tmp_path):
    """Fixture in the documented layout; the names sort as 0, 10, 100, 2."""
    clevr_dc(tmp_path)
    records = open_dataset(tmp_path).records
    assert [r.pair_id for r in records] == ["000000.png", "000002.png", "000010.png", "000100.png"]
    assert [r.split for r in records] == ["train", "train", "val", "test"]
    ten = records[2]
    assert (ten.before, ten.after) == (tmp_path / "bef/10.png", tmp_path / "aft/10.png")
    assert ten.captions == ("the thing 10 is missing", "the thing is gone")
    assert (ten.changed, ten.change_type) == (None, None)


def test_the_renamed_form_gives_the_same_records(tmp_path):
    official, renamed = tmp_path / "official", tmp_path / "renamed"
    clevr_dc(official)
    captions = json.loads((official / "captions.json").read_text())
    write(renamed / "change_captions.json", {f"{int(i):06d}.png": c for i, c in captions.items()})
    write(renamed / "splits.json", json.loads((official / "split.json").read_text()))
    for i in captions:
        for folder in ("images", "sc_images"):
            paint(renamed / folder / f"{int(i):06d}.png")
    first, second = open_dataset(official), open_dataset(renamed)
    assert first.name == second.name == "clevr_dc"
    for one, other in zip(first.records, second.records, strict=True):
        assert (one.pair_id, one.split, one.captions) == (other.pair_id, other.split, other.captions)
    assert second.records[2].after == renamed / "sc_images/000010.png"


def test_captions_from_the_scorers_copy(tmp_path):
    clevr_dc(tmp_path)
    (tmp_path / "captions.json").unlink()
    annotations = [{"caption": "it is gone", "id": 0, "image_id": "000010.png"}]
    write(tmp_path / "total_change_captions_reformat.json", {"annotations": annotations})
    captions = {r.pair_id: r.captions for r in open_dataset(tmp_path).records}
    assert captions["000010.png"] == ("it is gone",) and captions["000000.png"] == ()


def test_types_stand_in_a_file_or_are_not_known(tmp_path):
    clevr_dc(tmp_path)
    write(
        tmp_path / "type_mapping.json",
        {"texture": ["000000.png"], "add": ["2"], "no_change": ["10"], "drop": ["100"]},
    )
    kinds = [(r.change_type, r.changed) for r in open_dataset(tmp_path).records]
    assert kinds == [("material", True), ("add", True), ("none", False), ("drop", True)]


def test_the_split_file_is_needed(tmp_path):
    (tmp_path / "bef").mkdir()
    (tmp_path / "aft").mkdir()
    with pytest.raises(DatasetError, match=r"split.json: missing"):
        open_dataset(tmp_path)


def test_the_real_split_gives_the_published_counts(annotations):
    """Blocks of 8,000: the first 6,800 train, the next 400 val, the last 800 test."""
    opened = open_dataset(annotations / "clevr_dc", pictures=False)
    assert opened.name == "clevr_dc" and opened.report.differences == ()
    assert any("blocks of ids" in note for note in opened.report.notes)
    types = ("color", "material", "add", "drop", "move", "none")
    for split, each in (("train", 6_800), ("val", 400), ("test", 800)):
        here = [r.change_type for r in opened.records if r.split == split]
        assert [here.count(kind) for kind in types] == [each] * 6
    by_id = {r.pair_id: r for r in opened.records}
    assert by_id["000000.png"].change_type == "color"
    assert by_id["008000.png"].change_type == "material"
    assert by_id["047999.png"].changed is False
