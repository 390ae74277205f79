"""``whatchanged features`` from the command line."""

import sys

import pytest


def test_the_arguments_reach_the_work_and_the_count_is_told(whatchanged, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    calls = []
    monkeypatch.setattr("whatchanged.training.features.store_tokens", lambda *a: calls.append(a) or 7)
    pool, out, run = tmp_path / "pool", tmp_path / "tokens", tmp_path / "run"
    arguments = (pool, out, "--run", run, "--variants", 3, "--device", "cpu", "--quiet")
    assert whatchanged("features", *arguments)[:2] == (0, f"{out}: 7 shards of tokens written\n")
    assert calls == [(run, pool, out, 3, "cpu", True)]


def test_a_folder_without_a_run_is_refused(whatchanged, tmp_path):
    code, out, err = whatchanged("features", tmp_path, tmp_path / "tokens", "--run", tmp_path / "nothing")
    assert (code, out) == (2, "") and "no run lies here" in err
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage_ends_with_2(whatchanged, tmp_path):
    assert whatchanged("features", tmp_path, tmp_path / "tokens")[0] == 2
    assert whatchanged("features", tmp_path, tmp_path, "--run", tmp_path, "--variants", 0)[0] == 2


def test_the_missing_extra_is_named(whatchanged, monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "whatchanged.training.features", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = whatchanged("features", tmp_path, tmp_path / "tokens", "--run", tmp_path / "run")
    assert code == 2 and "whatchanged[train]" in err
