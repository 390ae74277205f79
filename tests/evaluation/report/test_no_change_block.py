import numpy as np
import pytest

from whatchanged.evaluation.report.no_change_block import change_detection, no_change_table


def test_the_block_and_its_row():
    results, ends = change_detection([0.1, 0.4, 0.4, 0.9], [True, True, False, False], list("aabb"), 0.5)
    assert (results["recall"], results["false_alarms"], results["accuracy"]) == (100, 50, 75)
    assert set(ends) == {"recall", "false_alarms"}  # no resamples, no other intervals
    title, rows = no_change_table(results, ends)
    assert "unchanged from a probability of 0.5 on" in title
    assert rows[1][:4] == ["overall", "4", "100.0 (34-100)", "50.0 (9-91)"]
    assert dict(zip(*rows, strict=True))["accuracy"] == "75.0"


def test_one_kind_of_pair_alone():
    results, ends = change_detection([0.2, 0.6, 0.7], [True] * 3, list("abc"), 0.5, resamples=50)
    assert results["AUC"] is None and ends["AUC"] is None and results["ROC"] == []
    assert results["false_alarms"] is None and ends["false_alarms"] is None
    assert results["recall"] == pytest.approx(100 / 3)


def test_intervals_of_auc_and_calibration_have_their_coverage():
    """Normal scores one deviation apart: AUC = Phi(1/sqrt 2). The logistic probability is calibrated."""
    rng = np.random.default_rng(4)
    hits = dict.fromkeys(("AUC", "skewed", "chance", "fault"), 0)
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
        results, ends = change_detection(own, changed, np.arange(500), 0.5, resamples=100, seed=k)
        hits["AUC"] += ends["AUC"][0] <= 76.02499389 <= ends["AUC"][1]
        hits["chance"] += results["ECE"] <= results["ECE_if_calibrated"]
        results, ends = change_detection(0.25 + own / 2, changed, np.arange(500), 0.5, resamples=100, seed=k)
        hits["skewed"] += ends["ECE"][0] <= skewed <= ends["ECE"][1]
        hits["fault"] += results["ECE"] > results["ECE_if_calibrated"]
    assert hits["AUC"] / 200 == pytest.approx(0.95, abs=0.04)
    assert hits["chance"] / 200 == pytest.approx(0.95, abs=0.04)
    assert hits["skewed"] / 200 == pytest.approx(0.90, abs=0.05)
    assert hits["fault"] > 180


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
