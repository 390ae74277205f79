"""Pictures that only gained or lost empty space."""

import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.rules.space import space_text


def card(height=60, width=80, top=10, colour=(30, 90, 200)):
    """A filled box on white, ``top`` pixels from the upper edge."""
    picture = np.full((height, width, 3), 255, np.uint8)
    picture[top : top + 20, 20:50] = colour
    return picture


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (card(), card(68), "8 pixels taller, 68 instead of 60, with more empty space at the bottom"),
        (card(68), card(), "8 pixels shorter, 60 instead of 68, with less empty space at the bottom"),
        (card(), card(63, top=13), "3 pixels taller, 63 instead of 60, with more empty space at the top"),
        (card(), card(width=81), "1 pixel wider, 81 instead of 80, with more empty space at the right"),
    ],
)
def test_space_at_an_edge(before, after, told):
    assert space_text(before, after) == f"the picture became {told}"
    assert measure(before, after).sentence == f"The picture became {told}."


def test_space_between_two_things():
    before = np.concatenate([card(), card()])
    after = np.concatenate([card(), np.full((5, 80, 3), 255, np.uint8), card()])
    assert (
        space_text(before, after)
        == "the picture became 5 pixels taller, 125 instead of 120, with more empty space"
    )


@pytest.mark.parametrize(
    "after",
    [
        card(),  # equal sizes
        card(68, 90),  # both sides
        card(68, colour=(30, 90, 201)),  # another colour
        np.concatenate([card(), card(top=20)[18:26]]),  # the new lines show a part of a box
        np.concatenate([card(), card()[12:13]]),  # so does a single one
    ],
)
def test_anything_else_is_no_empty_space(after):
    assert space_text(card(), after) is None
