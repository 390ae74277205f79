"""Things that lie elsewhere: found by the step that explains what differs."""

import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.rules.displaced import Displaced, displaced

SIZE = (90, 140)


def with_thing(left: int, top: int, seed: int = 0) -> np.ndarray:
    """A thing of 30 by 20 pixels of several colours on white."""
    pixels = np.full((*SIZE, 3), 255, np.uint8)
    blocks = np.random.default_rng(seed).integers(0, 200, (4, 6, 3)).astype(np.uint8)
    pixels[top : top + 20, left : left + 30] = blocks.repeat(5, 0).repeat(5, 1)
    return pixels


@pytest.mark.parametrize("step", [(9, 7), (-12, 4), (0, 15), (34, 0), (40, 30)])
def test_the_step_across_and_down_is_found_with_both_boxes(step: tuple[int, int]) -> None:
    before, after = with_thing(30, 25), with_thing(30 + step[0], 25 + step[1])
    found = displaced(before, after, (5, 5, 135, 85))
    there = (30 + step[0], 25 + step[1], 60 + step[0], 45 + step[1])
    assert found == Displaced((30, 25, 60, 45), there, *step)


def test_what_moved_across_and_down_is_told_as_moved() -> None:
    (statement,) = measure(with_thing(30, 25), with_thing(39, 32)).statements
    assert (statement.kind, statement.values["dx"], statement.values["dy"]) == ("moved", 9, 7)


def test_another_thing_elsewhere_did_not_move() -> None:
    assert displaced(with_thing(30, 25), with_thing(39, 32, seed=1), (5, 5, 135, 85)) is None


def test_what_only_grew_did_not_move() -> None:
    before, after = (np.full((*SIZE, 3), 255, np.uint8) for _ in range(2))
    before[30:50, 20:60], after[30:50, 20:75] = 40, 40
    assert displaced(before, after, (10, 20, 90, 60)) is None


@pytest.mark.parametrize("box", [(0, 0, 3, 90), (0, 0, 140, 2), (60, 40, 61, 41)])
def test_a_narrow_box_is_no_error(box: tuple[int, int, int, int]) -> None:
    assert displaced(with_thing(30, 25), with_thing(31, 26), box) is None


def test_what_came_beside_a_thing_that_moved_is_told_as_added() -> None:
    """The ground is another one as well, so that no lines fit."""
    before, after = with_thing(30, 25), with_thing(34, 55)
    after[10:18, 40:56] = 40
    found = displaced(before, after, (5, 5, 135, 85))
    assert found is not None and (found.dx, found.dy) == (4, 30) and found.came == (40, 10, 56, 18)
    after[10:18, 40:56] = 255
    after[50:53, 40:60] = 40  # a few rows of an edge
    assert displaced(before, after, (5, 5, 135, 85)) == Displaced((30, 25, 60, 45), (34, 55, 64, 75), 4, 30)


def test_a_fill_whose_padding_moved_its_content_is_told_as_another_colour() -> None:
    before, after = with_thing(30, 25), with_thing(44, 25)
    after[15:55, 30:90][(after[15:55, 30:90] == 255).all(axis=2)] = (232, 247, 240)
    (statement,) = measure(before, after).statements
    assert (statement.kind, statement.values["content"]) == ("recolored", [14, 0])
    assert statement.sentence.endswith(", and its content moved right by 14 pixels.")
