"""Things around a difference, on pictures drawn by hand."""

import numpy as np
import pytest

from whatchanged.measured.rules.things import Ink, spread

SIZE = (0, 0, 120, 80)


def page() -> np.ndarray:
    """Two words of two letters on a line, a third word far below, inside a thin frame."""
    pixels = np.full((80, 120, 3), 255, np.uint8)
    for left in (20, 27, 42, 49):  # letters of 5 pixels; 2 between letters, 10 between words
        pixels[20:28, left : left + 5] = 0
    pixels[50:58, 20:25] = 0
    pixels[5, 5:115] = pixels[74, 5:115] = 0
    pixels[5:75, 5] = pixels[5:75, 114] = 0
    return pixels


@pytest.mark.parametrize(
    ("thing", "box"), [("word", (20, 20, 32, 28)), ("line", (20, 20, 54, 28)), ("upright", (20, 20, 32, 28))]
)
def test_a_letter_belongs_to_its_word_and_its_line(thing, box):
    assert Ink(page(), SIZE).around((18, 18, 26, 24), thing) == box


def test_lines_far_apart_are_of_other_blocks():
    ink = Ink(page(), SIZE)
    assert ink.around((18, 18, 26, 24), "block") == (20, 20, 54, 28)
    assert ink.around((18, 48, 22, 52), "block") == (20, 50, 25, 58)


def test_frames_and_rules_join_nothing():
    ink = Ink(page(), SIZE)
    assert ink.around((0, 0, 120, 12), "block") is None
    assert ink.inside((0, 0, 120, 80)) == (20, 20, 54, 58)


def test_without_ink_there_is_no_thing():
    assert Ink(page(), SIZE).inside((60, 30, 110, 70)) is None


def test_a_part_of_a_picture_has_the_same_things_at_the_same_places():
    assert Ink(page(), (10, 10, 70, 40)).around((18, 18, 26, 24), "word") == (20, 20, 32, 28)


def test_a_colour_is_followed_to_where_it_ends():
    pixels = np.full((80, 120, 3), 255, np.uint8)
    pixels[30:70, 40:60] = 90  # a bar
    assert spread(pixels, (42, 30, 58, 36), (90, 90, 90), widest=False) == (40, 30, 60, 70)


def test_a_frame_is_found_past_the_letters_in_the_way():
    pixels = page()
    assert spread(pixels, (25, 15, 60, 40), (255, 255, 255), widest=True) == (6, 6, 114, 74)
