import json

import numpy as np
import pytest
from support.strange_arrays import STRANGE

from whatchanged.errors import OutputError, PredictionsError
from whatchanged.evaluation.io.similarity import Similarity, read_similarity, write_similarity

IDS = {"pairs": ["a", "b"], "texts": [["a", "x"], ["b", "y"], ["a", "z"]]}


def test_files(tmp_path):
    path = tmp_path / "s.npy"
    np.save(path, np.eye(2, 3, dtype=np.float32))
    (tmp_path / "s.json").write_text(json.dumps(IDS))
    found = read_similarity(path)
    assert found.pairs == ("a", "b") and found.texts == ("x", "y", "z") and found.owner.tolist() == [0, 1, 0]
    assert np.array_equal(found.matrix, np.eye(2, 3))


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "s.npy"
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_similarity(path, Similarity(matrix, ("a", "é"), ("x", "y", "x"), np.array([0, 1, 1])))
    found = read_similarity(path)
    assert (found.pairs, found.texts, found.owner.tolist()) == (("a", "é"), ("x", "y", "x"), [0, 1, 1])
    assert np.array_equal(found.matrix, matrix)


@pytest.mark.parametrize(
    "matrix, ids, message",
    [
        (np.eye(2), IDS, r"its shape is \(2, 2\); s.json names 2 pairs and 3 texts"),
        (np.ones((2, 3), int), IDS, "a matrix of real numbers"),
        (np.ones(3), IDS, "a matrix of real numbers"),
        (np.array([[None] * 3] * 2), IDS, "not a NumPy array of plain numbers"),
        (np.ones((2, 3)), {"pairs": ["a", "b"]}, "is wanted"),
        (np.ones((2, 3)), ["a"], "is wanted"),
        (np.ones((2, 3)), {**IDS, "pairs": ["a", "c"]}, r"1 texts belong to no pair .* \(such as b\)"),
        (np.ones((3, 3)), {**IDS, "pairs": ["a", "b", "c"]}, r"1 pairs have no text \(such as c\)"),
        (np.ones((3, 3)), {**IDS, "pairs": ["a", "b", "a"]}, "1 pairs are named twice"),
        (np.ones((0, 0)), {"pairs": [], "texts": []}, "names no pairs"),
    ],
)
def test_files_that_do_not_fit(tmp_path, matrix, ids, message):
    np.save(tmp_path / "s.npy", matrix)
    (tmp_path / "s.json").write_text(json.dumps(ids))
    with pytest.raises(PredictionsError, match=message):
        read_similarity(tmp_path / "s.npy")


@pytest.mark.parametrize("kind", STRANGE)
def test_files_that_are_no_matrix(tmp_path, kind):
    (tmp_path / "s.npy").write_bytes(STRANGE[kind])
    (tmp_path / "s.json").write_text(json.dumps(IDS))
    with pytest.raises(PredictionsError, match=r"s\.npy: (not a NumPy array|a matrix of real numbers)"):
        read_similarity(tmp_path / "s.npy")


@pytest.mark.parametrize("name", ["s.npy", "s.json"])
def test_neither_file_is_written_through_a_link(tmp_path, name):
    (tmp_path / "work").mkdir()
    (tmp_path / "victim.txt").write_text("mine")
    (tmp_path / "work" / name).symlink_to("../victim.txt")
    matrix = Similarity(np.zeros((1, 1), np.float32), ("a",), ("b",), np.array([0]))
    with pytest.raises(OutputError, match="name that file itself"):
        write_similarity(tmp_path / "work" / "s.npy", matrix)
    assert (tmp_path / "victim.txt").read_text() == "mine"
