"""What came or went, drawn with a known truth."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from support.drawn_text import draw, page, text

from whatchanged.measured.amounts.content import grid_change, is_dialog, read_content


def lines(count, words="Settings and reports"):
    """Lines of text below one another."""
    return np.concatenate([text(words, canvas=(260, 30), at=(20, 6)) for _ in range(count)])


@pytest.mark.parametrize(("count", "element"), [(1, "text"), (2, "line of text"), (4, "line of text")])
def test_lines_of_text_are_counted(count, element):
    content = read_content(lines(count), (0, 0, 260, 30 * count))
    assert (content.element, content.number) == (element, count)


def table(rows):
    """Rows of three cells."""
    picture = Image.new("RGB", (300, 30 * rows), "white")
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(14)
    for row in range(rows):
        for column, words in enumerate(("Apples", "Germany", "12.50")):
            pen.text((10 + 100 * column, 30 * row + 7), words + str(row), fill="black", font=font)
    return np.array(picture)


def test_a_row_of_a_table_stands_as_those_beside_it():
    content = read_content(table(4), (0, 60, 300, 90))
    assert (content.element, content.number) == ("row", 1)
    alone = table(1)
    below = np.concatenate([alone, np.full((60, 300, 3), 255, np.uint8)])
    assert read_content(below, (0, 0, 300, 30)).element == "text"


def test_alike_things_are_counted_and_have_a_box_each():
    picture = page((300, 60))
    for left in (10, 80, 150, 220):
        picture = draw(picture, ellipse=((left, 15, left + 29, 44), {"outline": (200, 90, 30), "width": 4}))
    content = read_content(picture, (0, 0, 300, 60))
    assert content.number == 4
    assert [box[2] - box[0] for box in sorted(content.boxes)] == pytest.approx([30] * 4, abs=8)


@pytest.mark.parametrize("size", [(50, 50), (60, 40)])
def test_a_photograph_is_nothing_of_these(size):
    noise = np.random.default_rng(1).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    assert read_content(noise, (0, 0, *size)) is None


def plot(grid):
    """A curve on a white ground, with a grid where it is wanted."""
    picture = page((200, 160))
    if grid:
        for place in range(20, 160, 30):
            picture[place, 10:190] = picture[5:155, place + 10] = (210, 210, 210)
    return draw(picture, line=([(10, 140), (80, 60), (190, 30)], {"fill": (30, 90, 200), "width": 2}))


@pytest.mark.parametrize("on", [True, False])
def test_a_grid_came_or_went_behind_a_curve(on):
    assert grid_change(plot(not on), plot(on), (0, 0, 200, 160)) is on


def test_other_curves_and_single_lines_are_no_grid():
    other = draw(page((200, 160)), line=([(10, 20), (190, 140)], {"fill": (30, 90, 200), "width": 2}))
    assert grid_change(plot(False), other, (0, 0, 200, 160)) is None
    ruled = plot(False)
    ruled[80, 10:190] = 0
    assert grid_change(plot(False), ruled, (0, 0, 200, 160)) is None


def test_a_dialog_over_text():
    before = np.concatenate([lines(4), lines(4)], axis=1)  # 520 x 120
    box = (160, 20, 360, 100)
    after = draw(before, rectangle=((160, 20, 359, 99), {"fill": "white", "outline": (90, 90, 90)}))
    assert is_dialog(after, before, box)
    assert not is_dialog(before, after, box)


def test_a_field_over_text_is_too_low_for_a_dialog():
    before = np.concatenate([lines(4), lines(4)], axis=1)
    box = (160, 20, 360, 60)
    after = draw(before, rectangle=((160, 20, 359, 59), {"fill": "white", "outline": (90, 90, 90)}))
    assert not is_dialog(after, before, box)


def test_a_frame_that_was_there_before_is_no_dialog():
    framed = draw(page((520, 120)), rectangle=((160, 20, 359, 99), {"outline": (90, 90, 90)}))
    other = draw(framed, line=([(170, 90), (340, 30)], {"fill": "red", "width": 3}))
    assert not is_dialog(other, framed, (160, 20, 360, 100))
