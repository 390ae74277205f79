import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.errors import ShapeError
from whatchanged.evaluation.retrieval import retrieval_scores

THREE = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.4]])


def test_worked_values():
    """Two pairs, three sentences: ranks 0, 1, 0 of the texts, 0 and 1 of the pairs."""
    scores = retrieval_scores(THREE, np.array([0, 0, 1]))
    assert scores.text_to_pair == pytest.approx(
        {"R@1": 66.667, "R@5": 100, "R@10": 100, "MdR": 1, "MeanR": 1.3333}, abs=1e-3
    )
    assert scores.pair_to_text == pytest.approx(
        {"R@1": 50, "R@5": 100, "R@10": 100, "MdR": 1.5, "MeanR": 1.5}
    )
    assert scores.flat()["pair_to_text/MdR"] == 1.5 and len(scores.flat()) == 10


def test_ties_as_the_authors_count_them_and_as_we_do():
    square, own = np.array([[1.0, 1.0], [0.0, 1.0]]).T, np.arange(2)
    assert retrieval_scores(square, own, "authors").pair_to_text["R@1"] == pytest.approx(66.667, abs=1e-3)
    assert retrieval_scores(square, own).pair_to_text["R@1"] == 100


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_the_definition_holds_for_any_grouping(seed, pairs):
    rng = np.random.default_rng(seed)
    owner = np.concatenate([np.arange(pairs), rng.integers(pairs, size=4)])
    similarities = rng.normal(size=(len(owner), pairs))
    scores = retrieval_scores(similarities, owner)
    by_text = [sum(row > row[o]) for row, o in zip(similarities, owner, strict=True)]
    by_pair = []
    for pair in range(pairs):
        best = [max(similarities[s, pair] for s in range(len(owner)) if owner[s] == g) for g in range(pairs)]
        by_pair.append(sum(value > best[pair] for value in best))
    for ranks, side in ((by_text, scores.text_to_pair), (by_pair, scores.pair_to_text)):
        assert side["R@5"] == pytest.approx(100 * sum(rank < 5 for rank in ranks) / len(ranks))
        assert side["MeanR"] == pytest.approx(1 + sum(ranks) / len(ranks))
    assert scores.text_to_pair["MdR"] == 1 + sorted(by_text)[(len(by_text) - 1) // 2]
    assert scores.pair_to_text["MdR"] == 1 + np.median(by_pair)
    order = rng.permutation(len(owner))
    assert retrieval_scores(similarities[order], owner[order]) == scores


@pytest.mark.parametrize(
    ("similarities", "owner"),
    [
        (THREE, [0, 0, 0]),
        (THREE, [0, 1]),
        (THREE, [0, 1, 2]),
        (np.zeros((0, 2)), []),
        (np.zeros(3), [0, 1, 2]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(similarities, owner):
    with pytest.raises(ShapeError, match="for each sentence the number of its pair"):
        retrieval_scores(similarities, np.array(owner, int))


def test_nan_is_refused():
    with pytest.raises(ShapeError, match="NaN"):
        retrieval_scores(np.full((2, 2), np.nan), np.arange(2))
