import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.captioner.card import GridAttention, NoChange


@given(st.floats(0, 1), st.floats(-5, 5), st.floats(-10, 10))
def test_calibration(p, scale, shift):
    found = NoChange(0.5, scale, shift, "", ()).calibrated(p)
    assert 0 <= found <= 1
    if 1e-6 < p < 1 - 1e-6:
        odds = (p / (1 - p)) ** scale * math.exp(shift)
        assert found == pytest.approx(odds / (1 + odds), rel=1e-6, abs=1e-9)


def test_no_calibration_changes_nothing():
    assert NoChange(0.5, 1.0, 0.0, "", ()).calibrated(0.3) == pytest.approx(0.3)


def test_the_shape_of_a_grid():
    assert GridAttention(20, 30).shape == (20, 30)
