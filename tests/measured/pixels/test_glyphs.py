from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure
from whatchanged.measured.pixels import gate, glyphs
from whatchanged.measured.pixels.gate import visibility


def written(text: str, size: int, x: float = 20.0, y: float = 12.0, ink: int = 17) -> np.ndarray:
    """A line of text whose letters begin at fractions of a pixel, as Pillow draws them."""
    picture = Image.new("L", (200, 48), 255)
    ImageDraw.Draw(picture).text((x, y), text, fill=ink, font=ImageFont.load_default(size))
    return np.stack([np.asarray(picture)] * 3, axis=2)


@pytest.mark.parametrize(
    ("other", "size"),
    [*((other, size) for other in ("18.50", "16.60", "15.50") for size in (14, 16, 18)), ("18.50", 12)],
)
def test_an_exchanged_digit_is_seen_in_text_of_usual_sizes(other, size):
    before = written("16.50", size)
    assert visibility(before, written(other, size)).score > 1
    assert visibility(written(other, size), before).score == visibility(before, written(other, size)).score


def test_without_its_line_that_digit_passes_as_text_drawn_anew():
    with mock.patch.object(gate, "MOST_GLYPH_BOXES", 0):
        assert visibility(written("16.50", 12), written("18.50", 12)).score < 1


@pytest.mark.parametrize(("residue", "counts"), [(0.9, False), (1.2, True)])
def test_a_glyph_below_its_limit_leaves_no_doubt(residue, counts):
    before, after = written("16.50", 12), written("16.60", 12)
    with mock.patch.object(gate, "MOST_GLYPH_BOXES", 0):
        alone = visibility(before, after).score
    glyph = glyphs.Glyph((20, 12, 60, 30), residue * glyphs.LEAST_BESIDE_SAME, 0.0)
    with mock.patch.object(glyphs, "most_unlike", return_value=glyph):
        found = visibility(before, after).score
    assert found == pytest.approx(residue if counts else alone)


@given(st.sampled_from([0.1, 0.25, 0.33, 0.5]), st.sampled_from([0, 0.25, 0.5]), st.integers(11, 20))
@settings(max_examples=15, deadline=None)
def test_text_that_is_drawn_beside_its_place_is_not_seen(right, down, size):
    before = written("Total 16.50", size)
    assert visibility(before, written("Total 16.50", size, 20 + right, 12 + down)).score < 1


def test_a_digit_that_was_exchanged_is_told_where_it_stands():
    answer = measure(Image.fromarray(written("Total 16.50", 16)), Image.fromarray(written("Total 18.50", 16)))
    left, top, right, bottom = answer.statements[0].box_after
    digit = ImageFont.load_default(16).getlength("Total 1")
    assert answer.verdict == "changed"
    assert abs((left + right) / 2 - (20 + digit + 4)) < 12
    assert 12 <= (top + bottom) / 2 <= 30


def test_one_glyph_alone_has_no_line_to_compare_it_with():
    assert glyphs.most_unlike(written("6", 16), written("8", 16), (20, 14, 30, 28)) is None


def test_what_is_higher_than_a_line_is_no_text():
    assert glyphs.most_unlike(written("16.50", 16), written("18.50", 16), (20, 4, 40, 44)) is None


def test_a_shift_by_eighths_mixes_neighbours():
    ink = np.array([[0, 8, 16, 0]], np.int16)
    np.testing.assert_array_equal(glyphs._shifted(ink, 0, 1), [[64, 128]])
    np.testing.assert_array_equal(glyphs._shifted(ink, 2, 1), [[6 * 8 + 2 * 16, 6 * 16]])
    np.testing.assert_array_equal(glyphs._shifted(ink, -2, 1), [[6 * 8, 6 * 16 + 2 * 8]])


def test_a_glyph_that_only_moved_leaves_nothing_over():
    one = np.zeros((12, 20), np.int16)
    one[3:9, 4:8] = 160
    other = np.roll(one, 1, axis=1)
    starts = np.array([0, 12])
    other[5:7, 15:17] = 160  # beside it one that came: 4 pixels of 160 levels, by a mass of 640
    found = glyphs._residues(one, other, starts, np.array([3840.0, 640.0]), np.array([False, True]))
    np.testing.assert_allclose(found, [0, 1])
    alike = glyphs._residues(one, np.roll(one, 1, axis=1), starts, np.ones(2), np.array([True, True]))
    assert alike is None


def test_glyphs_begin_between_what_is_blank_and_long_ones_are_cut():
    ink = np.zeros((6, 40), np.int16)
    ink[:, 4:8] = 99
    ink[:, 12:16] = 99
    ink[:, 20:38] = 99  # three times as long as high
    assert glyphs._glyphs(ink, 6).tolist() == [0, 10, 18, 24, 29, 33]
    assert glyphs._glyphs(np.zeros((6, 40), np.int16), 6).tolist() == [0]


def test_rows_of_a_line_go_on_as_far_as_ink_does():
    ink = np.zeros((20, 10), np.int16)
    ink[4:12, 3] = 200
    assert glyphs._rows(ink, 7, 9) == slice(4, 12)
    ink[:, 5] = 200
    assert glyphs._rows(ink, 7, 9) == slice(0, 20)


def test_the_rest_is_a_quantile_by_ink():
    values = np.array([0.3, 0.1, 0.2])
    assert glyphs._quantile(values, np.array([5, 90, 5])) == 0.1
    assert glyphs._quantile(values, np.array([5, 80, 15])) == 0.2
    assert glyphs._quantile(values, np.array([20, 80, 0])) == 0.3


def test_one_side_that_is_the_same_counts_alone_without_the_next_glyph():
    residues, masses = np.array([0.0, 0.0, 0.12, 0.13, 0.08, 0.08]), np.array([20, 20, 5, 0, 20, 20])
    assert glyphs._rest(residues, masses, 3) == 0
    pushed_from_the_start = np.array([0.08, 0.0, 0.12, 0.13, 0.08, 0.08])
    assert glyphs._rest(pushed_from_the_start, masses, 3) == 0.08
    one_more_like_it = np.array([0.0, 0.0, 0.12, 0.13, 0.08, 0.13])
    assert glyphs._rest(one_more_like_it, masses, 3) == 0.13
    little_on_that_side = np.array([10, 10, 5, 0, 20, 20])
    assert glyphs._rest(residues, little_on_that_side, 3) == 0.08


def test_clusters_of_cells_are_cut_where_a_row_or_column_is_empty():
    cells = np.zeros((8, 12), bool)
    cells[1, 1:3] = cells[2, 2] = True
    cells[1:7, 6] = True
    cells[5, 9:11] = True
    cells[1, 10] = True
    assert list(gate._clusters(cells)) == [
        (slice(1, 3), slice(1, 3)),
        (slice(1, 7), slice(6, 7)),
        (slice(1, 2), slice(9, 11)),
        (slice(5, 6), slice(9, 11)),
    ]
