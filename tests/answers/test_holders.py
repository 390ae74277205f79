"""What holds words, in pictures drawn here."""

import numpy as np
import pytest

from whatchanged.answers.holders import is_button

BOX = (100, 40, 220, 80)
LINE = (130, 52, 190, 66)


def page(color=(20, 90, 200), box=BOX):
    """A filled box in a white picture."""
    picture = np.full((120, 400, 3), 255, np.uint8)
    picture[box[1] : box[3], box[0] : box[2]] = color
    return picture


def test_a_filled_box_with_a_line_in_its_middle_is_a_button():
    assert is_button(page(), BOX, [LINE])


@pytest.mark.parametrize(
    ("picture", "box", "lines"),
    [
        (page((250, 250, 250)), BOX, [LINE]),
        (page(), BOX, []),
        (page(), BOX, [LINE, (130, 68, 190, 78)]),
        (page(), BOX, [(104, 52, 164, 66)]),
        (page(box=(0, 40, 390, 80)), (0, 40, 390, 80), [(165, 52, 225, 66)]),
        (page(box=(100, 20, 220, 110)), (100, 20, 220, 110), [(130, 58, 190, 72)]),
        (page(), BOX, [(103, 52, 217, 66)]),
    ],
    ids=["hardly seen", "no words", "two lines", "to the left", "a long bar", "too high", "no room"],
)
def test_what_is_no_button(picture, box, lines):
    assert not is_button(picture, box, lines)
