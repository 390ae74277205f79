import numpy as np
import pytest

from whatchanged.captioner.colors import (
    NAMES,
    color_distance,
    color_numbers,
    main_colors,
    unevenness,
    unlike_a_screen,
)


def flat(color, height=16, width=24):
    return np.full((1, height, width, 3), color, np.uint8)


def numbers(pixels):
    return dict(zip(NAMES, color_numbers(pixels)[0], strict=True))


def test_a_grey_picture_has_neither_tint_nor_colour():
    found = numbers(flat((90, 90, 90)))
    wanted = {
        "red_green": 0,
        "yellow_blue": 0,
        "vividness": np.log2(1 / 255),
        "brightness": 90,
        "contrast": 0,
    }
    assert found == pytest.approx(wanted)


def test_a_tint_is_measured_and_no_colour_stands_out_from_it():
    found = numbers(flat((120, 90, 60)))
    assert found["red_green"] == pytest.approx(30 / 91)
    assert found["yellow_blue"] == pytest.approx(45 / 91)
    assert found["vividness"] == pytest.approx(np.log2(1 / 255))


def test_one_red_cell_stands_out_of_a_grey_ground():
    pixels = flat((99, 99, 99))  # 4 x 6 cells
    pixels[0, :4, :4] = (200, 50, 50)
    opponent = 150 / 101  # (R - G) / (l + 1), l = 100
    places = np.sort(np.r_[np.zeros(23), opponent])
    assert numbers(pixels)["vividness"] == pytest.approx(np.log2(np.quantile(places, 0.99)))
    assert numbers(pixels)["red_green"] == 0


def test_grain_within_a_cell_does_not_count():
    rng = np.random.default_rng(0)
    grain = rng.integers(-8, 9, (1, 160, 240, 3))
    grainy = numbers((flat((120, 120, 120), 160, 240) + grain).astype(np.uint8))
    assert grainy["contrast"] < 2 and abs(grainy["red_green"]) < 0.01


def test_the_distance_is_one_at_both_ends_of_a_range():
    ranges = {"brightness": (50.0, 150.0)}
    for level, wanted in ((100, 0), (50, 1), (150, 1), (200, 2)):
        assert color_distance(flat((level,) * 3), ranges)[0] == pytest.approx(wanted)


def test_the_number_that_is_furthest_off_counts():
    ranges = {"brightness": (0.0, 200.0), "contrast": (-1.0, 0.5)}
    assert color_distance(flat((100,) * 3), ranges)[0] == pytest.approx(0.25 / 0.75)
    assert color_distance(flat((100,) * 3), {})[0] == 0


def test_sizes_that_cells_do_not_fill():
    pixels = np.concatenate([flat((80, 80, 80), 16, 24), flat((255, 0, 0), 3, 24)], axis=1)
    assert numbers(pixels)["brightness"] == 80


def grain(levels, height=60, width=80):
    """Noise of so many levels on white."""
    rng = np.random.default_rng(0)
    return (255 - rng.integers(0, levels + 1, (height, width, 3))).astype(np.uint8)


def test_pixels_that_differ_to_the_right_or_below_are_uneven():
    picture = np.zeros((3, 4, 3), np.uint8)
    picture[1, 2] = 9  # (1, 1) and (0, 2) differ from it, and it from (1, 3) and (2, 2): 3 of 2 x 3
    assert unevenness(picture) == pytest.approx(3 / 6)
    assert unevenness(np.zeros((1, 9, 3), np.uint8)) == 0


def test_the_main_colours_take_what_is_within_two_levels_of_them():
    rows = [(0, 40), (2, 20), (3, 15), (100, 10), (150, 8), (200, 4), (250, 3)]  # level, pixels
    levels = np.concatenate([np.full(count, level) for level, count in rows])
    picture = np.repeat(levels[:, None, None], 3, axis=2).astype(np.uint8)  # (100, 1, 3)
    assert main_colors(picture) == pytest.approx(0.93)  # 0 with 2, then 3, 100, 150


def test_large_pictures_are_read_in_part():
    picture = np.zeros((900, 1100, 3), np.uint8)
    picture[:, 550:] = np.random.default_rng(0).integers(0, 256, (900, 550, 3))
    assert main_colors(picture) == pytest.approx(0.5, abs=0.02)


def test_a_flat_picture_and_one_of_few_noisy_colours_are_like_screens():
    assert unlike_a_screen(flat((9, 9, 9))[0], 0.7) == 0
    noisy = grain(2)
    assert unevenness(noisy) > 0.9 and unlike_a_screen(noisy, 0.7) == 0
    assert unlike_a_screen(grain(200), 0.7) > 1
    half = np.concatenate([grain(2), grain(200)])  # half of it is one colour: 0.5 / 0.25
    assert unlike_a_screen(half, 0.7) == pytest.approx(min(unevenness(half) / 0.7, 2), abs=0.05)
