import json
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.metrics.retrieval import (
    Similarity,
    ranks,
    read_similarity,
    retrieval,
    retrieval_report,
    spread,
    summary,
    table,
)
from whatchanged.records import PairRecord


def scored(matrix, owner, texts=None):
    owner = np.array(owner)
    texts = texts or [f"t{i}" for i in range(len(owner))]
    return Similarity(np.asarray(matrix, float), tuple(map(str, range(len(matrix)))), tuple(texts), owner)


def test_two_pairs_three_texts_by_hand():
    # texts 0 and 1 belong to pair 0, text 2 to pair 1; text 1 looks more like pair 1, text 2 is last there
    got = retrieval(scored([[0.9, 0.2, 0.3], [0.1, 0.8, 0.4]], [0, 0, 1]))
    for ties in ("optimistic", "expected"):
        assert got["text_to_pair"][ties] == pytest.approx(
            {"R@1": 200 / 3, "R@5": 100, "R@10": 100, "MdR": 1, "MnR": 4 / 3}
        )
        assert got["pair_to_text"][ties] == pytest.approx(
            {"R@1": 50, "R@5": 100, "R@10": 100, "MdR": 1.5, "MnR": 1.5}
        )
    assert (got["text_to_pair"]["queries"], got["pair_to_text"]["queries"]) == (3, 2)


def test_ties_by_hand():
    # one query, the right item and three wrong ones equal, one wrong item above
    got = summary(ranks(np.array([[2.0, 1, 1, 1, 1, 0]]), [[1]]))
    assert got["tied"] == 1
    assert got["optimistic"] == {"R@1": 0, "R@5": 100, "R@10": 100, "MdR": 2, "MnR": 2}
    assert got["expected"] == pytest.approx({"R@1": 0, "R@5": 100, "R@10": 100, "MdR": 3.5, "MnR": 3.5})
    # a matrix that says nothing finds 1 in n
    blind = summary(ranks(np.zeros((40, 40)), [[i] for i in range(40)]))
    assert blind["optimistic"]["R@1"] == 100 and blind["expected"]["R@1"] == pytest.approx(2.5)
    assert blind["expected"]["R@10"] == pytest.approx(25) and blind["expected"]["MnR"] == pytest.approx(20.5)


def test_the_codes_way_of_counting_ties():
    """A score found twice in its row counts at both places, in the denominator too."""
    got = retrieval(scored([[1.0, 1.0], [0.0, 1.0]], [0, 1]))
    assert got["pair_to_text"]["authors"] == pytest.approx(
        {"R@1": 200 / 3, "R@5": 100, "R@10": 100, "MdR": 1, "MnR": 4 / 3}
    )
    assert got["pair_to_text"]["optimistic"]["R@1"] == 100 and "authors" not in got["text_to_pair"]


def test_the_code_sorts_and_looks_for_equals():
    """Written as the code's steps: sort each row, find the own score, count every find."""
    matrix = np.random.default_rng(4).integers(0, 4, (9, 9)).astype(float)
    descending = -np.sort(-matrix, axis=1)
    found = np.nonzero(descending == np.diag(matrix)[:, None])[1] + 1
    got = retrieval(scored(matrix, range(9)))["pair_to_text"]["authors"]
    assert got["R@5"] == pytest.approx(100 * np.mean(found <= 5))
    assert (got["MdR"], got["MnR"]) == (np.median(found), pytest.approx(found.mean()))


def test_the_median_over_texts_is_the_lower_one_and_over_pairs_the_mean():
    got = retrieval(scored([[0.5, 0.9], [0.6, 0.8]], [0, 1]))  # text 0 is second at home, text 1 too
    assert (got["text_to_pair"]["optimistic"]["MdR"], got["pair_to_text"]["optimistic"]["MdR"]) == (2, 1.5)
    got = retrieval(scored([[0.5, 0.7], [0.6, 0.8]], [0, 1]))  # text 0 second, text 1 first
    assert (got["text_to_pair"]["optimistic"]["MdR"], got["pair_to_text"]["optimistic"]["MdR"]) == (1, 1.5)


