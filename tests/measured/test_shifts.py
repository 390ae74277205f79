import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.shifts import novel

GROUND, FILL, FRAME, ICON = 255, 220, 90, 20


def card(gap=0):
    """A framed card with a bar in it; ``gap`` more rows above the bar."""
    pixels = np.full((90, 120, 3), GROUND, np.uint8)
    bottom = 50 + gap
    pixels[10:bottom, 10:110] = FILL
    pixels[10:bottom, [10, 109]] = FRAME
    pixels[[10, bottom - 1], 10:110] = FRAME
    pixels[30 + gap : 36 + gap, 20:100] = FRAME
    return pixels


@pytest.mark.parametrize("axis", [0, 1])
def test_only_what_neither_neighbour_shows_is_novel(axis):
    pixels = card(20)
    pixels[32:46, 24:38] = ICON
    pixels, lines, icon = (
        (pixels, (0, 30, 120, 50), (24, 32, 38, 46))
        if axis == 0
        else (pixels.swapaxes(0, 1), (30, 0, 50, 120), (32, 24, 46, 38))
    )
    assert novel(pixels, lines, axis) == icon
    assert novel(card(20) if axis == 0 else card(20).swapaxes(0, 1), lines, axis) is None


def test_an_icon_that_pushes_the_rest_of_a_card_is_what_was_added():
    after = card(20)
    after[14:28, 24:38] = ICON
    first = measure(card(), after).statements[0]
    left, top, right, bottom = first.box_after
    assert first.kind == "added"
    assert 24 <= (left + right) / 2 < 38
    assert 14 <= (top + bottom) / 2 < 28
