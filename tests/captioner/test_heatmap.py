import numpy as np
import pytest
from PIL import Image

from whatchanged.captioner.card import GridAttention
from whatchanged.captioner.heatmap import COLORS, GAP, MOST_WIDTH, STRENGTH, overlay
from whatchanged.errors import ShapeError


def gray(size=(60, 40)):
    return Image.new("RGB", size, (128, 128, 128))


def painted(before, after, maps):
    """The overlay of maps that are as their grid declares."""
    return overlay(before, after, maps, GridAttention(*maps.shape[1:]))


def test_both_pictures_side_by_side():
    sheet = painted(gray(), gray((120, 80)), np.zeros((2, 2, 3)))
    assert sheet.size == (120 + GAP + 120, 80)
    assert sheet.getpixel((120 + GAP // 2, 40)) == (255, 255, 255)
    assert (
        sheet.getpixel((10, 10)) == sheet.getpixel((200, 10)) == (128, 128, 128)
    )  # nobody looked: untouched


def test_heat_is_where_the_map_is_hot():
    maps = np.zeros((2, 4, 6), np.float32)
    maps[1, 3, 5] = 0.2
    sheet = np.asarray(painted(gray(), gray(), maps)).astype(int)
    after = sheet[:, 60 + GAP :]
    assert (sheet[:, :60] == 128).all()
    heat = np.abs(after - 128).sum(axis=2)
    y, x = np.unravel_index(heat.argmax(), heat.shape)
    assert y >= 30 and x >= 50
    wanted = (1 - STRENGTH) * 128 + STRENGTH * np.array(COLORS[-1])
    assert np.abs(after[-1, -1] - wanted).max() <= 1  # the hottest place has the last colour
    assert (heat[:20, :30] == 0).all()


def test_one_scale_for_both():
    maps = np.zeros((2, 1, 1), np.float32)
    maps[0], maps[1] = 1.0, 0.5
    sheet = painted(gray(), gray(), maps)
    hot, half = sheet.getpixel((30, 20)), sheet.getpixel((60 + GAP + 30, 20))
    middle = (1 - STRENGTH / 2) * 128 + STRENGTH / 2 * np.array(COLORS[4])
    assert hot != half
    assert np.abs(np.array(half) - middle).max() <= 1


def test_colours_grow_lighter_with_heat():
    lightness = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in COLORS]
    assert lightness == sorted(lightness)


def test_large_pictures_are_shown_smaller():
    assert painted(gray((3000, 2000)), gray((3000, 2000)), np.ones((2, 2, 2))).height == 640


def test_a_strip_is_shown_no_wider_than_the_limit():
    sheet = painted(gray((4000, 8)), gray((480, 320)), np.ones((2, 2, 2)))
    assert sheet.size == (MOST_WIDTH + GAP + 480, 320)
    assert sheet.getpixel((10, 2)) != (255, 255, 255) and sheet.getpixel((10, 8)) == (255, 255, 255)


def test_maps_of_another_grid_than_declared():
    with pytest.raises(ShapeError, match=r"got \(2, 2, 3\), wanted \(2, 3, 2\)"):
        overlay(gray(), gray(), np.zeros((2, 2, 3)), GridAttention(3, 2))
