"""Several colours that turn to others at once."""

import numpy as np

from whatchanged.measured.amounts.palette import palette_change

BOX = (10, 10, 150, 50)
BLUE, RED, GREEN, ORANGE = (0, 90, 200), (210, 20, 20), (20, 140, 40), (250, 140, 0)


def swatches(*colors):
    """Squares of these colours side by side in a white picture."""
    picture = np.full((60, 160, 3), 255, np.uint8)
    for number, color in enumerate(colors):
        picture[15:45, 15 + 45 * number : 45 + 45 * number] = color
    return picture


def test_each_pair_of_colours_is_told():
    finding = palette_change(swatches(BLUE, RED, BLUE), swatches(GREEN, ORANGE, GREEN), BOX)
    assert finding.values["colors"] == [["#005ac8", "#148c28"], ["#d21414", "#fa8c00"]]


def test_one_colour_that_turns_to_several_is_told_without_them():
    finding = palette_change(swatches(BLUE, BLUE, BLUE), swatches(GREEN, ORANGE, RED), BOX)
    assert finding.aspect == "palette"
    assert finding.values == {"colors": [], "color_before": "#005ac8"}


def test_several_colours_that_turn_to_several_have_no_common_one():
    finding = palette_change(swatches(BLUE, BLUE, RED), swatches(GREEN, ORANGE, BLUE), BOX)
    assert finding.values == {"colors": []}


def test_one_step_is_no_palette():
    assert palette_change(swatches(BLUE, BLUE, BLUE), swatches(GREEN, GREEN, GREEN), BOX) is None


def test_shades_of_one_name_are_one_step():
    darker = tuple(level - 30 if level > 30 else level for level in BLUE)
    assert palette_change(swatches(BLUE, BLUE, RED), swatches(darker, darker, RED), BOX) is None
