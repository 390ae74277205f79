import numpy as np
from drawn_page import page
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.measured.gate import visibility
from whatchanged.measured.planes import blurred


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_every_second_row_and_column_of_a_blur(height, width, seed):
    planes = np.random.default_rng(seed).integers(-2000, 2000, (2, height, width)).astype(np.int16)
    np.testing.assert_array_equal(blurred(planes, 2), blurred(planes)[..., ::2, ::2])


def test_what_nobody_sees_has_no_strength():
    before = page()
    seen = visibility(before, np.where(before > 100, before - 4, before))
    assert seen.score == 0
    assert seen.differs.any()
