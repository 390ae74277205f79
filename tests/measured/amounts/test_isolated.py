"""A line of text in another type, while the other lines stayed."""

import numpy as np
import pytest
from support.drawn_text import text

from whatchanged.measured.amounts.isolated import lines_in_other_type

OTHERS = ("Choose a plan for the team", "All changes are saved")


def page(*lines):
    """Lines of text, one below the other."""
    return np.concatenate(lines)


def others(**options):
    """Two further lines."""
    return [text(words, 14, **options) for words in OTHERS]


@pytest.mark.parametrize(
    ("before", "after", "aspects"),
    [
        ({"size": 12}, {"size": 13}, {"text size", "shape"}),
        ({"size": 14}, {"size": 14, "bold": True}, {"weight"}),
        ({"size": 14, "spacing": 0.01}, {"size": 14, "spacing": 1}, {"letter spacing"}),
        ({"size": 14}, {"size": 14, "slant": 0.25}, {"slant"}),
    ],
)
def test_one_line_in_another_type(before, after, aspects):
    (one,) = lines_in_other_type(page(text(**before), *others()), page(text(**after), *others()))
    assert one.finding.aspect in aspects
    assert one.box_after[3] <= 48, "the box is that of the line"


def test_a_line_that_only_moved_counts_as_unchanged():
    moved = (text(OTHERS[0], 14), text(OTHERS[1], 14, at=(20.0, 14.0)))
    (one,) = lines_in_other_type(page(text(size=14), *others()), page(text(size=14, bold=True), *moved))
    assert one.finding.aspect == "weight"


def test_text_that_was_all_drawn_anew_is_not_reported():
    before = page(text(size=14), *others())
    assert not lines_in_other_type(before, page(text(size=14, bold=True), *others(bold=True)))


@pytest.mark.parametrize("at", [(20.4, 12.0), (20.0, 12.5)])
def test_a_line_that_moved_by_a_part_of_a_pixel_is_not_reported(at):
    before = page(text(size=14), *others())
    assert not lines_in_other_type(before, page(text(size=14, at=at), *others()))


def test_noise_is_not_reported():
    before = page(text(size=14), *others())
    noisy = before.astype(np.int16) + np.random.default_rng(1).integers(-30, 31, before.shape)
    assert not lines_in_other_type(before, np.clip(noisy, 0, 255).astype(np.uint8))