def test_the_table():
    title, rows = table(retrieval(scored([[0.9, 0.2, 0.3], [0.1, 0.8, 0.4]], [0, 0, 1])))
    assert title == "Retrieval (2 pairs, 3 texts; only the own pair counts)"
    assert rows[0] == ["", "queries", "ties", "R@1", "R@5", "R@10", "MdR", "MnR"]
    assert rows[1] == ["text to pair", "3", "optimistic", "66.7", "100.0", "100.0", "1.0", "1.3"]


def test_equal_texts_count_only_when_asked():
    found = scored([[0.1, 0.9, 0.2], [0.9, 0.1, 0.1], [0.0, 0.3, 0.9]], [0, 1, 2], ["same", "same", "moved"])
    strict, kind = retrieval(found), retrieval(found, equal_texts=True)
    assert strict["text_to_pair"]["optimistic"]["R@1"] == pytest.approx(100 / 3)
    assert kind["text_to_pair"]["optimistic"]["R@1"] == pytest.approx(100)
    assert kind["pair_to_text"]["optimistic"]["R@1"] == pytest.approx(100)


@st.composite
def queries(draw):
    items = draw(st.integers(1, 5))
    scores = draw(st.lists(st.integers(0, 2), min_size=items, max_size=items))
    right = draw(st.sets(st.integers(0, items - 1), min_size=1))
    return scores, sorted(right)


@given(queries())
def test_against_every_order_of_equals(query):
    """Sort the items in every order that the scores allow; the first right one has the rank."""
    scores, right = query
    places = []
    for order in permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in pairwise(order)):
            places.append(1 + min(order.index(item) for item in right))
    got = summary(ranks(np.array([scores], float), [right]))
    assert got["expected"]["MnR"] == pytest.approx(np.mean(places))
    assert got["optimistic"]["MnR"] == min(places)
    for k in (1, 5, 10):
        assert got["expected"][f"R@{k}"] == pytest.approx(100 * np.mean([place <= k for place in places]))
        assert got["optimistic"][f"R@{k}"] == 100 * (min(places) <= k)


@given(st.integers(1, 4), st.data())
def test_pair_to_text_against_loops(pairs, data):
    owner = [*range(pairs), *data.draw(st.lists(st.integers(0, pairs - 1), max_size=4))]
    rows = st.lists(st.integers(0, 3), min_size=len(owner), max_size=len(owner))
    matrix = data.draw(st.lists(rows, min_size=pairs, max_size=pairs))
    wanted = []
    for p in range(pairs):
        best = [max(s for s, o in zip(matrix[p], owner, strict=True) if o == q) for q in range(pairs)]
        wanted.append(1 + sum(score > best[p] for score in best))
    got = retrieval(scored(matrix, owner))["pair_to_text"]["optimistic"]
    assert got["MnR"] == pytest.approx(np.mean(wanted)) and got["MdR"] == np.median(wanted)


