"""``whatchanged retrieve`` where it cannot run; what it writes and how that is ranked: test_retrieve.py."""

import sys

import pytest


def test_the_missing_extra_is_named(whatchanged, monkeypatch, tmp_path):
    for name in ("retrieve", "run_folder"):  # imported anew, where torch is missing
        monkeypatch.delitem(sys.modules, f"whatchanged.training.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = whatchanged("retrieve", tmp_path, tmp_path, "-o", tmp_path / "s.npy")
    assert code == 2 and "[train]" in err


def test_a_name_that_is_no_array_is_refused(whatchanged, tmp_path):
    code, _, err = whatchanged("retrieve", tmp_path, tmp_path, "-o", tmp_path / "s.txt")
    assert code == 2 and "ends in .npy" in err


@pytest.mark.parametrize("place", [".", "/"])
def test_a_folder_is_no_output(whatchanged, tmp_path, place):
    code, _, err = whatchanged("retrieve", tmp_path, tmp_path, "-o", place)
    assert code == 2 and f"{place}: this is a folder; name a file to write" in err
