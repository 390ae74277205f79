"""Data of a plot that is drawn thicker or thinner."""

import numpy as np
import pytest

from whatchanged.answers.drawn_thicker import with_thickness
from whatchanged.measured import Statement
from whatchanged.measured.pixels.reading import Pixels

BOX = (0, 0, 200, 200)


def _line(half: int, bumps: float = 1.0) -> Pixels:
    """Draw a curve of twice this thickness."""
    picture = np.full((200, 200, 3), 255, np.uint8)
    for column in range(200):
        row = round(100 + 50 * np.sin(bumps * column / 30))
        picture[row - half : row + half, column] = (30, 60, 220)
    return picture


def _told(before: Pixels, after: Pixels) -> str:
    """Return the sentence of a pair that shows other data on the same axes."""
    values = {"aspect": "data", "same_axes": True}
    first = Statement("replaced", BOX, BOX, "The plot shows other data.", 0.5, values=values)
    return with_thickness([first], (before, after))[0].sentence


@pytest.mark.parametrize(("sizes", "word"), [((1, 3), "thicker or larger"), ((3, 1), "thinner or smaller")])
def test_the_same_data_is_drawn_thicker_or_thinner(sizes: tuple[int, int], word: str) -> None:
    before, after = (_line(size) for size in sizes)
    assert _told(before, after) == f"What is drawn in the plot became {word}."


def test_other_data_stays_other_data() -> None:
    assert _told(_line(1), _line(3, bumps=2)) == "The plot shows other data."
