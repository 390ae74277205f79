"""Parts of a drawing that come or go, and how strongly it is drawn, in pictures of which that is known."""

import numpy as np
import pytest

from whatchanged.measured.amounts.drawing import drawing_change, separate_parts

BOX = (20, 20, 80, 60)


def ring(level, thick=2):
    """A frame of this grey in a white picture."""
    picture = np.full((80, 100, 3), 255, np.uint8)
    picture[20:60, 20:80] = level
    picture[20 + thick : 60 - thick, 20 + thick : 80 - thick] = 255
    return picture


def with_bar(picture):
    copy = picture.copy()
    copy[38:42, 30:70] = 0
    return copy


@pytest.mark.parametrize("gained", [True, False])
def test_a_part_that_comes_or_goes(gained):
    pictures = ring(0), with_bar(ring(0))
    one, other = pictures if gained else pictures[::-1]
    finding = drawing_change(one, other, BOX)
    assert (finding.kind, finding.aspect) == ("added" if gained else "removed", "thing")


@pytest.mark.parametrize(("was", "now", "stronger"), [(120, 220, False), (220, 120, True)])
def test_how_strongly_it_is_drawn(was, now, stronger):
    finding = drawing_change(ring(was), ring(now), BOX)
    assert (finding.kind, finding.aspect) == ("recolored", "contrast")
    assert (finding.values["amount_after"] > 1) is stronger


@pytest.mark.parametrize(("gained", "kind"), [(True, "added"), (False, "removed")])
def test_all_of_a_drawing_came_or_went(gained, kind):
    empty = np.full((80, 100, 3), 255, np.uint8)
    empty[25:28, 25:30] = 0
    pictures = empty, with_bar(empty)
    one, other = pictures if gained else pictures[::-1]
    assert drawing_change(one, other, BOX).kind == kind


def test_another_thing_is_neither():
    one, other = ring(255), ring(255)
    one[30:40, 30:40] = 0
    other[45:55, 60:70] = 0
    assert drawing_change(one, other, BOX) is None


def test_what_fills_the_box_is_no_part():
    filled = ring(0).copy()
    filled[20:60, 20:80] = 90
    assert drawing_change(ring(255), filled, BOX) is None


def test_another_ground_tells_nothing():
    dark = with_bar(ring(0))
    dark[dark == 255] = 40
    assert drawing_change(ring(0), dark, BOX) is None


@pytest.mark.parametrize("word", [True, False])
def test_another_fill_behind_the_same_content_is_no_part(word):
    before = ring(0)
    if word:
        before[30:34, 30:34] = before[30:34, 38:50] = 20
    after = before.copy()
    after[25:40, 25:60][(after[25:40, 25:60] == 255).all(axis=2)] = 230
    finding = drawing_change(before, after, BOX)
    if word:
        assert (finding.kind, finding.aspect) == ("recolored", "fill")
        assert finding.values == {"color_before": "#ffffff", "color_after": "#e6e6e6"}
    else:
        assert (finding.kind, finding.aspect) == ("added", "thing")


SQUARES = [(24, 24, 34, 34), (60, 40, 70, 50)]


def with_squares(*boxes):
    picture = np.full((80, 100, 3), 255, np.uint8)
    for left, top, right, bottom in boxes:
        picture[top:bottom, left:right] = 0
    return picture


@pytest.mark.parametrize("came", [True, False])
def test_parts_on_bare_ground(came):
    pictures = with_squares(), with_squares(*SQUARES)
    one, other = pictures if came else pictures[::-1]
    assert separate_parts(one, other, BOX, came) == tuple(SQUARES)


def test_a_part_that_touches_other_content_may_be_that_content():
    before, after = with_squares((34, 20, 40, 60)), with_squares((34, 20, 40, 60), *SQUARES)
    assert separate_parts(before, after, BOX, came=True) == ()


def test_a_part_that_covers_other_content_is_none():
    assert separate_parts(with_squares((26, 26, 30, 30)), with_squares(*SQUARES), BOX, came=True) == ()
