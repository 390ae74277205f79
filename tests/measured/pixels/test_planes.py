import numpy as np

from whatchanged.measured.pixels.planes import largest_channel, steps_between, steps_from

RNG = np.random.default_rng(2)
ONE, OTHER = RNG.integers(0, 256, (2, 11, 17, 3), np.uint8)


def test_steps_are_the_largest_differences_of_a_channel():
    expected = np.abs(ONE.astype(int) - OTHER).max(axis=2)
    np.testing.assert_array_equal(steps_between(ONE, OTHER), expected)
    np.testing.assert_array_equal(largest_channel(ONE), ONE.max(axis=2))
    for color in ((0, 255, 7), OTHER[0, 0], OTHER[3], OTHER[:, :1]):
        expected = np.abs(ONE.astype(int) - np.asarray(color, int)).max(axis=2)
        found = steps_from(color, ONE)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.uint8
