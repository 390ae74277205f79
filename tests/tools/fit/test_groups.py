"""The weights of the groups, fitted on couples whose cause is known."""

import numpy as np
from fit import groups


def test_a_part_that_tells_causes_apart_gets_the_weight():
    rng = np.random.default_rng(0)
    same = np.repeat([True, False], 200)
    parts = np.stack([np.where(same, 0.1, 0.8) + rng.normal(0, 0.1, 400), rng.random(400)], axis=1)
    telling, idle, constant = groups.fit(parts, same)
    assert telling > 5 * idle >= 0
    assert np.mean((parts @ [telling, idle] < constant) == same) > 0.95
