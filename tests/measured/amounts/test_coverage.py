"""How much of each pixel ink covers."""

import numpy as np
import pytest
from tests.drawn_text import draw, page, text

from whatchanged.measured.amounts.coverage import (
    columns_of_ink,
    ink_box,
    read_coverage,
    rows_of_ink,
    stroke,
    unexplained,
)


def test_the_same_line_has_the_same_coverage_in_any_colours():
    plain = read_coverage(text())
    other = read_coverage(text(color=(250, 250, 90), ground=(10, 20, 60)))
    assert np.abs(plain.ink - other.ink).mean() < 0.01
    assert ink_box(plain.ink) == ink_box(other.ink)


def test_an_empty_part_has_none():
    assert read_coverage(page()) is None


def test_dots_belong_to_their_line():
    two = np.concatenate([text("ïij", canvas=(100, 40)), text("ïij", canvas=(100, 40))])
    assert len(rows_of_ink(read_coverage(two).ink)) == 2


def test_words_are_parted_by_space():
    ink = read_coverage(text("one two")).ink
    assert len(columns_of_ink(ink, 3)) == 2


@pytest.mark.parametrize("width", [2, 4, 7])
def test_how_thick_a_line_is(width):
    line = draw(page(), line=([(10, 50), (150, 50)], {"fill": "black", "width": width}))
    assert stroke(read_coverage(line).ink) == pytest.approx(width, rel=0.1)


def test_a_third_colour_stays_unexplained():
    third = draw(text(), rectangle=((100, 10, 160, 40), {"fill": (0, 160, 0)}))
    assert unexplained(text(), read_coverage(text())) < 0.02
    assert unexplained(third, read_coverage(third)) > 0.05
