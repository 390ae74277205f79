import numpy as np
import pytest

from whatchanged.measured.rules.segments import EVEN, segments_of

GROUND = 200


@pytest.mark.parametrize("axis", [0, 1])
def test_lines_are_even_as_long_as_all_pixels_have_about_one_color(axis):
    pixels = np.full((60, 70, 3), GROUND, np.uint8)
    pixels[5:15, 33, 1] = GROUND - EVEN
    pixels[20:30, 68, 2] = GROUND - EVEN - 1
    pixels[35:45, 3] = GROUND + EVEN
    pixels[35:45, 4] = GROUND - 1
    found = segments_of(pixels if axis == 0 else pixels.swapaxes(0, 1), axis)
    assert [(one.start, one.stop) for one in found if one.color is None] == [(20, 30), (35, 45)]
