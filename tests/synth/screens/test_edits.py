"""The truth of an edit, against drawings made by hand."""

import numpy as np

from whatchanged.synth.screens.edits import (
    DrawnElement,
    DrawnPicture,
    Edit,
    change_of,
    farthest,
    nothing_moved,
    overlap,
)
from whatchanged.worlds.screens.truth import Motion

KEYS = {"a": DrawnElement((10, 10, 20, 16)), "b": DrawnElement((10, 30, 20, 36), "b", True)}


def drawing(**boxes: DrawnElement) -> DrawnPicture:
    """A white picture of 60x50 with a black rectangle for each element."""
    pixels = np.full((50, 60, 3), 255, np.uint8)
    for placed in boxes.values():
        left, top, right, bottom = (int(end) for end in placed.box)
        pixels[top:bottom, left:right] = 0
    return DrawnPicture(pixels, boxes)


def test_what_was_added_has_no_box_before():
    change = change_of(Edit("added", "point", "point", ("a",)), drawing(b=KEYS["b"]), drawing(**KEYS))
    assert change is not None
    assert (change.box_before, change.box_after) == (None, (10, 10, 20, 16))


def test_what_was_removed_has_no_box_after_and_what_moved_up_is_told():
    moved = DrawnElement((10, 20, 20, 26), "b", True)
    change = change_of(Edit("removed", "point", "point", ("a",)), drawing(**KEYS), drawing(b=moved))
    assert change is not None
    assert (change.box_before, change.box_after) == ((10, 10, 20, 16), None)
    assert change.consequences == (Motion((10, 30, 20, 36), (10, 20, 20, 26)),)
    assert change.consequences[0].step == (0, -10)


def test_a_move_tells_its_steps():
    after = drawing(a=DrawnElement((13, 8, 23, 14)), b=KEYS["b"])
    change = change_of(Edit("moved", "legend", "place", ("a",)), drawing(**KEYS), after)
    assert change is not None
    assert (change.values["dx"], change.values["dy"]) == (3, -2)


def test_a_resizing_tells_by_how_much():
    after = drawing(a=DrawnElement((10, 10, 27, 16)), b=KEYS["b"])
    change = change_of(Edit("resized", "chart bar", "width", ("a",)), drawing(**KEYS), after)
    assert change is not None
    assert (change.values["dwidth"], change.values["dheight"]) == (7, 0)


def test_a_trimmed_place_is_what_differs_within_the_elements():
    before, after = drawing(a=DrawnElement((0, 0, 40, 40))), drawing(a=DrawnElement((0, 0, 40, 40)))
    after.pixels[5:9, 7:13] = 200
    after.pixels[45, 50] = 0  # outside the element
    change = change_of(Edit("recolored", "grid", "ink", ("a",), trimmed=True), before, after)
    assert change is not None
    assert change.box_before == change.box_after == (7, 5, 13, 9)


def test_equal_pictures_have_no_change():
    assert change_of(Edit("moved", "legend", "place", ("a",)), drawing(**KEYS), drawing(**KEYS)) is None


def test_alike_things_keep_a_box_each():
    other = {key: DrawnElement(tuple(end + 2 for end in one.box), one.text) for key, one in KEYS.items()}
    change = change_of(Edit("moved", "tick label", "position", ("a", "b")), drawing(**KEYS), drawing(**other))
    assert change is not None
    assert change.boxes == (((10, 10, 20, 16), (12, 12, 22, 18)), ((10, 30, 20, 36), (12, 32, 22, 38)))
    assert change.box_before == (10, 10, 20, 36)


def test_in_place_means_within_half_a_pixel():
    near = {**KEYS, "a": DrawnElement((10.4, 10, 20.4, 16))}
    far = {**KEYS, "a": DrawnElement((10.6, 10, 20.6, 16))}
    assert nothing_moved(KEYS, near)
    assert not nothing_moved(KEYS, far)
    assert not nothing_moved(KEYS, {"a": KEYS["a"]})
    assert (
        farthest(
            DrawnPicture(np.zeros((1, 1, 3), np.uint8), KEYS),
            DrawnPicture(np.zeros((1, 1, 3), np.uint8), far),
        )
        < 0.61
    )


def test_changes_that_share_a_place_overlap():
    made = [
        change_of(Edit("removed", "point", "point", (key,)), drawing(**KEYS), drawing()) for key in ("a", "b")
    ]
    assert made[0] is not None
    assert made[1] is not None
    assert overlap(made[0], made[0])
    assert not overlap(made[0], made[1])
