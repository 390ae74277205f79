"""Drawn pairs of plots."""

import json
import sys

import pytest

pytest.importorskip("matplotlib", reason="the benchmark draws plots")

SCRIPT = "screens.plots"


def test_a_second_run_writes_the_same_list(bench, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["screen_plots.py", str(tmp_path), "--pairs", "4", "--seed", "1"])
    lists = []
    for _ in range(2):
        bench.main()
        lists.append((tmp_path / "pairs.jsonl").read_text())
    assert lists[0] == lists[1]
    pairs = [json.loads(line) for line in lists[0].splitlines()]
    assert pairs and all((tmp_path / pair["before"]).is_file() for pair in pairs)
