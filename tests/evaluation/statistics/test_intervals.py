import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.evaluation.statistics.intervals import mean_interval, share, student, wilson


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_are_the_shares_that_a_score_test_just_accepts(case):
    # Wilson's ends solve (count/n - p)² = z² p (1 - p) / n.
    k, n = case
    for p in wilson(k, n):
        assert (k / n - p) ** 2 == pytest.approx(1.959963984540054**2 * p * (1 - p) / n, abs=1e-12)


def test_a_known_interval():
    # Newcombe, Statistics in Medicine 1998, table I: 81 of 263 gives 0.2553 to 0.3662.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_nothing_counted():
    assert share(0, 0) == {"percent": None, "low": 0.0, "high": 100.0, "count": 0, "of": 0}


def test_points_of_students_t():
    # Fisher and Yates, table III: two-sided 5 %.
    for freedom, point in ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (30, 2.042)):
        assert student(freedom) == pytest.approx(point, abs=5e-4)
    assert student(2000) == pytest.approx(1.959963984540054, abs=2e-3)


def test_mean_and_spread_of_three_seeds():
    mean, deviation, low, high = mean_interval([1.0, 2.0, 6.0])
    assert (mean, deviation) == pytest.approx((3, 7**0.5))
    assert (low, high) == pytest.approx((3 - 4.302653 * (7 / 3) ** 0.5, 3 + 4.302653 * (7 / 3) ** 0.5))


def test_coverage_of_the_mean_of_few_seeds():
    rng = np.random.default_rng(0)
    covered = [
        low <= 5 <= high for _, _, low, high in map(mean_interval, rng.normal(5, 2, (2000, 3)).tolist())
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)
