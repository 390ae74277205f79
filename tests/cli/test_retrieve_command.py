"""``whatchanged retrieve`` and what ``whatchanged evaluate`` makes of its file."""

import json
import sys

import numpy as np
import pytest

from whatchanged.evaluation.retrieval import Similarities, write_similarities


@pytest.fixture
def pairs(tmp_path):
    """A list of two pairs with two captions and one."""
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"id": "one", "before": "a.png", "after": "b.png", "captions": ["x", "y"], "split": "test"},
        {"id": "two", "before": "a.png", "after": "b.png", "captions": ["z"], "split": "test"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def similarities(path, values=((0.9, 0.1), (0.2, 0.8), (0.3, 0.4)), pair_of=(0, 0, 1), ids=("one", "two")):
    write_similarities(path, Similarities(np.array(values, np.float32), np.array(pair_of), ids))
    return path


def test_a_file_of_similarities_is_scored_by_ranks(whatchanged, pairs, tmp_path):
    report = tmp_path / "report.json"
    file = similarities(tmp_path / "s.npz")
    code, out, err = whatchanged("evaluate", file, pairs, "--json", report)
    assert code == 0, err
    assert "R@1" in out and "66.67" in out and "3 sentences, 2 pairs" in out
    written = json.loads(report.read_text())
    assert written["pair_to_text"]["MdR"] == 1.5 and written["ties"] == "optimistic"


def test_only_known_pairs_are_ranked(whatchanged, pairs, tmp_path):
    file = similarities(
        tmp_path / "s.npz",
        ((9, 0.9, 0.1), (9, 0.2, 0.8), (0, 0, 0), (9, 0.3, 0.4)),
        (1, 1, 0, 2),
        ("far", "one", "two"),
    )
    assert "66.67" in whatchanged("evaluate", file, pairs)[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": ("far", "away")}, "none of its pairs is among the references"),
        ({"pair_of": (0, 1, 1)}, "one has 1 sentences, the references have 2"),
        ({"ids": ("one", "one")}, "do not fit each other"),
        ({"values": ((1.0,), (2.0,), (3.0,))}, "do not fit each other"),
    ],
)
def test_what_does_not_fit_is_refused(change, message, whatchanged, pairs, tmp_path):
    code, out, err = whatchanged("evaluate", similarities(tmp_path / "s.npz", **change), pairs)
    assert (code, out) == (2, "") and message in err


def test_packed_and_broken_archives_are_refused(whatchanged, pairs, tmp_path):
    np.savez_compressed(tmp_path / "s.npz", values=np.zeros((2, 2)), pair_of=np.arange(2), ids=["one", "two"])
    assert "its arrays are packed" in whatchanged("evaluate", tmp_path / "s.npz", pairs)[2]
    np.savez(tmp_path / "t.npz", values=np.array([object()]), pair_of=np.arange(2), ids=["a", "b"])
    code, _, err = whatchanged("evaluate", tmp_path / "t.npz", pairs)
    assert code == 2 and "no similarities can be read" in err


def test_the_missing_extra_is_named(whatchanged, monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "whatchanged.training.retrieve", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = whatchanged("retrieve", tmp_path, tmp_path, "-o", tmp_path / "s.npz")
    assert code == 2 and "whatchanged[train]" in err
