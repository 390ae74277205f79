"""How alike what is drawn is, against letters and planes painted by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.measured.pixels.layers import read_layer
from whatchanged.measured.pixels.likeness import LIKENESS, correlation, likeness, read_glyphs, resized

WHOLE, INKED, INK, PIXELS = range(4)
BEST, BEST_BACK, LOW, LOW_BACK, SHARE, SHARE_BACK, HEIGHT, WIDTH, THICK, HIGHEST = range(4, LIKENESS)
L = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1]], bool)
O = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], bool)  # noqa: E741 the letter


def written(*letters, scale=4, size=(60, 90)):
    """Black letters side by side on white."""
    pixels = np.full((*size, 3), 255, np.uint8)
    left = 8
    for letter in letters:
        drawn = np.kron(letter, np.ones((scale, scale), bool))
        pixels[10 : 10 + drawn.shape[0], left : left + drawn.shape[1]][drawn] = 0
        left += drawn.shape[1] + 4
    return pixels


def of(before, after):
    layers = [read_layer(picture, (0, 0, picture.shape[1], picture.shape[0])) for picture in (before, after)]
    return likeness((layers[0], layers[1]), (before, after))


def test_what_stayed_is_wholly_alike():
    found = of(written(L, O), written(L, O))
    assert len(found) == LIKENESS
    assert found[:4] == pytest.approx([1, 1, 1, 1])
    assert found[BEST:HEIGHT] == pytest.approx([1] * 6)
    assert found[HEIGHT:] == pytest.approx([0] * 4)


def test_larger_letters_stay_alike_and_tell_by_how_much_they_grew():
    found = of(written(L, O), written(L, O, scale=8))
    assert found[BEST] > 0.95 and found[SHARE] == found[SHARE_BACK] == 1
    assert found[HEIGHT] == found[WIDTH] == found[HIGHEST] == pytest.approx(math.log(2))
    assert found[THICK] == pytest.approx(0)  # as thick as before, for their size


def test_another_word_is_less_alike_than_the_same_one_elsewhere():
    moved, other = of(written(L, L), written(O, L, L)), of(written(L, L), written(O, O))
    assert moved[SHARE] == 1 and moved[SHARE_BACK] == pytest.approx(2 / 3)
    assert other[SHARE] == other[SHARE_BACK] == 0
    assert other[BEST] < moved[BEST_BACK] < moved[BEST]


def test_colours_turned_round_leave_the_ink_alike():
    """A place and its negative correlate with -1; of what is inked the sign is left out."""
    found = of(written(L, O), 255 - written(L, O))
    assert found[WHOLE] == pytest.approx(-1) and found[PIXELS] == pytest.approx(1)
    assert found[INK] == pytest.approx(1) and found[BEST] == pytest.approx(1)


def test_without_ink_nothing_is_known_of_it():
    found = of(written(), written(L))
    assert found == [0.0] * LIKENESS


def test_the_largest_pieces_come_first_and_specks_do_not_count():
    ink = np.zeros((20, 40), bool)
    ink[2:5, 2:5] = ink[2:12, 10:20] = ink[15:17, 30:32] = True
    found = read_glyphs(ink)
    assert found.sizes.tolist() == [[10, 10], [3, 3]] and found.inks.tolist() == [100, 9]
    assert not read_glyphs(np.zeros((5, 5), bool)).forms.size


@given(st.integers(1, 60), st.integers(1, 60), st.floats(-100, 100))
def test_an_even_plane_stays_even_and_correlates_with_nothing(height, width, level):
    plane = resized(np.full((height, width), level, np.float32), 8)
    assert plane.shape == (8, 8) and np.allclose(plane, level, atol=1e-4)
    assert correlation(plane * 0, resized(np.eye(8, dtype=bool), 8)) == 0
