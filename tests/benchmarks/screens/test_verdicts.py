"""Verdicts of readers, counted by hand."""

import json

import pytest

SCRIPT = "screens.verdicts"


@pytest.fixture
def folder(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "READINGS", tmp_path)
    (tmp_path / "x.list.json").write_text(json.dumps({"seed": 1, "changed": ["a", "b"], "unchanged": ["c"]}))
    return tmp_path


def write(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_sentence_of_two_states_counts_for_both(bench, folder):
    write(
        folder / "x.verdicts.jsonl",
        {"id": "a", "states": ["old", "new"], "verdict": "useful"},
        {"id": "b", "states": ["old"], "verdict": "false"},
        {"id": "b", "states": ["new"], "verdict": "partly"},
        {"id": "c", "states": ["old", "new"], "verdict": "missed"},
    )
    assert bench.verdict_rows(bench.verdicts("x")) == [
        ["new", "1 (50 %)", "0 (0 %)", "1 (50 %)", "0 (0 %)", "0", "0", "1"],
        ["old", "1 (50 %)", "0 (0 %)", "0 (0 %)", "1 (50 %)", "0", "0", "1"],
    ]


def test_preferences_are_counted_by_state_and_not_by_order(bench, folder):
    first, second = {"one": "old", "two": "new"}, {"one": "new", "two": "old"}
    write(
        folder / "x.preferences.jsonl",
        {"states": first, "better": "two", "one": "false", "two": "useful"},
        {"states": second, "better": "one", "one": "useful", "two": "partly"},
        {"states": second, "better": "same", "one": "partly", "two": "partly"},
    )
    counts = bench.preferences("x")
    assert counts["new"] == {"preferred": 2, "useful": 2, "partly": 1}
    assert counts["old"] == {"false": 1, "partly": 2} and counts["neither"] == {"preferred": 1}
