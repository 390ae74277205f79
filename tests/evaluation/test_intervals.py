import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.evaluation.intervals import share, wilson


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
