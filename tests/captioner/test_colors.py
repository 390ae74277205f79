import numpy as np
import pytest

from whatchanged.captioner.colors import NAMES, color_distance, color_numbers


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
        assert color_distance(color_numbers(flat((level,) * 3)), ranges)[0] == pytest.approx(wanted)


def test_the_number_that_is_furthest_off_counts():
    ranges = {"brightness": (0.0, 200.0), "contrast": (-1.0, 0.5)}
    assert color_distance(color_numbers(flat((100,) * 3)), ranges)[0] == pytest.approx(0.25 / 0.75)
    assert color_distance(color_numbers(flat((100,) * 3)), {})[0] == 0


def test_sizes_that_cells_do_not_fill():
    pixels = np.concatenate([flat((80, 80, 80), 16, 24), flat((255, 0, 0), 3, 24)], axis=1)
    assert numbers(pixels)["brightness"] == 80
