"""Values of changes whose kind and place are known, on pictures of rectangles."""

import numpy as np
import pytest

from whatchanged.regions.proposals import Proposal
from whatchanged.regions.values import values_of

BOX = (20, 20, 60, 44)


def screen(*boxes):
    """A white picture with these boxes, each with its colour."""
    pixels = np.full((80, 120, 3), 255, np.uint8)
    for (left, top, right, bottom), color in boxes:
        pixels[top:bottom, left:right] = color
    return pixels


def place(box=BOX, rule=None, aspect="cluster", **values):
    return Proposal(box, box, rule, aspect, 0.5, 100, 2.0, True, values)


def test_colours_of_a_fill_and_of_ink_on_the_same_fill():
    fills = screen((BOX, (200, 0, 0))), screen((BOX, (0, 128, 0)))
    assert values_of("recolored", *fills, place()) == {"color_before": "#c80000", "color_after": "#008000"}
    ink = (30, 28, 50, 32)
    inks = [screen((BOX, (230, 230, 230)), (ink, color)) for color in ((0, 0, 0), (0, 0, 200))]
    assert values_of("recolored", *inks, place()) == {"color_before": "#000000", "color_after": "#0000c8"}


def test_what_the_rules_measured_goes_first():
    both = screen((BOX, (200, 0, 0))), screen((BOX, (0, 128, 0)))
    known = {"color_before": "#111111", "color_after": "#222222"}
    assert values_of("recolored", *both, place(rule="recolored", **known)) == known
    assert values_of("moved", *both, place(rule="moved", dx=3, dy=-1)) == {"dx": 3, "dy": -1}


def test_a_step_is_measured_only_between_things_of_one_size():
    box = (10, 10, 90, 60)
    before = screen(((20, 20, 40, 30), (0, 0, 0)))
    assert values_of("moved", before, screen(((27, 18, 47, 28), (0, 0, 0))), place(box)) == {
        "dx": 7,
        "dy": -2,
    }
    assert values_of("moved", before, screen(((27, 18, 60, 28), (0, 0, 0))), place(box)) == {}
    assert values_of("moved", before, screen(), place(box)) == {}


@pytest.mark.parametrize(
    ("rule", "aspect", "values", "wanted"),
    [
        ("resized", "length", {"dx": 12, "grew": True}, {"dwidth": 12}),
        ("resized", "canvas", {"dx": 0, "dy": -94}, {"dheight": -94}),
        ("resized", "size", {}, {}),
        ("moved", "position", {"dx": 5}, {}),
    ],
)
def test_growth_is_what_the_rules_saw(rule, aspect, values, wanted):
    assert values_of("resized", screen(), screen(), place(BOX, rule, aspect, **values)) == wanted


@pytest.mark.parametrize("kind", ["added", "removed", "restyled", "rewritten", "replaced"])
def test_other_kinds_have_no_value(kind):
    assert values_of(kind, screen((BOX, (0, 0, 0))), screen((BOX, (9, 99, 9))), place()) == {}
