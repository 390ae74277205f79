import numpy as np
import pytest

from whatchanged.training.export.calibration import fit_sigmoid


def test_calibration_finds_the_sigmoid_that_made_the_labels():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, 20_000)
    labels = (rng.random(20_000) < 1 / (1 + np.exp(-(0.5 * logits - 1)))).astype(float)
    scale, shift = fit_sigmoid(logits, labels)
    assert (scale, shift) == (pytest.approx(0.5, abs=0.03), pytest.approx(-1, abs=0.06))


def test_calibration_of_a_perfect_judge_stays_finite():
    scale, shift = fit_sigmoid(np.array([-16.0, -15, 15, 16]), np.array([0.0, 0, 1, 1]))
    assert 0.9 < scale < 10 and abs(shift) < 1
