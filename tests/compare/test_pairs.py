import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.compared_screens import save, screen, two_runs, with_square

from whatchanged.compare.pairs import PairToCompare, match_folders, matched
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


NFC, NFD = "caf\u00e9.png", "cafe\u0301.png"


def test_links_that_lead_out_of_both_folders_are_left_out(tmp_path):
    old, new = two_runs(tmp_path, squares=0)
    save(screen(5), tmp_path / "private" / "1.png")
    (new / "1.png").symlink_to("../private/1.png")
    (old / "1.png").symlink_to(tmp_path / "private" / "1.png")
    (new / "inside.png").symlink_to("00.png")
    (new / "other.png").symlink_to("../old/01.png")
    found = match_folders(old, new)
    assert [pair.pair_id for pair in found.pairs] == ["00.png", "01.png", "inside.png", "other.png"]
    assert found.notes == (
        f"Links that lead out of {old} and {new}, not compared: 2 (first: {old}/1.png, {new}/1.png).",
    )


def test_the_folder_that_is_named_may_be_a_link(tmp_path):
    two_runs(tmp_path / "far", squares=0)
    for side in ("old", "new"):
        (tmp_path / side).symlink_to(f"far/{side}")
    (tmp_path / "new" / "2.png").symlink_to("01.png")
    found = match_folders(tmp_path / "old", tmp_path / "new")
    assert len(found.pairs) == 3 and found.notes == ()


def test_folders_with_links_alone_tell_of_them(tmp_path):
    save(screen(5), tmp_path / "private" / "1.png")
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "1.png").symlink_to("../private/1.png")
    with pytest.raises(DatasetError, match=r"hold no pictures.* not compared: 2 \(first: "):
        match_folders(tmp_path / "old", tmp_path / "new")


@pytest.mark.parametrize(
    "name", ["caf\u00e9", "na\u00efve/\u00f6", "\ud55c\uae00", "\u1e69", "\u212b", "e\u0323\u0301x"]
)
@pytest.mark.parametrize(("one", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_in_another_unicode_form_is_the_same_name(tmp_path, name, one, other):
    before, after = (unicodedata.normalize(form, f"{name}.png") for form in (one, other))
    places = save(screen(1), tmp_path / "old.png"), save(screen(2), tmp_path / "new.png")
    assert before != after
    assert matched({before: places[0]}, {after: places[1]}) == [PairToCompare(after, *places)]


def test_where_both_spellings_lie_in_one_folder_the_exact_one_counts(tmp_path):
    paths = [save(screen(number), tmp_path / f"{number}.png") for number in range(4)]
    both = {NFC: paths[0], NFD: paths[1]}
    assert {pair.pair_id: pair.before for pair in matched(both, {NFD: paths[2]})} == {
        NFC: paths[0],
        NFD: paths[1],
    }
    assert [pair.status for pair in matched(both, {NFD: paths[2], NFC: paths[3]})] == ["both", "both"]
    assert sorted(pair.status for pair in matched({NFC: paths[2]}, both)) == ["added", "both"]


@given(st.lists(st.sampled_from(["e\u0301", "\u00e9", "a", "\u0323", "\u1100\u1161", "\uac00"]), max_size=4))
def test_no_picture_is_lost_or_doubled_by_spelling(letters):
    names = {"".join(letters), *("".join(letters[:end]) for end in range(len(letters)))}
    before = {name: Path(f"old/{index}") for index, name in enumerate(sorted(names)[::2])}
    after = {name: Path(f"new/{index}") for index, name in enumerate(sorted(names))}
    pairs = matched(before, after)
    assert sorted(p.before for p in pairs if p.before) == sorted(before.values())
    assert sorted(p.after for p in pairs if p.after) == sorted(after.values())
    assert all(before[p.pair_id] == p.before for p in pairs if p.pair_id in before)
