"""What explains a change that looks only different, in pictures of which that is known."""

import numpy as np
import pytest
from support.drawn_text import draw, page, text

from whatchanged.measured.amounts.redrawn import (
    came_or_went,
    moved_drawing,
    only_outlines,
    recolored_drawing,
)
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

BOX = (10, 10, 150, 90)
GRADIENT = np.linspace(40, 200, 100).astype(np.uint8)


def unclear(box, kind="replaced", aspect="part"):
    """A change of which the rules found only that it looks different."""
    return DetectedChange(Finding(kind, aspect, 0.3), box, box, 100)


def with_gradient(levels):
    """A frame whose area has these levels of red from left to right."""
    picture = draw(page(), rectangle=((28, 28, 131, 71), {"outline": (0, 0, 0), "width": 2}))
    picture[30:70, 30:130] = 30
    picture[30:70, 30:130, 0] = levels
    return picture


def test_a_gradient_that_was_turned_round_took_other_colours():
    one, other = with_gradient(GRADIENT), with_gradient(GRADIENT[::-1])
    found = recolored_drawing(unclear(BOX), one, other, BOX)
    assert (found.finding.kind, found.finding.values) == ("recolored", {"colors": []})


def test_one_colour_is_told_where_there_is_one():
    found = recolored_drawing(unclear(BOX), with_gradient(60), with_gradient(160), BOX)
    assert found.finding.values == {"color_before": "#3c1e1e", "color_after": "#a01e1e"}


@pytest.mark.parametrize("darker", [False, True])
def test_faces_of_which_one_became_darker_did_not_all_become_lighter(darker):
    """A quarter of the columns became darker, or lighter like the others."""
    one, other = (np.full(100, level, np.uint8) for level in (110, 180))
    one[:25], other[:25] = (190, 100) if darker else (30, 100)
    found = recolored_drawing(unclear(BOX), with_gradient(one), with_gradient(other), BOX)
    assert ("color_after" in found.finding.values) is not darker


def test_other_edges_are_more_than_other_colours():
    other = with_gradient(160)
    other[45:55, 60:70] = 255
    shape = unclear(BOX, "restyled", "shape")
    assert recolored_drawing(shape, with_gradient(60), other, BOX) is None


def test_a_text_that_moved_and_is_drawn_bolder():
    canvas = (420, 120)
    one = text("Lorem ipsum dolor sit amet, consectetur", at=(20, 40), canvas=canvas)
    other = text("Lorem ipsum dolor sit amet, consectetur", at=(24.4, 21), bold=True, canvas=canvas)
    box = (10, 10, 410, 110)
    found = moved_drawing(unclear(box), one, other, box)
    assert found.finding.kind == "moved"
    assert abs(found.finding.values["dx"] - 4) <= 1 and found.finding.values["dy"] == -19


@pytest.mark.parametrize(
    "words", ["Quisque faucibus ex sapien vitae arcu", "Lorem ipsum dolor sit amet, consectetur"]
)
def test_other_words_or_the_same_place_are_no_movement(words):
    one = text("Lorem ipsum dolor sit amet, consectetur", at=(20, 40), canvas=(420, 120))
    other = text(words, at=(20.6, 40), canvas=(420, 120))
    box = (10, 10, 410, 110)
    assert moved_drawing(unclear(box), one, other, box) is None


@pytest.mark.parametrize("came", [True, False])
def test_a_legend_over_grid_lines(came):
    grid = page((300, 200))
    grid[40::40] = 225
    legend = draw(
        grid,
        rectangle=((80, 60, 220, 150), {"fill": "white", "outline": (190, 190, 190)}),
        line=([(90, 80), (140, 80)], {"fill": (200, 30, 30), "width": 6}),
        ellipse=((90, 100, 130, 140), {"fill": (30, 30, 200)}),
    )
    one, other = (grid, legend) if came else (legend, grid)
    box = (80, 60, 221, 151)
    found = came_or_went(unclear(box), one, other, box)
    assert found.finding.kind == ("added" if came else "removed")
    assert (found.box_before, found.box_after) == ((None, box) if came else (box, None))


def test_an_area_that_grew_did_not_appear():
    one = draw(page((300, 200)), rectangle=((80, 60, 220, 100), {"fill": (200, 30, 30)}))
    other = draw(page((300, 200)), rectangle=((80, 60, 220, 140), {"fill": (200, 30, 30)}))
    box = (80, 101, 221, 141)
    assert came_or_went(unclear(box), one, other, box) is None


def test_a_drawing_that_was_filled_did_not_appear():
    outline = draw(page((300, 200)), rectangle=((80, 40, 200, 160), {"outline": (30, 30, 30), "width": 6}))
    filled = draw(outline, rectangle=((87, 47, 193, 153), {"fill": (200, 30, 30)}))
    box = (80, 40, 201, 161)
    assert came_or_went(unclear(box), outline, filled, box) is None


@pytest.mark.parametrize(("inner", "recolored"), [(160, True), (255, False)])
def test_large_areas_took_other_colours_though_their_content_lost_its_contrast(inner, recolored):
    """What became a hole shows the background, and is more than another colour."""
    one = draw(page(), rectangle=((20, 20, 140, 80), {"fill": (200, 140, 20)}))
    one[35:65, 40:70] = (120, 60, 0)
    other = draw(page(), rectangle=((20, 20, 140, 80), {"fill": (160, 160, 160)}))
    other[35:65, 40:70] = inner
    found = recolored_drawing(unclear(BOX), one, other, BOX)
    assert (found is not None) is recolored


def test_fields_that_got_outlines_are_restyled():
    before = page((400, 200))
    before[20:60, 20:380] = before[100:160, 20:380] = 248
    after = before.copy()
    for top, bottom in ((20, 60), (100, 160)):
        after = draw(after, rectangle=((20, top, 379, bottom - 1), {"outline": (180, 180, 180)}))
    box = (20, 20, 380, 160)
    assert only_outlines(before, after, box)
    after[70:90, 40:60] = 0
    assert not only_outlines(before, after, box)


def test_a_recoloured_text_keeps_its_colours_where_several_are_drawn():
    codes = {"color_before": "#404040", "color_after": "#101010"}
    change = DetectedChange(Finding("recolored", "ink", 0.6, codes), BOX, BOX, 100)
    assert recolored_drawing(change, with_gradient(GRADIENT), with_gradient(GRADIENT[::-1]), BOX) == change
