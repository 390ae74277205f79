import shutil

import pytest
from PIL import Image

from whatchanged.datasets import folders, open_dataset
from whatchanged.datasets.reading import Reading
from whatchanged.errors import DatasetError


@pytest.fixture
def folder(tmp_path):
    for side in ("before", "after", "captions"):
        (tmp_path / side).mkdir()
    for number in range(4):
        for side in ("before", "after"):
            Image.new("RGB", (8, 8)).save(tmp_path / side / f"{number}.png")
    (tmp_path / "captions" / "0.txt").write_text("a door opened\n\nthe door is open now \n")
    (tmp_path / "train.txt").write_text("2.png\n0.png\n")
    (tmp_path / "test.txt").write_text("1.png\n\n3.png\n")
    return tmp_path


def test_pairs_go_by_their_name(folder):
    dataset = open_dataset(folder)
    assert dataset.name == "folders"
    assert [(r.split, r.pair_id) for r in dataset.records] == [
        ("train", "2.png"),
        ("train", "0.png"),
        ("test", "1.png"),
        ("test", "3.png"),
    ]
    record = dataset.records[1]
    assert (record.before, record.after) == (folder / "before/0.png", folder / "after/0.png")
    assert record.captions == ("a door opened", "the door is open now")
    assert dataset.records[0].captions == ()


def test_without_lists_all_are_test_pairs(folder):
    (folder / "train.txt").unlink()
    assert [r.pair_id for r in open_dataset(folder).records] != []
    (folder / "test.txt").unlink()
    records = open_dataset(folder).records
    assert [(r.split, r.pair_id) for r in records] == [("test", f"{n}.png") for n in range(4)]


def test_what_no_split_lists_is_noted(folder):
    (folder / "test.txt").unlink()
    opened = open_dataset(folder)
    assert [r.pair_id for r in opened.records] == ["2.png", "0.png"]
    assert opened.report.notes == ("pairs that no split lists, left out: 2 (first: 1.png, 3.png)",)


DAMAGES = {
    "alone": (
        lambda f: (f / "after/1.png").unlink(),
        r"in one of before/ and after/ only: 1 \(first: 1\.png",
    ),
    "listed": (lambda f: (f / "train.txt").write_text("9.png\n0.png\n"), r"without a pair of pictures: 1"),
    "twice": (lambda f: (f / "train.txt").write_text("1.png\n0.png\n"), r"1\.png is listed twice"),
    "empty": (lambda f: (f / "captions/0.txt").write_text("\n \n"), r"0\.txt: no sentence in it"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_told_or_left_out(folder, name):
    spoil, message = DAMAGES[name]
    spoil(folder)
    with pytest.raises(DatasetError, match=message):
        open_dataset(folder)
    opened = open_dataset(folder, skip_missing=True)
    assert opened.records and len(opened.report.damaged) >= 1


def test_a_folder_with_one_side_is_not_this(folder):
    shutil.rmtree(folder / "after")
    with pytest.raises(DatasetError, match="not a folder of a known data set"):
        open_dataset(folder)
    with pytest.raises(DatasetError, match="lie in a folder before and a folder after"):
        open_dataset(folder, "folders")


def test_a_long_list_of_names_is_not_searched_once_a_name(folder):
    class Names(list):
        def __contains__(self, name):
            raise AssertionError("searching takes as long as the list is")

    names = Names(f"{number}.png" for number in range(4))
    reading = Reading(skipping=False, root=folder)
    assert [name for _, name in folders._splits(folder, names, reading)] == [
        "2.png",
        "0.png",
        "1.png",
        "3.png",
    ]


def test_links_that_lead_out_are_left_out_and_texts_behind_them_refused(folder, tmp_path_factory):
    private = tmp_path_factory.mktemp("private") / "secret.txt"
    private.write_text("a secret\n")
    Image.new("RGB", (40, 40)).save(private.with_suffix(".png"))
    for side in ("before", "after"):
        (folder / side / "zz.png").symlink_to(private.with_suffix(".png"))
    found = open_dataset(folder)
    assert "zz.png" not in [record.pair_id for record in found.records]
    assert sum("zz.png" in note and "lead out" in note for note in found.report.notes) == 2
    (folder / "test.txt").unlink(missing_ok=True)
    (folder / "test.txt").symlink_to(private)
    with pytest.raises(DatasetError, match=r"test\.txt: this link leads out of") as raised:
        open_dataset(folder)
    assert "secret\n" not in str(raised.value) and "a secret" not in str(raised.value)


def test_names_in_two_unicode_forms_are_one(tmp_path):
    for side, name in (("before", "caf\u00e9.png"), ("after", "cafe\u0301.png")):
        (tmp_path / side).mkdir()
        Image.new("RGB", (40, 40)).save(tmp_path / side / name)
    (record,) = open_dataset(tmp_path).records
    assert (record.pair_id, record.after.name) == ("caf\u00e9.png", "cafe\u0301.png")
