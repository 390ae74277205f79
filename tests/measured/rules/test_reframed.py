import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatchanged.measured import measure
from whatchanged.measured.rules.reframed import reframed_text

GROUND = 244


def framed(width, height, left, top, contents):
    """Contents on even ground, cut off where they reach beyond the picture."""
    large = np.full((height + 400, width + 400, 3), GROUND, np.uint8)
    rows, columns = contents.shape[:2]
    large[200 + top : 200 + top + rows, 200 + left : 200 + left + columns] = contents
    return large[200 : 200 + height, 200 : 200 + width].copy()


def contents():
    """Blocks of several colours and lengths, unlike each other."""
    made = np.full((105, 90, 3), GROUND, np.uint8)
    for row, (start, stop) in enumerate(((0, 80), (10, 90), (4, 31), (40, 77))):
        made[32 * row : 32 * row + 9, start:stop] = (40 * row, 90, 200 - 30 * row)
    return made


@given(st.integers(5, 40), st.integers(5, 40), st.integers(-30, 30), st.integers(-30, 30))
@settings(max_examples=25, deadline=None)
def test_contents_that_stand_elsewhere_in_another_frame(left, top, dx, dy):
    before = framed(170, 180, left, top, contents())
    after = framed(190, 165, left + dx, top + dy, contents())
    text = reframed_text(before, after, 1.0)
    wider, lower = 20 - dx, -15 - dy  # what the right and the bottom gained
    if left + dx < 0 or top + dy < 0:
        return  # cut off: where it stood cannot always be known
    assert text is not None
    margins = (dx, dy, wider, lower)
    if all(one >= 0 for one in margins):
        assert "extended" in text
    elif all(one <= 0 for one in margins):
        assert "cropped" in text
    else:
        moves = [f"{'right' if dx > 0 else 'left'} by {abs(dx)} pixel"] if dx else []
        moves += [f"{'down' if dy > 0 else 'up'} by {abs(dy)} pixel"] if dy else []
        assert all(move in text for move in moves)


def test_the_sentence_names_both_sizes_and_the_move():
    answer = measure(framed(200, 300, 0, 100, contents()), framed(348, 207, 13, 39, contents()))
    assert answer.sentence == (
        "The picture's size changed from 200 x 300 to 348 x 207 pixels, which moved its contents right by "
        "13 pixels and up by 61 pixels."
    )


def test_contents_that_an_edge_cuts_off_are_told_as_cropped():
    answer = measure(framed(200, 300, 20, 70, contents()), framed(180, 70, 10, 20, contents()))
    assert answer.sentence == (
        "The picture was cropped from 200 x 300 to 180 x 70 pixels: 50 pixels at the top, 180 pixels at "
        "the bottom, 10 pixels at the left, 10 pixels at the right."
    )


@pytest.mark.parametrize("change", ["color", "ground", "one side"])
def test_anything_else_is_not_told_so(change):
    other = contents()
    if change == "color":
        other[:9, :80] = (200, 30, 30)
    after = framed(230, 200 if change == "one side" else 180, 33, 30, other)
    if change == "ground":
        after[(after == GROUND).all(axis=2)] = (200, 220, 255)
    assert reframed_text(framed(200, 200, 20, 70, contents()), after, 1.0) is None
