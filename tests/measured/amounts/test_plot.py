"""Plots that show other data, drawn here with their grids."""

import numpy as np
import pytest

from whatchanged.measured.amounts.plot import data_change, grid_of_plot

BOX = (20, 20, 320, 220)


def plot(seed, step=60):
    """A grid with points at random places."""
    picture = np.full((240, 340, 3), 255, np.uint8)
    for across in range(20, 320, step):
        picture[20:220, across] = 200
    for down in range(20, 220, step):
        picture[down, 20:320] = 200
    picture[219, 20:320] = picture[20:220, 319][:1] = 200
    rows, columns = np.random.default_rng(seed).integers((30, 30), (205, 305), (40, 2)).T
    for row, column in zip(rows, columns, strict=True):
        picture[row : row + 5, column : column + 5] = (0, 90, 200)
    return picture


@pytest.mark.parametrize(("step", "same"), [(60, True), (50, False)])
def test_other_data(step, same):
    finding = data_change(plot(1), plot(2, step), BOX)
    assert (finding.kind, finding.aspect, finding.values) == ("replaced", "data", {"same_axes": same})


def test_points_without_a_grid_are_no_plot():
    bare = plot(1)
    bare[bare == 200] = 255
    assert grid_of_plot(bare, BOX) is None
    assert data_change(bare, plot(2), BOX) is None


def test_lines_at_any_distance_are_no_grid():
    crossed = np.full((240, 340, 3), 255, np.uint8)
    crossed[[20, 31, 90, 110, 219], 20:320] = crossed[20:220, [20, 40, 150, 171, 319]] = 200
    assert grid_of_plot(crossed, BOX) is None


def test_a_table_of_filled_cells_is_no_plot():
    filled = plot(1)
    for number, level in enumerate((60, 120, 180)):
        filled[22:218, 22 + 99 * number : 119 + 99 * number] = level
    assert grid_of_plot(filled, BOX) is None
