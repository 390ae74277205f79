import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from whatchanged.evaluation.metrics.change_detection import ChangeDetection, equal_masses, error_if_calibrated

PROBABILITIES = [0.1, 0.4, 0.4, 0.9, 0.4, 0.7]
CHANGED = [True, True, False, False, True, False]


def numbers(found, weights=None):
    """Name -> value; each pair once, or as often as its weight says."""
    weights = np.ones(len(found.changed)) if weights is None else weights
    return dict(zip(found.names, found.values(np.asarray(weights, float)[None])[0], strict=True))


def test_numbers_by_hand():
    found = ChangeDetection(PROBABILITIES, CHANGED, 0.5)
    assert found.recall == (3, 3)
    assert found.false_alarms == (1, 3)  # of 0.4, 0.9, 0.7
    got = numbers(found)
    assert got["accuracy"] == pytest.approx(500 / 6)
    # 9 couples of a changed and an unchanged pair: 7 in order, 2 ties.
    assert got["AUC"] == pytest.approx(100 * 8 / 9)
    brier = (0.1**2 + 0.4**2 + 0.6**2 + 0.1**2 + 0.4**2 + 0.3**2) / 6
    assert got["Brier"] == pytest.approx(100 * brier)
    # Bins of width 1/15: 0.1 | 0.4 three times, one of them unchanged | 0.7 | 0.9.
    assert got["ECE"] == pytest.approx(100 * (0.1 + abs(1.2 - 1) + 0.3 + 0.1) / 6)


def test_a_pair_at_the_threshold_is_unchanged():
    assert numbers(ChangeDetection([0.5, 0.4], [False, True], 0.5))["accuracy"] == 100
    assert ChangeDetection([0.5, 0.4], [False, True], 0.51).false_alarms == (1, 1)


cases = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0]), st.booleans(), st.integers(1, 3)), min_size=2
).filter(lambda rows: len({changed for _, changed, _ in rows}) == 2)


@given(cases)
def test_auc_counts_all_couples_with_ties_as_half_and_is_the_area_under_the_curve(rows):
    p, changed, _ = (np.array(column) for column in zip(*rows, strict=True))
    found = ChangeDetection(p, changed)
    auc = numbers(found)["AUC"]
    lower, equal = p[changed][:, None] < p[~changed], p[changed][:, None] == p[~changed]
    assert auc == pytest.approx(100 * (lower + equal / 2).mean())
    curve = found.ranking.curve()
    x, y = ([corner[key] for corner in curve] for key in ("false_alarms", "recall"))
    assert trapezoid(y, x) / 100 == pytest.approx(auc)
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 100, 100)
    for corner in curve:
        at = ChangeDetection(p, changed, corner["threshold"])
        for key, (count, of) in (("false_alarms", at.false_alarms), ("recall", at.recall)):
            assert 100 * count / of == pytest.approx(corner[key])


@given(cases)
def test_a_pair_that_counts_twice_is_as_two_pairs(rows):
    """All numbers but the calibration error of equal masses, whose bins are those of the sample."""
    p, changed, times = (np.array(column) for column in zip(*rows, strict=True))
    got = numbers(ChangeDetection(p, changed), times)
    wanted = numbers(ChangeDetection(np.repeat(p, times), np.repeat(changed, times)))
    for name in ("AUC", "accuracy", "Brier", "ECE"):
        assert got[name] == pytest.approx(wanted[name])


def test_agreement_with_the_reference_library():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    changed = rng.random(500) < 0.4
    p = np.round(rng.random(500) * (1 - 0.5 * changed), 2)
    got = numbers(ChangeDetection(p, changed))
    assert got["AUC"] == pytest.approx(100 * metrics.roc_auc_score(~changed, p), rel=1e-12)
    assert got["Brier"] == pytest.approx(100 * metrics.brier_score_loss(~changed, p), rel=1e-12)


def test_one_kind_of_pair_alone_has_no_auc():
    found = ChangeDetection([0.2, 0.6, 0.7], [True] * 3)
    assert np.isnan(numbers(found)["AUC"]) and found.false_alarms == (0, 0)


def test_bins_of_equal_mass():
    rng = np.random.default_rng(0)
    assert np.bincount(equal_masses(rng.random(300))).tolist() == [20] * 15
    assert equal_masses(np.array([0.3, 0.9, 0.3, 0.3])).tolist() == [0, 11, 0, 0]  # equal ones stay together


def test_a_sure_probability_that_is_calibrated_shows_no_error():
    assert error_if_calibrated(np.array([0.0, 1.0, 1.0, 0.0]), 50, 0) == 0
    # 1,000 pairs at 1/2: |hits - 500| / 1000 has the deviation 0.0158; 95 % lie within 1.96 of it
    assert error_if_calibrated(np.full(1000, 0.5), 4000, 0) == pytest.approx(100 * 1.96 * 0.0158, rel=0.06)
