import numpy as np
import pytest
from support.drawn_page import page, with_box

from whatchanged.measured import measure
from whatchanged.measured.result import KINDS
from whatchanged.measured.signature import (
    CAME_COLORS,
    CELLS,
    COLOR_STEP,
    ENDS,
    LENGTH,
    NEW_COLORS,
    PARTS,
    REGIONS,
    came_parts,
    color_parts,
    look_parts,
    signature,
)


def test_the_parts_follow_one_another_without_a_gap():
    ends = [(part.start, part.stop) for part in PARTS.values()]
    assert [start for start, _ in ends] == [0, *(stop for _, stop in ends[:-1])]
    assert ends[0] == (0, len(KINDS))
    of_regions = REGIONS * (2 + CELLS * CELLS)
    of_colors = (NEW_COLORS + CAME_COLORS) * 4
    assert ends[-1][1] + of_regions + REGIONS * ENDS * CELLS * CELLS + of_colors == LENGTH


def test_new_colours_come_with_their_fractions():
    before, after = page(), with_box(page(), (120, 90, 150, 110), (255, 0, 0))
    colors, shares = color_parts(np.array([measure(before, after).signature]))
    assert colors[0, 0].tolist() == [255, 0, 0]
    assert shares[0, 0] > 0.95 and shares[0].sum() <= 1


def came(before, after):
    """The colours that came, as rows."""
    colors, present = came_parts(np.array([measure(before, after).signature]))
    return colors[present]


def test_a_colour_of_an_area_came_where_the_picture_before_hardly_had_it():
    red, green, box = (200, 30, 30), (20, 140, 60), (120, 90, 150, 110)
    before = with_box(page(), box, red)
    (only,) = came(before, with_box(page(), box, green))
    assert np.abs(only - green).max() <= COLOR_STEP
    assert not len(came(before, with_box(page(), (60, 90, 90, 110), red)))  # it moved
    with_green = with_box(before, (10, 90, 30, 110), green)
    assert not len(came(with_green, with_box(with_green, box, green)))  # it was there


def test_colours_of_lines_and_of_smoothed_edges_are_not_those_of_areas():
    before, after = page(), page()
    after[90, 20:120] = (255, 0, 0)
    assert not len(came(before, after))


def test_an_added_thing_has_no_look_before_and_that_of_one_colour_has_equal_cells():
    answer = measure(page(), with_box(page(), (120, 90, 150, 110), (255, 0, 0)))
    looks = look_parts(np.array([answer.signature]))[0]
    assert answer.statements[0].kind == "added" and len(answer.statements) == 1
    assert not looks[0, 0].any() and not looks[1:].any()
    assert looks[0, 1].min() == pytest.approx(looks[0, 1].max()) == pytest.approx(1 / CELLS)


def test_a_look_does_not_depend_on_brightness_or_size():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 100, (CELLS, CELLS, 1)).repeat(3, axis=2).astype(np.uint8)

    def look(scale, brighter):
        large = cells.repeat(scale, axis=0).repeat(scale, axis=1) + np.uint8(brighter)
        before, after = page(220, 130), page(220, 130)
        after[20 : 20 + len(large), 30 : 30 + len(large)] = large
        box = (30, 20, 30 + len(large), 20 + len(large))
        (one,) = measure(page(), with_box(page(), (120, 90, 150, 110), (255, 0, 0))).statements
        placed = type(one)("added", None, box, "x", 0.9, 0.1, {}, (box,))
        numbers = signature(before, after, (before != after).any(axis=2), (placed,))
        return look_parts(np.array([numbers]))[0, 0, 1]

    assert look(2, 0) @ look(5, 90) == pytest.approx(1, abs=1e-3)
