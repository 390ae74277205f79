import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from scipy import ndimage
from support.drawn_page import page, with_box

from whatchanged.measured.pixels import gate
from whatchanged.measured.pixels.gate import far_from_differences, unexplained, visibility, visibility_within
from whatchanged.measured.pixels.planes import blurred, closed


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


@given(st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=10, deadline=None)
def test_strength_is_the_same_however_a_tall_picture_is_cut(down, right):
    before = np.tile(page(), (6, 3, 1))
    after = with_box(before, (60 + right, 40 + down, 100 + right, 660 - down), (200, 120, 120))
    after[300 + down :, 20:60] //= 2
    whole = visibility(before, after)
    strip, gate.STRIP = gate.STRIP, 3
    try:
        parts = visibility(before, after)
    finally:
        gate.STRIP = strip
    np.testing.assert_array_equal(whole.strength, parts.strength)


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_search_ends_only_when_more_is_visible_than_allowed(beyond):
    before = np.tile(page(), (3, 1, 1))
    after = with_box(before, (60, 40, 100, 700), (200, 120, 120))
    whole = visibility(before, after)
    count = int(np.count_nonzero(whole.visible(1.0)))
    found = visibility_within(before, after, 1.0, count - beyond)
    assert (found is None) == bool(beyond)
    if found is not None:
        np.testing.assert_array_equal(found.strength, whole.strength)
    assert visibility_within(before, after, 1.0, 0) is None


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_residuals_have_the_sign_of_the_side_on_which_a_value_leaves_the_other_range(seed):
    one, other = np.random.default_rng(seed).integers(0, 600, (2, 9, 11)).astype(np.int16)
    low, high = (
        [choose(plane, 3, mode="nearest") for plane in (one, other)]
        for choose in (ndimage.minimum_filter, ndimage.maximum_filter)
    )
    least = gate.FAINT * gate.UNIT
    brighter = np.maximum(np.maximum(other - high[0], low[1] - one) - least, 0)
    darker = np.maximum(np.maximum(one - high[1], low[0] - other) - least, 0)
    assert not (brighter.astype(bool) & darker.astype(bool)).any()
    np.testing.assert_array_equal(unexplained(one, other), np.where(brighter >= darker, brighter, -darker))


def test_far_from_its_differences_a_picture_differs_from_a_third_one_like_another():
    before = np.tile(page(), (2, 2, 1))
    other, after = before.copy(), before // 2 + 40
    other[100:140, 200:260] = (250, 20, 20)
    same = far_from_differences(before, other)
    assert 0 < np.count_nonzero(~same) < same.size / 2
    assert not same[100:140, 200:260].any()
    strengths = [visibility(picture, after).strength[same] for picture in (before, other)]
    np.testing.assert_array_equal(*strengths)


@given(st.integers(1, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_what_is_narrow_and_dark_is_filled_as_by_scipy(radius, seed):
    plane = np.random.default_rng(seed).integers(-2000, 2000, (17, 23)).astype(np.int16)
    side = 2 * radius + 1
    expected = ndimage.minimum_filter(
        ndimage.maximum_filter(plane, side, mode="nearest"), side, mode="nearest"
    )
    inner = (slice(2 * radius, -2 * radius),) * 2  # at the border, scipy's and ours repeat other values
    np.testing.assert_array_equal(closed(plane, radius)[inner], expected[inner])


def markers(grown: float, moved: float = 0.0, ink: int = 0, ground: int = 255) -> np.ndarray:
    """Twelve discs with smooth edges, drawn eight times as large; ``grown`` pixels on each side."""
    picture = Image.new("L", (240 * 8, 160 * 8), ground)
    draw = ImageDraw.Draw(picture)
    for k in range(12):
        x, y = 30 + 55 * (k % 4) + moved, 30 + 50 * (k // 4) + moved / 2
        draw.ellipse([8 * (v + end * (3 + grown)) for end in (-1, 1) for v in (x, y)], fill=ink)
    small = np.asarray(picture.resize((240, 160), Image.Resampling.BOX))
    return np.stack([small] * 3, axis=2)


@pytest.mark.parametrize(("ink", "ground"), [(0, 255), (60, 255), (235, 20)])
def test_markers_that_grow_by_a_pixel_are_seen_and_those_that_move_by_half_a_pixel_are_not(ink, ground):
    before = markers(0, ink=ink, ground=ground)
    assert visibility(before, markers(1, ink=ink, ground=ground)).score > 1
    assert visibility(before, markers(-1, ink=ink, ground=ground)).score > 1
    assert visibility(before, markers(0, 0.5, ink, ground)).score < 0.5
