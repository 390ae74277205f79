from dataclasses import replace

import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.pixels.gate import Visibility, visibility
from whatchanged.measured.pixels.motion import LineRun
from whatchanged.measured.rules.shifts import (
    Gap,
    Moved,
    Shift,
    clearly_visible,
    covered,
    find_shift,
    may_explain,
    moved_runs,
    novel,
    stretched,
)

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


def shift(*moved, gaps=()):
    """A shift of columns with these things that moved: first column before, first one after, width."""
    pixels = np.full((40, 120, 3), GROUND, np.uint8)
    told = tuple(
        Moved((was, 10, was + width, 20), (now, 10, now + width, 20), now - was, 0)
        for was, now, width in moved
    )
    return Shift(1, told, gaps, pixels, visibility(pixels, pixels), 1.0)


def with_icons(*columns):
    """Icons of 10 by 10 pixels at those columns."""
    pixels = np.full((40, 120, 3), GROUND, np.uint8)
    for column in columns:
        pixels[10:20, column : column + 10] = ICON
    return pixels


@pytest.mark.parametrize(
    ("there", "went", "gone"),
    [
        pytest.param((10, 45), (10, 40, 20), (45, 10, 55, 20), id="to the right"),
        pytest.param((15, 60), (60, 10, 20), (15, 10, 25, 20), id="to the left"),
    ],
)
def test_what_something_moved_over_is_gone(there, went, gone):
    assert covered(with_icons(*there), shift(went)) == gone


def test_nothing_is_gone_where_what_moved_only_left_its_own_place():
    assert covered(with_icons(10), shift((10, 40, 20))) is None
    assert covered(with_icons(10), shift((10, 15, 10))) is None  # over itself


def test_what_else_came_or_went_explains_a_motion():
    box = (45, 10, 55, 20)
    gap = Gap(None, box, False, -10, 50, box, (0, 0), (45, 55))
    assert covered(with_icons(10, 45), shift((10, 40, 20), gaps=(gap,))) is None


def test_a_thing_is_followed_along_its_edges_not_through_what_stands_in_it():
    pixels = card()  # rows 10 to 50, columns 10 to 110
    pixels[25:40, 60:66] = ICON
    fill = (11, 11, 109, 49)
    assert stretched(pixels, (80, 11, 95, 49), 1) == fill
    assert stretched(pixels, (11, 42, 109, 46), 0) == fill


def test_what_came_in_from_beyond_the_edge_was_inside_the_picture():
    before, after = (np.full((40, 120, 3), GROUND, np.uint8) for _ in range(2))
    after[10:30, 6:16] = ICON
    runs = [
        LineRun(0, 60, 12),
        LineRun(60, 120, 0),
    ]  # columns 0 to 60 lay 12 pixels further left: from -12 on
    (moved,) = moved_runs(before, after, (0, 0, 120, 40), 1, runs)
    assert moved.before == (0, 10, 4, 30)
    assert moved.after == (6, 10, 16, 30)
    assert (moved.dx, moved.dy) == (12, 0)
    assert moved_runs(before, after, (0, 0, 120, 40), 1, [LineRun(0, 60, 20), LineRun(60, 120, 0)]) == ()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("step", [-30, 30])
def test_what_came_behind_a_thing_that_moved_was_added(axis, step):
    """It is neither what was pushed out of the place where all differs, nor what came into it."""
    before, after = np.full((2, 300, 120, 3), GROUND, np.uint8)
    before[60:100, 20:100] = FRAME
    after[60 + step : 100 + step, 20:100] = FRAME
    after[160:230, 30:90] = ICON  # longer than the step
    pictures = (before, after) if axis == 0 else (before.swapaxes(0, 1), after.swapaxes(0, 1))
    first = measure(*map(np.ascontiguousarray, pictures)).statements[0]
    assert first.kind == "added"
    assert first.box_after == ((30, 160, 90, 230) if axis == 0 else (160, 30, 230, 90))
    assert sorted(first.values["rest"]) == sorted([0, step])


def test_a_part_is_not_searched_for_a_shift_if_the_differences_lie_elsewhere():
    before = np.full((1200, 300, 3), GROUND, np.uint8)
    before[20:60:8, 20:120] = ICON
    before[900:1100, 40:200] = FILL
    after = np.full_like(before, GROUND)
    after[24:64:8, 20:120] = ICON
    seen = visibility(before, after)
    bars, area = (18, 18, 122, 66), (38, 898, 202, 1102)
    assert find_shift(before, after, seen, bars, 0, 1.0) is None
    clear, count = clearly_visible(seen, 1.0), np.count_nonzero(seen.visible(1.0))
    assert not may_explain(clear, count, bars, 0, 0.0)
    assert may_explain(clear, count, area, 0, 0.0)
    assert not may_explain(clear, count, area, 0, 1.0)


def test_what_structure_shows_may_vanish_with_any_shift():
    differs = np.ones((20, 30), bool)
    seen = Visibility(differs, np.full(differs.shape, 3, np.float32))
    assert clearly_visible(seen, 1.0).all()
    assert not clearly_visible(seen, 2.0).any()
    assert not clearly_visible(replace(seen, is_plain=False), 1.0).any()
