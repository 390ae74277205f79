"""Nouns for what has no name, of things drawn here."""

import numpy as np
import pytest

from whatchanged.measured.amounts.look import look_in_both, look_of, look_of_all

RED = (220, 20, 20)


def page(*things):
    """Filled boxes, each with its colour, in a white picture of 200 x 100 pixels."""
    picture = np.full((100, 200, 3), 255, np.uint8)
    for (left, top, right, bottom), color in things:
        picture[top:bottom, left:right] = color
    return picture


CROSS = [((40, 20, 80, 60), (255, 255, 255)), ((52, 20, 68, 60), RED), ((40, 32, 80, 48), RED)]


@pytest.mark.parametrize(
    ("things", "box", "look"),
    [
        ([((40, 20, 80, 60), RED)], (40, 20, 80, 60), "red area"),
        (CROSS, (40, 20, 80, 60), "red shape"),
        ([((40, 20, 120, 22), (0, 0, 0))], (40, 20, 120, 22), "black line"),
        ([], (40, 20, 80, 60), None),
        ([((20, 40, 120, 52), RED)], (20, 40, 120, 52), "red bar"),
        ([((40, 20, 80, 60), RED), ((44, 24, 76, 56), (255, 255, 255))], (40, 20, 80, 60), "red frame"),
        ([((40, 20, 80, 60), (0, 0, 0)), ((44, 24, 76, 60), (255, 255, 255))], (40, 20, 80, 60), None),
    ],
)
def test_a_thing_of_one_colour(things, box, look):
    assert look_of(page(*things), box) == look


def test_the_colour_is_left_out_where_it_changed():
    box = (40, 20, 80, 60)
    before, after = page((box, RED)), page((box, (0, 0, 200)))
    assert look_in_both(before, after, box, box) is None
    assert look_in_both(before, after, box, box, colored=False) == "area"


def test_a_photograph_is_a_picture():
    picture = page()
    picture[20:90, 40:120] = np.random.default_rng(0).integers(0, 256, (70, 80, 3))
    assert look_of(picture, (40, 20, 120, 90)) == "picture"


def test_several_pieces_in_a_row_may_be_letters():
    pieces = [((40 + 12 * k, 20, 48 + 12 * k, 34), (0, 0, 0)) for k in range(5)]
    assert look_of(page(*pieces), (40, 20, 96, 34)) is None


def test_alike_things_have_one_look():
    boxes = [(20, 20, 40, 40), (60, 20, 80, 40)]
    assert look_of_all(page(*((box, RED) for box in boxes)), boxes) == "red area"
    assert look_of_all(page((boxes[0], RED), (boxes[1], (0, 0, 0))), boxes) is None


@pytest.mark.parametrize(("inner", "look"), [(0, "red circle"), (14, "red ring")])
def test_what_is_round(inner, look):
    picture = page()
    rows, columns = np.ogrid[:100, :200]
    away = np.hypot(rows - 49.5, columns - 99.5)
    picture[(away <= 20) & (away >= inner)] = RED
    assert look_of(picture, (80, 30, 120, 70)) == look


def over_a_grid(*curves):
    """Thin curves, each of a colour, over grey grid lines."""
    picture = page()
    picture[30::40, 10:190] = 200
    for color, height in curves:
        for column in range(10, 190):
            row = 50 + round(height * np.sin(column / 12))
            picture[row - 2 : row + 2, column] = color
    return picture


def test_a_curve_over_a_grid_is_a_line_of_its_colour():
    box = (10, 10, 190, 91)
    assert look_of(over_a_grid((RED, 30)), box) == "red line"
    assert look_of(over_a_grid((RED, 30)), box, colored=False) is None
    assert look_of(over_a_grid((RED, 30), ((0, 0, 200), -30)), box) is None


@pytest.mark.parametrize(("half_width", "look"), [(60, "red ellipse"), (34, "red ring")])
@pytest.mark.parametrize("grid", [False, True])
def test_a_closed_curve_is_no_line(half_width, look, grid):
    picture = page()
    if grid:
        picture[30::40, 10:190] = 200
    rows, columns = np.ogrid[:100, :200]
    away = np.hypot((rows - 49.5) / 34.5, (columns - 99.5) / (half_width + 0.5))
    picture[(away <= 1) & (np.hypot((rows - 49.5) / 31.5, (columns - 99.5) / (half_width - 2.5)) >= 1)] = RED
    assert look_of(picture, (100 - half_width, 15, 100 + half_width, 85)) == look
