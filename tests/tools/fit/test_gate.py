"""The limits of the gate, fitted on pairs whose strength is known."""

import numpy as np
import pytest
from fit import gate


def test_limits_lie_where_changes_and_noise_part():
    noise = np.full((100, 4), 0.3)
    noise[:, 0] = np.linspace(0.05, 0.9, 100)
    changes = np.full((100, 4), 0.3)
    changes[:, 0] = np.linspace(1.2, 3.0, 100)
    rows, changed = np.concatenate([noise, changes]), np.repeat([False, True], 100)
    factors = gate.best_limits(rows, changed, np.zeros(200, int))
    scores = (rows / factors).max(axis=1)
    assert np.mean(scores[~changed] < 1) >= gate.NO_CHANGE
    assert np.all(scores[changed] >= 1)


def test_the_odds_of_a_change_grow_with_a_power_of_the_score():
    rng = np.random.default_rng(0)
    scores = np.exp(rng.normal(0, 1, 20_000))
    changed = rng.random(20_000) < 1 / (1 + 1 / (0.8 * scores**2))
    power, level = gate.odds(scores, changed)
    assert power == pytest.approx(2, abs=0.1)
    assert level == pytest.approx(0.8, abs=0.05)
