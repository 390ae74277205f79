import numpy as np
import pytest

from whatchanged.measured.pixels import scales
from whatchanged.measured.pixels.gate import visibility
from whatchanged.measured.pixels.scales import find_scale
from whatchanged.measured.rules.changes import detect_changes
from whatchanged.measured.rules.ranking import in_words

HEIGHTS = (90, 150, 60, 120)


def plot(heights, unit=1.0, mark=1.0, ground=255):
    """Four bars in a frame of 240 x 180, with the marks of its axis on the left, ``mark`` bars apart."""
    pixels = np.full((240, 320, 3), ground, np.uint8)
    pixels[20:200, 50] = pixels[20:200, 289] = pixels[20, 50:290] = pixels[199, 50:290] = 0
    for k, height in enumerate(heights):
        top = 199 - round(height * unit)
        pixels[top:199, 70 + 50 * k : 100 + 50 * k] = (40, 90, 200)
    for k in range(1, 6):
        row = 199 - round(30 * k * mark)
        if row > 22:
            pixels[row : row + 2, 40:50] = 0
            pixels[row - 3 : row + 4, 20 : 26 + 3 * k] = 0
    return pixels


def scale_of(before, after):
    return find_scale(before, after, visibility(before, after).visible(1.0))


@pytest.mark.parametrize("factor", [0.6, 0.85, 1.1])
def test_the_factor_of_an_axis_that_covers_another_range(factor):
    found = scale_of(plot(HEIGHTS), plot(HEIGHTS, factor, factor))
    assert found.axis == 0
    assert found.factor == pytest.approx(factor, abs=0.02)
    np.testing.assert_allclose(found.frame, (49, 19, 290, 200), atol=2)
    assert found.marks[2] <= 51


def test_across_as_well():
    before, after = (np.ascontiguousarray(plot(HEIGHTS, f, f).transpose(1, 0, 2)) for f in (1.0, 0.7))
    found = scale_of(before, after)
    assert found.axis == 1
    assert found.factor == pytest.approx(0.7, abs=0.02)


def test_one_bar_that_grew_with_the_range_of_its_axis_is_told_as_one_change():
    before = plot(HEIGHTS)
    after = plot((90, 225, 60, 120), 2 / 3, 2 / 3)  # the second one is as high as before, the others are not
    changes = detect_changes(before, after, visibility(before, after), 1.0)
    (first,) = in_words(changes, (after.shape[1], after.shape[0]))
    assert (first.kind, first.values["aspect"]) == ("moved", "axis limit")
    assert first.values["factor"] == pytest.approx(2 / 3, abs=0.02)
    assert "squeezed to about 66 % of its height" in first.sentence


def test_one_bar_that_grew_alone_is_no_other_range():
    before = plot(HEIGHTS)
    assert scale_of(before, plot((90, 150, 110, 120))) is None


def test_without_marks_that_moved_it_is_no_other_range():
    assert scale_of(plot(HEIGHTS), plot(HEIGHTS, 0.7)) is None


def test_without_straight_lines_there_is_no_frame():
    before = np.full((200, 200, 3), 255, np.uint8)
    before[10::40, 10::40] = 0
    assert scales._frame(before, np.roll(before, 5, axis=0), (0, 0, 200, 200)) is None


def test_lines_come_from_where_a_stretch_has_them():
    assert scales._sources(4, 0.0, 8.0).tolist() == [0, 0, 1, 1]
    assert scales._sources(4, 2.0, 4.0).tolist() == [-3, -1, 1, 3]


def test_what_fits_better_in_place_stays():
    one = np.array([[0.0, 5.0], [8.0, 5.0]])
    other = np.array([[0.0, 5.0], [0.0, 5.0]])
    in_place = scales._unlike(one, other, 0.0, 2.0)
    assert in_place.tolist() == [8.0, 0.0]
    assert scales._gain(one, other, in_place, (2.0, 4.0)) == 8.0  # both lines are outside: all is ground
