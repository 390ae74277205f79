"""What became of colours, drawn with a known truth."""

import numpy as np
import pytest
from support.drawn_text import draw, page, text

from whatchanged.measured.amounts.color import fill_change, fringed_ink, ink_step, opacity_change

BOX = (20, 10, 140, 90)


def faded(picture, part, ground=255):
    """The picture with this part of every step from the ground left."""
    return (ground + part * (picture.astype(float) - ground)).round().astype(np.uint8)


def sign(colors=((200, 30, 30), (30, 30, 200))):
    """Two areas of two colours."""
    left, right = colors
    one = draw(page(), rectangle=((20, 10, 79, 89), {"fill": left}))
    return draw(one, rectangle=((80, 10, 139, 89), {"fill": right}))


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8])
def test_what_faded_and_what_became_opaque(part):
    finding = opacity_change(sign(), faded(sign(), part), BOX)
    assert (finding.aspect, finding.values["towards"]) == ("opacity", "light")
    assert finding.values["amount_after"] == pytest.approx(part, abs=0.02)
    back = opacity_change(faded(sign(), part), sign(), BOX)
    assert back.values["amount_before"] == pytest.approx(part, abs=0.02)


def test_a_dark_veil_dims():
    finding = opacity_change(sign(), faded(sign(), 0.5, ground=0), (0, 0, 160, 100))
    assert finding.values["towards"] == "dark"


@pytest.mark.parametrize(
    "after",
    [
        sign(((30, 200, 30), (30, 30, 200))),
        sign(((30, 30, 200), (200, 30, 30))),
        faded(sign(), 0.01),
    ],
)
def test_another_colour_or_nothing_left_is_no_opacity(after):
    assert opacity_change(sign(), after, BOX) is None


def test_of_one_colour_nobody_knows_whether_it_faded():
    plain = sign(((200, 30, 30), (200, 30, 30)))
    assert opacity_change(plain, faded(plain, 0.5), BOX) is None


def test_a_fill_behind_the_same_text():
    box = (0, 0, 260, 48)
    finding = fill_change(text(), text(ground=(225, 240, 255)), box)
    assert finding.values == {"color_before": "#ffffff", "color_after": "#e1f0ff"}
    assert fill_change(text(), text("Other words by far", ground=(225, 240, 255)), box) is None
    assert fill_change(text(), text(color=(200, 20, 20)), box) is None


def fringed(level):
    """Upright strokes of this grey on white, drawn by sub-pixels: warm at one edge, cold at the other."""
    picture = np.full((40, 120, 3), 255, np.uint8)
    for left in range(10, 110, 8):
        picture[10:30, left] = (255, 255 - (255 - level) // 2, level)
        picture[10:30, left + 1 : left + 3] = level
        picture[10:30, left + 3] = (level, 255 - (255 - level) // 2, 255)
    return picture


@pytest.mark.parametrize("level", [0, 80])
def test_letters_with_coloured_fringes_have_the_colour_of_their_strokes(level):
    color = fringed_ink(fringed(level), (5, 5, 115, 35))
    assert color is not None and max(abs(channel - level) for channel in color) <= 12


def test_ink_without_fringes_has_none():
    picture = np.full((40, 120, 3), 255, np.uint8)
    picture[10:30, 10:110:5] = (200, 30, 30)
    assert fringed_ink(picture, (5, 5, 115, 35)) is None


def crossed(color, ground=(255, 255, 255)):
    """A cross of one colour over a black line that stays, on one ground."""
    one = draw(
        np.full((100, 160, 3), ground, np.uint8), line=([(20, 80), (139, 80)], {"fill": 0, "width": 4})
    )
    one = draw(one, line=([(30, 20), (90, 70)], {"fill": color, "width": 6}))
    return draw(one, line=([(90, 20), (30, 70)], {"fill": color, "width": 6}))


def test_the_colours_of_what_differs():
    codes = ink_step(crossed((30, 30, 200)), crossed((200, 30, 30)), BOX)
    assert codes == {"color_before": "#1e1ec8", "color_after": "#c81e1e"}


@pytest.mark.parametrize(
    "after",
    [crossed((30, 30, 200)), crossed((60, 60, 250)), crossed((200, 30, 30), (240, 240, 240)), page()],
)
def test_ink_without_another_colour(after):
    assert ink_step(crossed((30, 30, 200)), after, BOX) == {}
