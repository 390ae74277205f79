import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from whatchanged.datasets import open_dataset
from whatchanged.datasets.named_pairs import match_names
from whatchanged.errors import DatasetError

WORDS = (("before", "after"), ("old", "new"), ("a", "b"), ("Before", "AFTER"))


@pytest.mark.parametrize(
    ("before", "after", "pair_id"),
    [
        ("login_before.png", "login_after.png", "login.png"),
        ("x/plot-a.png", "x/plot-b.png", "x/plot.png"),
        ("v1.old.jpg", "v1.new.jpg", "v1.jpg"),
        ("top before.webp", "top after.webp", "top.webp"),
        ("home/before/top.png", "home/after/top.png", "home/top.png"),
        ("before/deep/top.png", "after/deep/top.png", "deep/top.png"),
    ],
)
def test_names_that_are_pairs(before, after, pair_id):
    found = match_names([after, before])
    assert found.pairs == {pair_id: (before, after)}
    assert found.single == ([], []) and found.other == []


def test_what_is_no_pair():
    names = [
        "x_before.png",
        "x_after.jpg",
        "y_before.png",
        "y_new.png",
        "plan-b.png",
        "alphabeta.png",
        "_a.png",
    ]
    found = match_names(names)
    assert found.pairs == {}
    assert found.single == (["x_before.png", "y_before.png"], ["x_after.jpg"])
    assert sorted(found.other) == ["_a.png", "alphabeta.png", "plan-b.png", "y_new.png"]


def test_a_picture_that_another_one_displaces_is_told():
    found = match_names(["a-before.png", "a_before.png", "a-after.png"])
    assert found.pairs == {"a.png": ("a_before.png", "a-after.png")}
    assert found.other == ["a-before.png"]


def test_two_pairs_of_one_rest_keep_names_of_their_own():
    found = match_names(["x_before.png", "x_after.png", "x_old.png", "x_new.png"])
    assert found.pairs == {
        "x.png": ("x_before.png", "x_after.png"),
        "x.png (old and new)": ("x_old.png", "x_new.png"),
    }


@given(
    st.lists(st.text(string.ascii_letters + "-_. 7", min_size=1, max_size=6), unique=True, max_size=5),
    st.sampled_from(WORDS),
)
def test_every_name_is_told_once_and_every_stem_is_a_pair(stems, words):
    stems = [f"n{stem}n" for stem in stems]
    names = [f"{stem}_{word}.png" for stem in stems for word in words]
    found = match_names(names)
    assert found.pairs == {f"{stem}.png": tuple(f"{stem}_{word}.png" for word in words) for stem in stems}


def test_a_folder_of_such_names_is_read_by_every_command(tmp_path, whatchanged):
    for name in ("a_before.png", "a_after.png", "b_before.png", "b_after.png", "other.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    found = open_dataset(tmp_path)
    assert found.name == "named_pairs"
    assert [(r.pair_id, r.before.name, r.after.name) for r in found.records] == [
        ("a.png", "a_before.png", "a_after.png"),
        ("b.png", "b_before.png", "b_after.png"),
    ]
    assert found.report.notes == ("pictures that belong to no pair, left out: 1 (first: other.png)",)
    code, out, _ = whatchanged("dataset", tmp_path)
    assert code == 0 and "named_pairs" in out


def test_one_side_alone_is_damage(tmp_path):
    for name in ("a_before.png", "a_after.png", "b_before.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    with pytest.raises(DatasetError, match=r"other side is missing: 1 \(first: b_before.png"):
        open_dataset(tmp_path)
    found = open_dataset(tmp_path, skip_missing=True)
    assert [r.pair_id for r in found.records] == ["a.png"] and len(found.report.damaged) == 1


def test_names_in_two_unicode_forms_are_a_pair_and_exact_ones_come_first():
    nfc, nfd = "caf\u00e9", "cafe\u0301"
    found = match_names([f"{nfd}_before.png", f"{nfc}_after.png", "a_before.png", "a_after.png"])
    assert found.pairs[f"{nfc}.png"] == (f"{nfd}_before.png", f"{nfc}_after.png")
    assert len(found.pairs) == 2 and found.single == ([], [])
    both = [f"{name}_{side}.png" for name in (nfc, nfd) for side in ("before", "after")]
    assert match_names(both).pairs == {f"{nfc}.png": tuple(both[:2]), f"{nfd}.png": tuple(both[2:])}
    assert match_names(both[:3]).single == ([both[2]], [])


def test_links_that_lead_out_are_left_out_and_told(tmp_path):
    Image.new("RGB", (40, 40)).save(tmp_path / "private.png")
    folder = tmp_path / "pairs"
    folder.mkdir()
    for name in ("a_before.png", "a_after.png", "b_before.png"):
        Image.new("RGB", (40, 40)).save(folder / name)
    (folder / "b_after.png").symlink_to("../private.png")
    found = open_dataset(folder, skip_missing=True)
    assert [record.pair_id for record in found.records] == ["a.png"]
    assert f"links that lead out of {folder}, left out: 1 (first: {folder}/b_after.png)" in found.report.notes
