"""Numbers of what is drawn at a place, against pictures painted by hand."""

import math
from itertools import accumulate

import numpy as np
import pytest

from whatchanged.measured.pixels.likeness import LIKENESS
from whatchanged.measured.rules.shapes import LARGEST, SHAPES, shapes

GROUPS = {
    "inks": 5,
    "ink boxes": 8,
    "pieces": 9,
    "strokes": 3,
    "shift": 5,
    "colours": 11,
    "differences": 13,
    "sharpness before": 2,
    "sharpness after": 2,
    "surroundings": 2,
    "place": 9,
    "profiles": 2,
    "likeness": LIKENESS,
}
ENDS = list(accumulate(GROUPS.values()))
BOX = (10, 10, 50, 40)


def group(found, name):
    end = ENDS[list(GROUPS).index(name)]
    return found[end - GROUPS[name] : end].tolist()


def page(*rectangles, size=(80, 60), paper=255, ink=0):
    """A page with filled rectangles (left, top, right, bottom)."""
    pixels = np.full((size[1], size[0], 3), paper, np.uint8)
    for left, top, right, bottom in rectangles:
        pixels[top:bottom, left:right] = ink
    return pixels


def of(before, after, one=BOX, other=None):
    return shapes(before, after, (one, other or one))


def test_every_group_has_its_numbers():
    assert ENDS[-1] == SHAPES
    found = of(page((20, 20, 30, 24)), page((22, 20, 32, 24)))
    assert found.shape == (SHAPES,) and found.dtype == np.float32 and np.isfinite(found).all()


def test_where_nothing_changed():
    same = page((20, 20, 30, 24), (33, 20, 40, 24))
    found = of(same, same)
    assert group(found, "inks") == [1, 1, 0, 0, 0]
    assert group(found, "shift") == pytest.approx([0, 0, 1, 1, 0])
    assert group(found, "colours")[:9] == [0] * 9
    assert group(found, "differences")[0] == 1 and not any(group(found, "differences")[1:3])
    assert group(found, "surroundings") == [1, 0]
    assert group(found, "profiles") == pytest.approx([1, 1])


def test_a_thing_that_moved_lies_on_itself_at_its_step():
    found = of(page((20, 20, 30, 24)), page((23, 22, 33, 26)))
    dy, dx, best, still, gain = group(found, "shift")
    assert (dy, dx) == pytest.approx((math.log1p(2) / 8, math.log1p(3) / 8))
    assert (
        best == pytest.approx(1)
        and still == pytest.approx(7 * 2 / 40)
        and gain == pytest.approx(best - still)
    )
    assert group(found, "inks")[4] == 0
    left, top, right, bottom = group(found, "ink boxes")[2:6]
    assert left == right == pytest.approx(math.log1p(3) / 8)
    assert top == bottom == pytest.approx(math.log1p(2) / 8)


def test_of_several_steps_that_fit_as_well_the_shortest_is_told():
    stripes = [(x, 20, x + 2, 30) for x in range(14, 44, 6)]
    moved = [(x + 1, 20, x + 3, 30) for x in range(14, 44, 6)]
    assert group(of(page(*stripes), page(*moved)), "shift")[1] == pytest.approx(math.log1p(1) / 8)


def test_what_came_or_went_is_in_one_picture_alone():
    found = of(page(), page((20, 20, 30, 24)))
    gone, new = group(found, "inks")[2:4]
    assert gone == 0 and new == pytest.approx(40 / (40 * 30))
    assert group(found, "ink boxes")[:2] == [0, 1]
    assert group(found, "shift") == [0] * 5


def test_pieces_are_counted_and_measured():
    letters = [(14 + 5 * k, 20, 17 + 5 * k, 26) for k in range(4)]
    larger = [(14 + 7 * k, 18, 18 + 7 * k, 27) for k in range(4)]
    one, other, more, higher, wider, highest, *sizes = group(of(page(*letters), page(*larger)), "pieces")
    assert one == other == pytest.approx(math.log1p(4) / 5) and more == 0
    assert higher == highest == pytest.approx(math.log(10 / 7)) and wider == pytest.approx(math.log(5 / 4))
    assert sizes == pytest.approx([math.log1p(6) / 5, math.log1p(9) / 5, math.log1p(3) / 5])


def test_bolder_strokes_are_thicker():
    thin, bold = page((20, 20, 40, 21)), page((20, 20, 40, 24))
    was, now, more = group(of(thin, bold), "strokes")
    assert was == pytest.approx(math.log1p(1))
    assert now == pytest.approx(math.log1p(80 / (80 - 18 * 2)))
    assert more > 0.4 and group(of(bold, thin), "strokes")[2] == pytest.approx(-more)


def test_colours_by_hand():
    before, after = page((10, 10, 50, 40), ink=200), page((10, 10, 50, 40), ink=200)
    after[10:40, 10:50] = (230, 200, 170)
    fill, ground, ink, vivid = (
        group(of(before, after), "colours")[part]
        for part in (slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 11))
    )
    assert fill == pytest.approx([0, 30 / 255, 60 / 255])
    assert ground == ink == [0, 0, 0]
    assert vivid == pytest.approx([0, 60 / 255])


def test_parts_of_two_sizes_are_not_laid_on_each_other():
    found = of(page((20, 20, 30, 24)), page((20, 20, 30, 24)), other=(10, 10, 50, 44))
    assert group(found, "differences") == [0] * 13
    assert group(found, "surroundings") == [0, 0]


def test_neighbours_that_changed_too():
    before = page((20, 20, 30, 24))
    after = page((22, 20, 32, 24), (52, 12, 54, 14))
    assert group(of(before, after), "surroundings") == pytest.approx([1, 4 / (52 * 42 - 40 * 30)])


def test_no_colour_of_paper_and_ink_decides():
    before, after = page((20, 20, 30, 24)), page((23, 20, 35, 26))
    dark = of(255 - before, 255 - after)
    light = of(before, after)
    for name in GROUPS:
        if name != "colours":
            assert group(dark, name) == pytest.approx(group(light, name), abs=1e-5), name


def test_of_a_very_large_place_its_middle_is_looked_at():
    wide = np.full((20, 3 * LARGEST, 3), 255, np.uint8)
    marked = wide.copy()
    marked[5:9, 3 * LARGEST // 2 : 3 * LARGEST // 2 + 8] = 0
    marked[5:9, 20:60] = 0  # beyond what is looked at
    found = of(wide, marked, (0, 0, 3 * LARGEST, 20))
    assert group(found, "inks")[3] == pytest.approx(32 / (LARGEST * 20))


def test_boxes_beyond_the_picture_are_moved_inside():
    assert np.isfinite(of(page((0, 0, 4, 4)), page(), (-5, -5, 4, 4))).all()
    assert np.isfinite(of(page((0, 0, 4, 4)), page(), (79, 59, 90, 70))).all()