def test_blocks_change_nothing(monkeypatch):
    matrix = np.random.default_rng(0).integers(0, 5, (7, 9)).astype(float)
    whole = ranks(matrix, [[i, 8 - i] for i in range(7)])
    monkeypatch.setattr("whatchanged.evaluation.metrics.retrieval.BLOCK", 20)
    parts = ranks(matrix, [[i, 8 - i] for i in range(7)])
    for name in ("above", "wrong", "right"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


IDS = {"pairs": ["a", "b"], "texts": [["a", "x"], ["b", "y"], ["a", "z"]]}


def test_files(tmp_path):
    path = tmp_path / "s.npy"
    np.save(path, np.eye(2, 3, dtype=np.float32))
    (tmp_path / "s.json").write_text(json.dumps(IDS))
    found = read_similarity(path)
    assert found.pairs == ("a", "b") and found.texts == ("x", "y", "z") and found.owner.tolist() == [0, 1, 0]
    assert retrieval(found)["pair_to_text"]["optimistic"]["R@1"] == 100


@pytest.mark.parametrize(
    "matrix, ids, message",
    [
        (np.eye(2), IDS, r"its shape is \(2, 2\); s.json names 2 pairs and 3 texts"),
        (np.ones((2, 3), int), IDS, "a matrix of real numbers"),
        (np.ones(3), IDS, "a matrix of real numbers"),
        (np.array([[None] * 3] * 2), IDS, "no NumPy array of plain numbers"),
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


def test_against_a_data_set(tmp_path):
    path = tmp_path / "s.npy"
    np.save(path, np.eye(2, 3, dtype=np.float32))
    (tmp_path / "s.json").write_text(json.dumps(IDS))

    def record(name, *captions):
        return PairRecord("plain", name, name, "test", "pair_caption", Path("a"), Path("b"), captions)

    records = [record("a", "x", "z"), record("b", "y"), record("c", "x")]
    report = retrieval_report(path, records)
    assert report["not_in_the_matrix"] == 1
    assert report["own_pair"]["pair_to_text"]["optimistic"]["R@1"] == 100
    assert report["equal_texts"]["equal_texts_count"] is True
    with pytest.raises(PredictionsError, match=r"1 of its pairs are not in the references \(first: b\)"):
        retrieval_report(path, records[:1])
    with pytest.raises(PredictionsError, match=r"1 of its texts are no references .* \(first: a, 'z'\)"):
        retrieval_report(path, [record("a", "x"), records[1]])


def test_numbers_that_are_none():
    with pytest.raises(PredictionsError, match="no finite numbers"):
        retrieval(scored([[0.1, np.nan], [0.1, 0.2]], [0, 1]))
    with pytest.raises(PredictionsError, match="at least one right item"):
        ranks(np.eye(2), [[0], []])


def test_intervals_by_hand():
    """Two scenes of one query each, at ranks 1 and 12: drawn are (1, 1), (1, 12), (12, 12)."""
    scores = np.zeros((2, 12))
    scores[0, 0], scores[1, 0] = 1, -1  # the second is below all of the eleven others
    found = spread(ranks(scores, [[0], [0]]), ["a", "b"], 2000)
    wanted = {"R@1": [0, 100], "R@5": [0, 100], "R@10": [0, 100], "MdR": [1, 12], "MnR": [1, 12]}
    assert found == {"optimistic": wanted, "expected": wanted}
    alone = spread(ranks(scores, [[0], [0]]), ["a", "a"], 2000)["optimistic"]
    assert alone == dict.fromkeys(wanted)


@pytest.mark.parametrize("of_texts", [True, False])
def test_intervals_against_drawing_the_queries_themselves(of_texts):
    """Each draw's queries are put together and scored anew; 12 scenes of one to three queries."""
    rng = np.random.default_rng(5)
    scenes = np.repeat([f"s{i:02d}" for i in range(12)], rng.integers(1, 4, 12))
    scores = rng.integers(0, 6, (len(scenes), 20)).astype(float)  # many ties
    right = rng.integers(0, 20, (len(scenes), 1)).tolist()
    got = spread(ranks(scores, right), scenes.tolist(), 200, seed=3, of_texts=of_texts)
    draws = {"optimistic": [], "expected": []}
    for row in np.random.default_rng(3).integers(12, size=(200, 12)):
        queries = np.concatenate([np.flatnonzero(scenes == f"s{k:02d}") for k in row])
        scored = summary(ranks(scores[queries], [right[q] for q in queries]), of_texts)
        for ties, own in draws.items():
            own.append(scored[ties])
    for ties, own in draws.items():
        for name, (low, high) in got[ties].items():
            ends = np.quantile([numbers[name] for numbers in own], (0.025, 0.975))
            assert (low, high) == pytest.approx(tuple(ends)), (ties, name)


def test_intervals_stand_beside_both_directions_and_in_the_table():
    found = scored([[0.9, 0.2, 0.3], [0.1, 0.8, 0.4]], [0, 0, 1])
    got = retrieval(found, scenes=["a", "b"], resamples=500)
    # scene a: its texts at ranks 1 and 2, its pair at 1; scene b: its text at 1, its pair at 2
    assert got["text_to_pair"]["intervals"]["optimistic"]["R@1"] == [50, 100]
    assert got["pair_to_text"]["intervals"]["optimistic"]["R@1"] == [0, 100]
    rows = table(got)[1]
    assert rows[1][3] == "66.7 (50-100)"
    assert next(row for row in rows if row[2] == "authors")[3] == "50.0"
    assert "intervals" not in retrieval(found)["text_to_pair"]
