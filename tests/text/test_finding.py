"""Lines of text found in drawn pictures."""

import numpy as np
import pytest
from PIL import Image, ImageDraw
from support.drawn_lines import box_of, drawn, page

from whatchanged.measured.pixels.boxes import iou
from whatchanged.text.finding import find_lines


def whole(picture):
    return (0, 0, picture.shape[1], picture.shape[0])


@pytest.mark.parametrize(
    ("colour", "ground"), [("black", "white"), ("#dddddd", "#20242c"), ("white", "#1a73e8"), ("#777", "#fff")]
)
def test_a_line_on_any_ground(colour, ground):
    (found,) = find_lines(drawn("Total 17.5 kg", colour, ground), (0, 0, 420, 64))
    assert iou(found, box_of("Total 17.5 kg")) > 0.8


def test_lines_one_below_the_other_and_columns_of_a_table():
    lines = (("First line", (20, 20)), ("Second", (20, 48)), ("Status", (300, 48)))
    picture = page(*lines)
    found = find_lines(picture, whole(picture))
    assert len(found) == 3
    assert all(max(iou(one, box_of(*line)) for one in found) > 0.7 for line in lines)


def test_the_outline_of_a_button_is_no_part_of_its_words():
    image = Image.fromarray(page(("Save", (40, 40))))
    ImageDraw.Draw(image).rounded_rectangle((24, 30, 110, 70), 6, outline="black")
    picture = np.asarray(image)
    (found,) = find_lines(picture, whole(picture))
    assert iou(found, box_of("Save", (40, 40))) > 0.7


def test_rules_fills_and_small_parts_hold_no_lines():
    picture = page(boxes=[((20, 20, 400, 22), "black"), ((100, 100, 300, 250), "blue")])
    assert find_lines(picture, whole(picture)) == []
    assert find_lines(picture, (5, 5, 8, 8)) == []


def test_only_what_lies_in_the_window():
    picture = page(("First", (20, 20)), ("Second", (20, 200)))
    (found,) = find_lines(picture, (0, 180, 640, 400))
    assert iou(found, box_of("Second", (20, 200))) > 0.7
