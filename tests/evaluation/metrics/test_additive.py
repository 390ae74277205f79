import numpy as np
import pytest

from whatchanged.evaluation.metrics.additive import joined, mean, shares


def test_parts_keep_their_numbers_when_joined():
    rng = np.random.default_rng(0)
    parts = [
        mean("score", rng.random(5)),
        shares(["a", "b"], rng.random((5, 2)) < 0.5, np.ones((5, 2), bool)),
    ]
    both, weights = joined(parts), rng.integers(1, 4, (7, 5)).astype(float)
    assert both.names == ("score", "a", "b")
    np.testing.assert_allclose(both.values(), np.concatenate([p.values() for p in parts]))
    np.testing.assert_allclose(both.values(weights), np.hstack([p.values(weights) for p in parts]))
    np.testing.assert_allclose(both.take(np.array([1, 3])).values(), both.values(np.array([0.0, 1, 0, 1, 0])))


def test_shares_count_what_is_counted():
    hits = np.array([[True, True], [True, False], [False, True]])
    counted = np.array([[True, False], [True, False], [True, False]])
    share, undefined = shares(["a", "b"], hits, counted).values()
    assert share == pytest.approx(200 / 3) and np.isnan(undefined)
