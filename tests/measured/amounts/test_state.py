"""The state of controls, drawn with a known truth."""

import pytest
from tests.drawn_text import draw, page

from whatchanged.measured.amounts.state import state_change

GREY, BLUE = (110, 110, 110), (20, 100, 220)


def checkbox(checked):
    """A box of 18 pixels, with a white tick on blue where it is checked."""
    options = {"outline": BLUE if checked else GREY, "fill": BLUE if checked else "white", "width": 2}
    empty = draw(page(), rectangle=((40, 40, 57, 57), options))
    return (
        draw(empty, line=([(44, 49), (48, 53), (54, 44)], {"fill": "white", "width": 2}))
        if checked
        else empty
    )


def radio(checked):
    """A circle of 20 pixels, with a dot where it is chosen."""
    empty = draw(page(), ellipse=((40, 40, 59, 59), {"outline": GREY, "width": 2}))
    return draw(empty, ellipse=((45, 45, 54, 54), {"fill": BLUE})) if checked else empty


def switch(on):
    """A switch of 40 x 20 pixels; its track is blue where it is on."""
    track = draw(page(), rounded_rectangle=((40, 40, 79, 59), {"radius": 10, "fill": BLUE if on else GREY}))
    left = 62 if on else 42
    return draw(track, ellipse=((left, 42, left + 15, 57), {"fill": "white"}))


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize(
    ("drawn", "box", "element", "state"),
    [
        (checkbox, (40, 40, 58, 58), "checkbox", "checked"),
        (radio, (45, 45, 55, 55), "radio button", "checked"),
        (switch, (40, 40, 80, 60), "switch", "on"),
    ],
)
def test_what_a_control_became(drawn, box, element, state, on):
    finding, found, _ = state_change(drawn(not on), drawn(on), box)
    assert (found, finding.values) == (element, {"state": state, "on_after": on})


def test_a_track_of_another_colour_is_not_turned_on():
    paler = switch(on=True).copy()
    paler[(paler == BLUE).all(axis=2)] = (120, 160, 240)
    assert state_change(switch(on=True), paler, (40, 40, 80, 60)) is None


def test_a_number_in_a_circle_is_no_choice():
    circle = draw(page(), ellipse=((40, 40, 63, 63), {"fill": BLUE}))
    numbered = draw(circle, line=([(50, 46), (53, 44), (53, 58)], {"fill": "white", "width": 2}))
    assert state_change(circle, numbered, (49, 43, 56, 60)) is None


def test_a_large_thing_is_no_control():
    before = draw(page(), rectangle=((10, 10, 149, 89), {"outline": GREY, "width": 2}))
    after = draw(before, rectangle=((40, 30, 110, 70), {"fill": BLUE}))
    assert state_change(before, after, (40, 30, 111, 71)) is None
