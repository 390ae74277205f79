import numpy as np
import pytest
from PIL import Image

from whatchanged.captioner.card import GridAttention
from whatchanged.captioner.heatmap import GAP, LEGEND, MOST_WIDTH, overlay
from whatchanged.contours import COLORS
from whatchanged.errors import ShapeError

GRAY = (128, 128, 128)


def gray(size=(600, 400)):
    return Image.new("RGB", size, GRAY)


def painted(before, after, maps):
    """The overlay of maps that are as their grid declares."""
    return overlay(before, after, maps, GridAttention(*maps.shape[1:]))


def near(pixels, color):
    """(H, W) Where a picture has almost this colour."""
    return np.abs(pixels.astype(int) - color).max(axis=-1) < 40


def test_both_pictures_side_by_side_above_the_legend():
    sheet = painted(gray(), gray((300, 200)), np.zeros((2, 2, 3)))
    assert sheet.size == (600 + GAP + 600, 400 + LEGEND)
    pixels = np.asarray(sheet)
    assert (pixels[:400, 600 : 600 + GAP] == 255).all()
    assert (pixels[:400, :600] == GRAY).all()  # nobody looked: untouched
    legend = pixels[400:]
    assert all(near(legend, color).any() for color in COLORS) and (legend == 255).mean() > 0.7


def test_lines_go_round_the_place_and_nothing_else_is_touched():
    maps = np.zeros((2, 10, 15), np.float32)
    maps[1, 7, 12] = 0.2  # its middle lies at x = 500, y = 300 of 600 x 400
    pixels = np.asarray(painted(gray(), gray(), maps))[:400]
    assert (pixels[:, :600] == GRAY).all()
    after = pixels[:, 600 + GAP :]
    for color in COLORS:
        y, x = np.nonzero(near(after, color))
        assert (x.min() + x.max()) / 2 == pytest.approx(500, abs=3)
        assert (y.min() + y.max()) / 2 == pytest.approx(300, abs=3)
    assert tuple(after[300, 500]) == GRAY  # what is inside the lines stays as it is
    touched = (after != GRAY).any(axis=-1)
    assert 0 < touched.mean() < 0.05 and not touched[:150].any() and not touched[:, :350].any()


def test_the_inner_line_lies_inside_the_outer_one():
    maps = np.zeros((2, 10, 15), np.float32)
    maps[0, 5, 7] = 1.0
    pixels = np.asarray(painted(gray(), gray(), maps))[:400, :600]
    inner, outer = (np.nonzero(near(pixels, color))[1] for color in COLORS)
    assert outer.min() < inner.min() < inner.max() < outer.max()


def test_large_pictures_are_shown_smaller_and_small_ones_larger():
    assert painted(gray((3000, 2000)), gray((3000, 2000)), np.ones((2, 2, 2))).height == 640 + LEGEND
    assert painted(gray((60, 40)), gray((60, 40)), np.ones((2, 2, 2))).size == (2 * 480 + GAP, 320 + LEGEND)


def test_a_strip_is_shown_no_wider_than_the_limit():
    sheet = painted(gray((4000, 8)), gray((480, 320)), np.ones((2, 2, 2)))
    assert sheet.size == (MOST_WIDTH + GAP + 480, 320 + LEGEND)
    assert sheet.getpixel((10, 12)) == (255, 255, 255)


def test_maps_of_another_grid_than_declared():
    with pytest.raises(ShapeError, match=r"got \(2, 2, 3\), wanted \(2, 3, 2\)"):
        overlay(gray(), gray(), np.zeros((2, 2, 3)), GridAttention(3, 2))
