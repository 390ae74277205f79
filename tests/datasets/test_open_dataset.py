import json
import os

import pytest

from whatchanged.datasets import READERS, open_dataset
from whatchanged.errors import DatasetError


def test_what_is_not_there(tmp_path):
    with pytest.raises(DatasetError, match="no such file or folder"):
        open_dataset(tmp_path / "absent")


def test_an_unknown_folder_is_described(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(
        DatasetError, match=r"holds notes.txt\). Known: clevr_change, .*, plain.* holds before/ and after/"
    ):
        open_dataset(tmp_path)


def test_an_unknown_ending(tmp_path):
    (tmp_path / "pairs.xlsx").touch()
    with pytest.raises(DatasetError, match=r"ends in .csv or .jsonl; this is '.xlsx'"):
        open_dataset(tmp_path / "pairs.xlsx")


def test_an_unknown_name(tmp_path):
    with pytest.raises(DatasetError, match=r"Unknown data set 'clevr'. Known: clevr_change, .*, plain"):
        open_dataset(tmp_path, "clevr")


@pytest.mark.parametrize("name", READERS)
def test_a_named_reader_refuses_what_is_not_its_own(tmp_path, name):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(DatasetError):
        open_dataset(tmp_path / "notes.txt", name)


def test_what_no_output_can_hold_is_damage(tmp_path):
    path = tmp_path / "pairs.jsonl"
    row = {"before": "a.png", "after": "a.png"}
    rows = [row, {**row, "id": "\ud800"}, {**row, "captions": ["a \udc80 moved"]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DatasetError, match=r"the pair '\\ud800': .* cannot be written as UTF-8"):
        open_dataset(path, pictures=False)
    found = open_dataset(path, pictures=False, skip_missing=True)
    assert [record.pair_id for record in found.records] == ["1"] and len(found.report.damaged) == 2


def test_a_picture_whose_name_is_no_utf_8_is_damage(tmp_path):
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        for name in (b"\xe9.png", b"a.png"):
            (tmp_path / side / os.fsdecode(name)).touch()
    with pytest.raises(DatasetError, match=r"the pair '\\udce9.png'"):
        open_dataset(tmp_path)
    assert [r.pair_id for r in open_dataset(tmp_path, skip_missing=True).records] == ["a.png"]
