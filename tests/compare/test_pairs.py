import pytest
from compare.screens import save, screen, two_runs, with_square

from whatchanged.compare.pairs import match_folders, matched
from whatchanged.errors import DatasetError


def test_matched_by_relative_path_added_removed_and_renamed(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    save(screen(0), old / "deep" / "same.png")
    save(screen(0), new / "deep" / "same.png")
    save(screen(1), old / "gone.png")
    save(with_square(screen(1)), new / "came.png")
    save(screen(2), old / "a.png")
    save(screen(2), new / "b.png")
    (new / "chart.svg").write_text("<svg/>")
    found = match_folders(old, new)
    told = {pair.pair_id: (pair.status, pair.was) for pair in found.pairs}
    assert told == {
        "b.png": ("renamed", "a.png"),
        "came.png": ("added", None),
        "deep/same.png": ("both", None),
        "gone.png": ("removed", None),
    }
    assert found.pairs[0].before == old / "a.png" and found.pairs[0].after == new / "b.png"
    assert found.notes == ("Not compared, as their formats are not read: 1 .svg.",)


def test_of_several_files_of_the_same_bytes_each_is_renamed_once(tmp_path):
    before = {name: save(screen(1), tmp_path / "old" / name) for name in ("a.png", "b.png")}
    after = {name: save(screen(1), tmp_path / "new" / name) for name in ("x.png", "y.png", "z.png")}
    pairs = {pair.pair_id: pair.was for pair in matched(before, after)}
    assert pairs == {"x.png": "a.png", "y.png": "b.png", "z.png": None}


def test_what_cannot_be_compared_is_said(tmp_path):
    old, new = two_runs(tmp_path)
    for name in ("empty", "also_empty"):
        (tmp_path / name).mkdir()
    with pytest.raises(DatasetError, match="the same folder"):
        match_folders(old, new / ".." / "old")
    with pytest.raises(DatasetError, match="there is no such folder"):
        match_folders(old, tmp_path / "no")
    with pytest.raises(DatasetError, match="hold no pictures"):
        match_folders(tmp_path / "empty", tmp_path / "also_empty")


def test_more_pairs_than_are_compared_at_once(tmp_path, monkeypatch):
    old, new = two_runs(tmp_path)
    monkeypatch.setattr("whatchanged.compare.pairs.MOST_PAIRS", 5)
    with pytest.raises(DatasetError, match="6 pairs of pictures; at most 5"):
        match_folders(old, new)


def test_files_that_cannot_be_read_are_like_no_other(tmp_path, lock):
    before = {name: save(screen(1), tmp_path / "old" / name) for name in ("a.png", "b.png")}
    after = {name: save(screen(1), tmp_path / "new" / name) for name in ("x.png", "y.png")}
    lock(before["a.png"])
    lock(after["x.png"])
    after["z.png"] = tmp_path / "gone.png"
    told = {pair.pair_id: pair.was for pair in matched(before, after)}
    assert told == {"a.png": None, "x.png": None, "y.png": "b.png", "z.png": None}
