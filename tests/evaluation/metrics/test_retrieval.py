from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.errors import PredictionsError
from whatchanged.evaluation.metrics.retrieval import rank_both, ranks, summary, weighted


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


def test_blocks_change_nothing(monkeypatch):
    matrix = np.random.default_rng(0).integers(0, 5, (7, 9)).astype(float)
    whole = ranks(matrix, [[i, 8 - i] for i in range(7)])
    monkeypatch.setattr("whatchanged.evaluation.metrics.retrieval.BLOCK", 20)
    parts = ranks(matrix, [[i, 8 - i] for i in range(7)])
    for name in ("above", "wrong", "right"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


@given(st.integers(1, 4), st.data())
def test_pairs_against_sets_of_texts_by_loops(pairs, data):
    owner = [*range(pairs), *data.draw(st.lists(st.integers(0, pairs - 1), max_size=4))]
    rows = st.lists(st.integers(0, 3), min_size=len(owner), max_size=len(owner))
    matrix = data.draw(st.lists(rows, min_size=pairs, max_size=pairs))
    wanted = []
    for p in range(pairs):
        best = [max(s for s, o in zip(matrix[p], owner, strict=True) if o == q) for q in range(pairs)]
        wanted.append(1 + sum(score > best[p] for score in best))
    _, by_pair = rank_both(np.array(matrix, float), np.array(owner))
    assert (by_pair.above + 1).tolist() == wanted


def test_numbers_of_weighted_queries_against_repeating_them():
    """A query that counts twice is as two queries; one that counts 0 times is not there."""
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 4, (6, 9)).astype(float)
    right = rng.integers(0, 9, (6, 1)).tolist()
    times = np.array([2, 0, 1, 3, 1, 0])
    repeated = np.repeat(np.arange(6), times)
    for of_texts in (True, False):
        wanted = summary(ranks(scores[repeated], [right[q] for q in repeated]), of_texts)
        for ties, numbers in weighted(ranks(scores, right), of_texts).items():
            assert numbers(times[None].astype(float))[0] == pytest.approx(list(wanted[ties].values()))


def test_what_cannot_be_ranked():
    with pytest.raises(PredictionsError, match="at least one right item"):
        ranks(np.eye(2), [[0], []])
    with pytest.raises(PredictionsError, match="no finite numbers"):
        ranks(np.array([[0.1, np.nan]]), [[0]])
