import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.evaluation.metrics.change_detection import change_detection

PROBABILITIES = [0.1, 0.4, 0.4, 0.9, 0.4, 0.7]
CHANGED = [True, True, False, False, True, False]
GROUPS = list("aabbcc")


def test_numbers_by_hand():
    found, ends = change_detection(PROBABILITIES, CHANGED, GROUPS, 0.5)
    assert found["recall"] == 100
    assert found["false_alarms"] == pytest.approx(100 / 3)  # of 0.4, 0.9, 0.7
    assert found["accuracy"] == pytest.approx(500 / 6)
    # 9 couples of a changed and an unchanged pair: 7 in order, 2 ties.
    assert found["AUC"] == pytest.approx(100 * 8 / 9)
    brier = (0.1**2 + 0.4**2 + 0.6**2 + 0.1**2 + 0.4**2 + 0.3**2) / 6
    assert found["Brier"] == pytest.approx(100 * brier)
    # Bins of width 1/15: 0.1 | 0.4 three times, one of them unchanged | 0.7 | 0.9.
    assert found["ECE"] == pytest.approx(100 * (0.1 + abs(1.2 - 1) + 0.3 + 0.1) / 6)
    assert set(ends) == {"recall", "false_alarms"}


def test_a_pair_at_the_threshold_is_unchanged():
    assert change_detection([0.5, 0.4], [False, True], list("ab"), 0.5)[0]["accuracy"] == 100
    assert change_detection([0.5, 0.4], [False, True], list("ab"), 0.51)[0]["false_alarms"] == 100


cases = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0]), st.booleans()), min_size=2
).filter(lambda rows: len({changed for _, changed in rows}) == 2)


@given(cases)
def test_auc_counts_all_couples_with_ties_as_half_and_is_the_area_under_the_curve(rows):
    p, changed = (np.array(column) for column in zip(*rows, strict=True))
    found, _ = change_detection(p, changed, np.arange(len(p)))
    lower, equal = p[changed][:, None] < p[~changed], p[changed][:, None] == p[~changed]
    assert found["AUC"] == pytest.approx(100 * (lower + equal / 2).mean())
    curve = found["ROC"]
    x, y = ([corner[key] for corner in curve] for key in ("false_alarms", "recall"))
    assert np.trapezoid(y, x) / 100 == pytest.approx(found["AUC"])
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 100, 100)
    for corner in curve:
        at, _ = change_detection(p, changed, np.arange(len(p)), corner["threshold"])
        assert (at["false_alarms"], at["recall"]) == pytest.approx((corner["false_alarms"], corner["recall"]))


def test_auc_agrees_with_the_reference_library():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    changed = rng.random(500) < 0.4
    p = np.round(rng.random(500) * (1 - 0.5 * changed), 2)
    found, _ = change_detection(p, changed, np.arange(500))
    assert found["AUC"] == pytest.approx(100 * metrics.roc_auc_score(~changed, p), rel=1e-12)
    assert found["Brier"] == pytest.approx(100 * metrics.brier_score_loss(~changed, p), rel=1e-12)


def test_one_kind_of_pair_alone():
    found, ends = change_detection([0.2, 0.6, 0.7], [True] * 3, list("abc"), 0.5, resamples=50)
    assert found["AUC"] is None and ends["AUC"] is None and found["ROC"] == []
    assert found["false_alarms"] is None and ends["false_alarms"] is None
    assert found["recall"] == pytest.approx(100 / 3)


def test_intervals_of_auc_and_calibration_have_their_coverage():
    """Normal scores one deviation apart: AUC = Phi(1/sqrt 2). The logistic probability is calibrated."""
    rng = np.random.default_rng(4)
    scored = dict.fromkeys(("AUC", "skewed", "chance", "fault"), 0)
    edges = np.linspace(0, 1, 16)
    fine = np.linspace(-8, 9, 200_001)
    density = (np.exp(-((fine - 1) ** 2) / 2) + np.exp(-(fine**2) / 2)) / 2
    p = 1 / (1 + np.exp(0.5 - fine))
    # The truth of a probability squeezed towards 1/2, bin by bin.
    squeezed = 0.25 + p / 2
    part = np.bincount(np.digitize(squeezed, edges), density * (squeezed - p)) / density.sum()
    skewed = 100 * np.abs(part).sum()
    for k in range(200):
        changed = rng.random(500) < 0.5
        own = 1 / (1 + np.exp(0.5 - (rng.normal(0, 1, 500) + ~changed)))
        found, ends = change_detection(own, changed, np.arange(500), 0.5, resamples=100, seed=k)
        scored["AUC"] += ends["AUC"][0] <= 76.02499389 <= ends["AUC"][1]
        scored["chance"] += found["ECE"] <= found["ECE_if_calibrated"]
        found, ends = change_detection(0.25 + own / 2, changed, np.arange(500), 0.5, resamples=100, seed=k)
        scored["skewed"] += ends["ECE"][0] <= skewed <= ends["ECE"][1]
        scored["fault"] += found["ECE"] > found["ECE_if_calibrated"]
    assert scored["AUC"] / 200 == pytest.approx(0.95, abs=0.04)
    assert scored["chance"] / 200 == pytest.approx(0.95, abs=0.04)
    assert scored["skewed"] / 200 == pytest.approx(0.90, abs=0.05)
    assert scored["fault"] > 180


def test_the_reliability_table_holds_every_pair_once():
    rng = np.random.default_rng(0)
    p = np.append(rng.random(98), [0.0, 1.0])
    changed = rng.random(100) < 0.5
    table = change_detection(p, changed, np.arange(100))[0]["reliability"]
    assert sum(row["pairs"] for row in table) == 100
    for row in table:
        own = (p >= row["from"]) & ((p < row["to"]) | (row["to"] == 1))
        assert row["pairs"] == own.sum()
        assert row["unchanged"] == pytest.approx(100 * (~changed[own]).mean())
        assert row["low"] <= row["unchanged"] <= row["high"]
