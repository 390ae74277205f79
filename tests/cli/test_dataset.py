import json
import os

import pytest


@pytest.fixture
def listed(pictures, tmp_path):
    path = tmp_path / "pairs.jsonl"
    before, after = (picture.name for picture in pictures)
    rows = [
        {"before": before, "after": after, "captions": ["a square appeared", "<b>it</b>"]},
        {"before": before, "after": "absent.png"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_missing_pictures_are_an_error_until_left_out(listed, whatchanged):
    code, out, err = whatchanged("dataset", listed)
    assert (code, out) == (2, "") and "pictures are missing: 1" in err
    code, out, _ = whatchanged("dataset", listed, "--skip-missing")
    assert code == 0
    assert f"{listed}: plain, 1 pairs" in out
    assert "test: 1 pairs of 1 groups; 2 to 2 captions a pair (2 in all)" in out
    assert "words a caption: 1 to 3, mean 2.0; 4 different words, 4 seen once" in out
    assert f"missing pictures: 1 (first: {listed.parent / 'absent.png'})" in out
    assert "pairs left out for that reason: 1 (first: 2)" in out


def test_a_folder_that_is_no_data_set(tmp_path, whatchanged):
    code, _, err = whatchanged("dataset", tmp_path)
    assert code == 2 and "not a folder of a known data set" in err


def test_words_as_a_named_preparation_cuts_them(tmp_path, pictures, whatchanged):
    path = tmp_path / "pairs.jsonl"
    row = {"before": pictures[0].name, "after": pictures[1].name, "captions": ["A square, it moved."]}
    path.write_text(json.dumps(row))
    code, out, _ = whatchanged("dataset", path, "--preparation", "scorer-clevr-change")
    assert code == 0
    assert "preparation scorer-clevr-change: 0 words seen at least 1 times in train (published: 72)" in out
    assert "cut to 22 words: 0 of 1 captions" in out
    code, _, err = whatchanged("dataset", path, "--preparation", "scorer")
    assert code == 2 and "Unknown preparation 'scorer'" in err


def test_annotations_alone(listed, whatchanged):
    code, out, _ = whatchanged("dataset", listed, "--annotations-only")
    assert code == 0 and f"{listed}: plain, 2 pairs" in out and "missing" not in out


def test_a_page_of_a_folder_in_another_encoding(tmp_path, pictures, whatchanged):
    root = tmp_path / os.fsdecode(b"caf\xe9")
    for side, picture in zip(("before", "after"), pictures, strict=True):
        (root / side).mkdir(parents=True)
        picture.rename(root / side / "a.png")
    code, out, _ = whatchanged("dataset", root, "--html", tmp_path / "page.html")
    assert code == 0 and "caf\\udce9: folders, 1 pairs" in out
    assert "caf\\udce9" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_page_replaces_no_list(listed, whatchanged):
    before = listed.read_text()
    code, _, err = whatchanged("dataset", listed, "--annotations-only", "--html", listed, "--force")
    assert code == 2 and "one of the inputs" in err and listed.read_text() == before


def test_the_data_sets_that_can_be_read_are_listed(whatchanged, listed, site):
    site.install("toy-set", {"whatchanged.datasets": {"toys": "no_such_module"}})
    for arguments in ((), ("--list",), (listed, "--list")):
        code, out, err = whatchanged("dataset", *arguments)
        lines = out.splitlines()
        assert (code, err) == (0, "") and lines[0] == "clevr_change" and "folders" in lines
        assert lines[-1] == "toys  (plug-in, toy-set 1.5)"
