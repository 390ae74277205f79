"""Text that became italic by steps of a pixel."""

import numpy as np
from support.drawn_text import text

from whatchanged.measured import measure
from whatchanged.measured.amounts.slanted import slanted_lines

LIGHT, DARK = (232, 234, 237), (21, 24, 30)


def line(slant=0.0, **options):
    """A small line of light text on a dark ground."""
    return text("Choose a plan for the team", 14, slant=slant, color=LIGHT, ground=DARK, **options)


def test_italics_in_both_directions():
    (one,) = slanted_lines(line(), line(0.2))
    assert (one.finding.aspect, one.finding.values["on_after"]) == ("slant", True)
    (one,) = slanted_lines(line(0.2), line())
    assert one.finding.values["on_after"] is False


def test_italics_are_a_change():
    answer = measure(line(), line(0.2))
    assert answer.verdict == "changed" and "italics" in answer.sentence


def test_a_movement_by_a_part_of_a_pixel_is_no_slant():
    assert not slanted_lines(line(), line(at=(20.4, 12.0)))
    assert not slanted_lines(line(), line(at=(20.0, 12.5)))
    assert measure(line(), line(at=(20.4, 12.0))).verdict != "changed"


def test_bolder_letters_are_no_slant():
    assert not slanted_lines(line(), line(bold=True))


def test_other_rendering_is_no_slant():
    noisy = line().astype(np.int16) + np.random.default_rng(1).integers(-30, 31, line().shape)
    assert not slanted_lines(line(), np.clip(noisy, 0, 255).astype(np.uint8))
