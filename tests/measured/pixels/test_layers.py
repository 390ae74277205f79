import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.measured.pixels.layers import RING, colors_in, ground_color, line_color, usual_color


def picture(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Noise over a ground of one colour, which covers a random part."""
    pixels = rng.integers(0, 256, (height, width, 3), np.uint8)
    pixels[rng.random((height, width)) < rng.random()] = rng.integers(0, 256, 3)
    return pixels


def fullest_bin(colors: np.ndarray) -> tuple[int, ...]:
    """The rounded mean of the colours with the most frequent upper five bits, or the smallest such bits."""
    _, numbers, counts = np.unique(colors >> 3, axis=0, return_inverse=True, return_counts=True)
    chosen = colors[numbers.ravel() == counts.argmax()]
    return tuple(int((2 * total + len(chosen)) // (2 * len(chosen))) for total in chosen.sum(axis=0))


@given(st.integers(1, 400), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_usual_color_is_that_of_the_fullest_bin(count, seed):
    colors = picture(np.random.default_rng(seed), count, 1)[:, 0]
    assert usual_color(colors) == fullest_bin(colors)


@given(st.integers(1, 20), st.integers(1, 20), st.data())
@settings(max_examples=40, deadline=None)
def test_the_ground_is_the_usual_color_of_the_ring_around_a_box(height, width, data):
    pixels = picture(np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))), height, width)
    left, right = sorted(data.draw(st.tuples(*[st.integers(0, width)] * 2)))
    top, bottom = sorted(data.draw(st.tuples(*[st.integers(0, height)] * 2)))
    ring = np.zeros((height, width), bool)
    ring[max(0, top - RING) : bottom + RING, max(0, left - RING) : right + RING] = True
    ring[top:bottom, left:right] = False
    if not ring.any():  # The border is taken if the box fills the picture.
        ring[max(0, top - RING) : bottom + RING, max(0, left - RING) : right + RING] = True
        ring[1:-1, 1:-1] = False
    if ring.any():
        assert ground_color(pixels, (left, top, right, bottom)) == fullest_bin(pixels[ring])


def test_colors_in_a_mask_are_those_at_an_index():
    rng = np.random.default_rng(1)
    pixels, mask = picture(rng, 9, 7), rng.random((7, 9)) < 0.4
    np.testing.assert_array_equal(colors_in(pixels.swapaxes(0, 1), mask), pixels.swapaxes(0, 1)[mask])


def test_the_colour_of_a_dotted_line_is_not_mixed_with_its_ground():
    line = np.array([(255, 255, 255)] * 5 + [(228, 130, 126)] * 3 + [(202, 11, 3)] * 3, np.uint8)
    assert line_color(line, (255, 255, 255)) == (202, 11, 3)
    assert line_color(line[:5], (255, 255, 255)) == (255, 255, 255)
