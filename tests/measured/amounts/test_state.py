"""The state of controls, drawn with a known truth."""

import numpy as np
import pytest
from support.drawn_text import draw, page

from whatchanged.measured import measure
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


def large_box(side, checked, mark="tick"):
    """A box of any size, with a tick, a cross or a smaller square where it is checked."""
    empty = draw(page((260, 200)), rectangle=((40, 40, 39 + side, 39 + side), {"outline": GREY, "width": 2}))
    if not checked:
        return empty
    at = [40 + side * part for part in (0.25, 0.42, 0.5, 0.75)]
    options = {"fill": BLUE, "width": max(2, side // 10)}
    if mark == "tick":
        return draw(empty, line=([(at[0], at[2]), (at[1], at[3] - side * 0.07), (at[3], at[0])], options))
    if mark == "cross":
        crossed = draw(empty, line=([(at[0], at[0]), (at[3], at[3])], options))
        return draw(crossed, line=([(at[0], at[3]), (at[3], at[0])], options))
    return draw(empty, rectangle=((round(at[0]), round(at[0]), round(at[3]), round(at[3])), {"fill": BLUE}))


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("mark", ["tick", "cross", "square"])
@pytest.mark.parametrize("side", [12, 16, 24, 40, 64, 96, 128])
def test_boxes_of_every_size(side, mark, on):
    pictures = large_box(side, not on, mark), large_box(side, on, mark)
    finding, found, box = state_change(*pictures, difference(*pictures))
    assert (found, finding.values) == ("checkbox", {"state": "checked", "on_after": on})
    assert box == (40, 40, 40 + side, 40 + side)


def difference(one, other):
    """The box of all differences."""
    rows, columns = np.nonzero((one != other).any(axis=2))
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def test_a_card_with_something_new_at_its_side_is_no_box():
    card = draw(page((260, 200)), rectangle=((40, 40, 139, 139), {"outline": GREY, "width": 2}))
    written = draw(card, rectangle=((64, 66, 100, 86), {"fill": BLUE}))
    assert state_change(card, written, difference(card, written)) is None


@pytest.mark.parametrize("side", [16, 28, 64])
def test_radio_buttons_of_every_size(side):
    empty = draw(page((260, 200)), ellipse=((40, 40, 39 + side, 39 + side), {"outline": GREY, "width": 2}))
    rim = side // 4
    dot = (40 + rim, 40 + rim, 39 + side - rim, 39 + side - rim)
    finding, found, _ = state_change(empty, draw(empty, ellipse=(dot, {"fill": BLUE})), dot)
    assert (found, finding.values) == ("radio button", {"state": "checked", "on_after": True})


def long_knob(on, height=32):
    """A switch whose knob reaches beyond its middle."""
    width, room = round(1.6 * height), height // 10
    shape = (40, 40, 39 + width, 39 + height)
    track = draw(page((260, 200)), rounded_rectangle=(shape, {"radius": height // 2, "fill": GREY}))
    side = height - 2 * room
    left = 40 + width - room - side if on else 40 + room
    return draw(track, ellipse=((left, 40 + room, left + side - 1, 39 + room + side), {"fill": BLUE}))


@pytest.mark.parametrize("height", [16, 32, 64, 112])
def test_a_large_knob_at_the_right_is_on(height):
    pictures = long_knob(False, height), long_knob(True, height)
    finding, found, _ = state_change(*pictures, difference(*pictures))
    assert (found, finding.values) == ("switch", {"state": "on", "on_after": True})


def test_a_knob_larger_than_its_track_is_one_switch_that_was_turned_on():
    pictures = []
    for on in (False, True):
        track = (44, 46, 75, 57)
        empty = draw(page((200, 120)), rounded_rectangle=(track, {"radius": 6, "fill": (215, 215, 220)}))
        left = 58 if on else 42
        knob = ((left, 42, left + 19, 61), {"fill": BLUE if on else GREY})
        pictures.append(draw(empty, ellipse=knob))
    (one,) = measure(*pictures).statements
    assert (one.element, one.values["state"], one.values["on_after"]) == ("switch", "on", True)


@pytest.mark.parametrize("side", [24, 64])
def test_a_large_box_keeps_the_place_of_its_mark(side):
    pictures = large_box(side, False), large_box(side, True)
    first = measure(*pictures).statements[0]
    mark = difference(*pictures)
    assert first.sentence.endswith("was checked.")
    assert first.box_after == ((40, 40, 40 + side, 40 + side) if side == 24 else mark)
