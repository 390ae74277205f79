"""A veil over a picture, with and without a dialog on it."""

import numpy as np
from support.drawn_text import draw, text

from whatchanged.measured import measure
from whatchanged.measured.amounts.veil import find_veil


def screen():
    """A page with lines of text, a header and a button."""
    lines = [text("Settings and reports", canvas=(400, 48)), text("Orders of last week", canvas=(400, 48))]
    page = np.concatenate([*lines, *lines, *lines])
    return draw(page, rectangle=((0, 0, 399, 30), {"fill": (30, 60, 160)}))


def veiled(picture, through=0.5, color=(0, 0, 0)):
    """The picture below a transparent layer."""
    return np.round(through * picture + (1 - through) * np.array(color)).astype(np.uint8)


def with_dialog(picture):
    """The picture with a dialog in the middle."""
    picture = draw(picture, rectangle=((90, 90, 309, 200), {"fill": (255, 255, 255)}))
    picture[110:158, 100:300] = text("Delete the orders?", canvas=(200, 48))
    return picture


def test_a_dialog_over_a_dimmed_page():
    one = measure(screen(), with_dialog(veiled(screen()))).statements[0]
    assert (one.kind, one.element) == ("added", "dialog")
    assert one.box_after == (90, 90, 310, 201)
    assert one.sentence.endswith(" was added, and the rest was dimmed.")


def test_a_dialog_that_closed():
    one = measure(with_dialog(veiled(screen())), screen()).statements[0]
    assert (one.kind, one.box_after) == ("removed", None)
    assert one.sentence.endswith(" was removed, and the rest is no longer dimmed.")


def test_a_tinted_veil():
    veil = find_veil(screen(), veiled(screen(), 0.6, (30, 41, 59)))
    assert veil is not None and veil.dialog is None
    assert veil.dark and abs(veil.through - 0.6) < 0.02


def test_another_background_is_no_veil():
    other = screen()
    other[(other == 255).all(axis=2)] = (120, 120, 120)
    assert find_veil(screen(), other) is None
    assert find_veil(screen(), screen()) is None


def test_several_new_things_are_no_dialog():
    other = with_dialog(veiled(screen()))
    other[220:280, 20:120] = 255
    assert find_veil(screen(), other) is None


def test_a_heading_on_another_background_is_no_dialog():
    other = veiled(screen())
    other[60:90, 40:300] = (200, 60, 60)
    assert find_veil(screen(), other) is None
