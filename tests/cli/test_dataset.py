import json

import pytest


@pytest.fixture
def listed(pictures, tmp_path):
    path = tmp_path / "pairs.jsonl"
    before, after = (picture.name for picture in pictures)
    rows = [
        {"before": before, "after": after, "captions": ["a square appeared", " "]},
        {"before": before, "after": "absent.png"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_missing_pictures_are_an_error_until_left_out(listed, whatchanged):
    code, out, err = whatchanged("dataset", listed)
    assert (code, out) == (2, "") and "1 of the pictures are missing" in err
    code, out, _ = whatchanged("dataset", listed, "--skip-missing")
    assert code == 0
    assert f"{listed}: plain, 1 pairs" in out
    assert "test: 1 pairs of 1 groups; 2 to 2 captions a pair (2 in all)" in out
    assert "blank captions: 1" in out
    assert "pairs left out for it: 1 (first: 2)" in out


def test_a_folder_that_is_no_data_set(tmp_path, whatchanged):
    code, _, err = whatchanged("dataset", tmp_path)
    assert code == 2 and "not a folder of a known data set" in err
