import numpy as np
from drawn_page import page, with_box
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.measured import gate
from whatchanged.measured.gate import visibility
from whatchanged.measured.planes import blurred


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_every_second_row_and_column_of_a_blur(height, width, seed):
    planes = np.random.default_rng(seed).integers(-2000, 2000, (2, height, width)).astype(np.int16)
    np.testing.assert_array_equal(blurred(planes, 2), blurred(planes)[..., ::2, ::2])


@given(st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=20, deadline=None)
def test_strips_do_not_show(down, right):
    before = np.tile(page(), (6, 3, 1))
    after = with_box(before, (60 + right, 40 + down, 100 + right, 660 - down), (200, 120, 120))
    whole = visibility(before, after)
    strip, gate.STRIP = gate.STRIP, 64
    try:
        parts = visibility(before, after)
    finally:
        gate.STRIP = strip
    np.testing.assert_array_equal(whole.strength, parts.strength)


def test_what_nobody_sees_has_no_strength():
    before = page()
    seen = visibility(before, np.where(before > 100, before - 4, before))
    assert seen.score == 0
    assert seen.differs.any()
