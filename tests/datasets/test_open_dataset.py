import pytest

from whatchanged.datasets import READERS, open_dataset
from whatchanged.errors import DatasetError


def test_what_is_not_there(tmp_path):
    with pytest.raises(DatasetError, match="no such file or folder"):
        open_dataset(tmp_path / "absent")


def test_an_unknown_folder_is_described(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(DatasetError, match=r"holds notes.txt\). Known: clevr_change, .*, plain"):
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
