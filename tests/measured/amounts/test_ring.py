"""The ring of the focus around a radio button."""

import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.amounts.ring import ring_change

BOX = (10, 10, 38, 38)


def button(ring=False, circle=True, text=False):
    """A faint circle on white, with a ring of two pixels around it."""
    pixels = np.full((60, 160, 3), 255, np.uint8)
    down, across = np.mgrid[:60, :160]
    radius = np.hypot(down - 23.5, across - 23.5)
    if circle:
        pixels[radius <= 11] = 225
        pixels[radius <= 10] = 248
    if ring:
        pixels[(radius > 11.5) & (radius <= 14)] = (25, 179, 148)
    if text:
        pixels[18:30, 18:30:3] = 0
    return pixels


@pytest.mark.parametrize("came", [True, False])
def test_a_ring_came_or_went(came):
    finding = ring_change(button(ring=not came), button(ring=came), BOX)
    assert (finding.kind, finding.aspect, finding.values) == ("restyled", "ring", {"on_after": came})
    wanted = "got a ring around it" if came else "lost the ring around it"
    assert wanted in measure(button(ring=not came), button(ring=came)).sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(button(circle=False), button(ring=True, circle=False), id="an icon that came"),
        pytest.param(button(), button(ring=True, text=True), id="what it surrounds changed"),
        pytest.param(button(), button(), id="nothing"),
    ],
)
def test_what_is_no_ring_around_something(before, after):
    assert ring_change(before, after, BOX) is None


def test_a_large_box_is_no_ring():
    assert ring_change(button(), button(ring=True), (0, 0, 160, 60)) is None
