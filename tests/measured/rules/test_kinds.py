"""What kind of change one place shows, on drawn pairs."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from whatchanged.measured.rules.kinds import Finding, find_kind

BOX = (10, 10, 70, 70)


def found(before, after, box=BOX) -> Finding:
    """The finding about a box in which all differs that does."""
    return find_kind(before, after, box, (before != after).any(axis=2))


def drawn(pen_lines, size=(80, 80), width=2):
    """Polylines in black on white, (H, W, 3)."""
    picture = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(picture)
    for points in pen_lines:
        pen.line(points, fill="black", width=width)
    return np.array(picture)


def tick(left, top, side):
    """A tick that is as wide as it is high."""
    return [(left, top + side // 2), (left + side // 3, top + side), (left + side, top)]


def test_an_icon_that_was_scaled_in_its_place_has_its_sizes():
    before, after = drawn([tick(12, 12, 20)], width=3), drawn([tick(13, 13, 17)], width=3)
    one = found(before, after, (10, 10, 36, 36))
    assert (one.kind, one.aspect) == ("resized", "size")
    (wide, high), (narrow, low) = one.values["size_before"], one.values["size_after"]
    assert wide - narrow == high - low == 3


def test_a_thing_in_a_ring_was_not_scaled():
    """The box of the ink is larger, but what is drawn in it is not the same at another size."""
    inner = [[(25, 25), (55, 25), (55, 55), (25, 55), (25, 25)], [(25, 40), (55, 40)]]
    ring = [(12, 12), (68, 12), (68, 68), (12, 68), (12, 12)]
    assert found(drawn(inner), drawn([*inner, ring])).aspect != "size"


@pytest.mark.parametrize("high", [16, 60])
def test_less_ink_tells_of_something_removed_in_a_line_of_text_alone(high):
    before, after = (np.full((80, 200, 3), 255, np.uint8) for _ in range(2))
    columns = np.arange(180)
    before[10 : 10 + high, 10 + columns[columns % 8 < 3]] = 0
    after[10 : 10 + high, 10 + columns[columns % 32 == 5]] = 0  # beside all of these
    one = found(before, after, (10, 10, 190, 10 + high))
    assert (one.kind, one.aspect) == (("removed", "thing") if high == 16 else ("replaced", "part"))


def panel(fill, ground=255, word=True, right=70):
    """A panel in the box with a word on it."""
    pixels = np.full((80, 100, 3), ground, np.uint8)
    pixels[10:70, 10:right] = fill
    if word:
        pixels[36:44, 20:24] = pixels[36:44, 28:40] = 90
    return pixels


def test_a_panel_that_took_the_colour_of_the_ground_is_recoloured_where_its_words_stay():
    one = found(panel(200), panel(254))
    assert (one.kind, one.aspect) == ("recolored", "fill")
    assert found(panel(200), panel(255, word=False)).kind == "removed"
    assert found(panel(254), panel(200)).kind == "recolored"


@pytest.mark.parametrize("beside", [235, 160])
def test_a_thing_that_grew_up_to_another_one_is_told_to_have_grown(beside):
    before, after = (panel(120, word=False, right=60) for _ in range(2))
    before[:, 78:], after[:, 78:] = beside, beside
    after[10:70, 60:78] = 120
    one = found(before, after, (60, 10, 78, 70))
    assert (one.kind, one.aspect, one.values) == ("resized", "length", {"dx": 18, "grew": True})


def test_what_turned_beside_the_foot_of_a_shadow_did_not_grow():
    before, after = panel(255, ground=250, word=False), panel(236, ground=250, word=False)
    before[:10], after[:10] = 120, 120  # another thing above it
    for step in range(6):
        before[70 + step, 10:70] = after[70 + step, 10:70] = 236 + 2 * step
    assert found(before, after).kind != "resized"


@pytest.mark.parametrize(("word", "kind", "aspect"), [(False, "replaced", "fill"), (True, "added", "fill")])
def test_a_filled_area_over_other_content_is_no_change_of_colour(word, kind, aspect):
    before = np.full((80, 100, 3), 255, np.uint8)
    before[15:30:4, 20:60] = before[50:66:4, 20:60] = 90
    one = found(before, panel(120, word=word))
    assert (one.kind, one.aspect, one.values) == (kind, aspect, {"color_after": "#787878"})


def test_another_fill_with_other_content_only_shows_other_content():
    before, after = panel(255, ground=200, word=False), panel(200, ground=200, word=False)
    before[15:30:4, 20:60], after[50:66:4, 15:50] = 90, 90
    one = found(before, after)
    assert (one.kind, one.aspect) == ("replaced", "content")


def test_more_ink_alone_is_marked_as_such():
    before, after = (np.full((100, 200, 3), 255, np.uint8) for _ in range(2))
    columns = np.arange(180)
    before[10:80, 10 + columns[columns % 32 == 5]] = 0
    after[10:80, 10 + columns[columns % 8 < 3]] = 0
    assert found(before, after, (10, 10, 190, 80)).values == {"by_amount": True}


def test_ink_of_another_colour_at_other_pixels_was_not_only_recoloured():
    """The letters of another typeface lie within a pixel of the former ones."""
    before, after, beside = (np.full((80, 100, 3), 255, np.uint8) for _ in range(3))
    before[20:60, 20:60:6] = before[20:60, 21:60:6] = 20
    after[20:60, 20:60:6] = after[20:60, 21:60:6] = 140
    beside[20:60, 21:60:6] = beside[20:60, 22:60:6] = 140
    assert (found(before, after).kind, found(before, after).aspect) == ("recolored", "ink")
    assert found(before, beside).kind == "restyled"


@pytest.mark.parametrize("came", [True, False])
def test_a_scroll_bar_over_the_border_of_a_field(came):
    field = np.full((120, 200, 3), 238, np.uint8)
    field[20:100, 20:160] = (255, 235, 59)
    field[20:100, 159] = 0
    scrolled = field.copy()
    scrolled[24:80, 156:160] = 188
    pair = (field, scrolled) if came else (scrolled, field)
    one = found(*pair, (156, 24, 160, 80))
    assert (one.kind, one.aspect) == ("added" if came else "removed", "thing")


def test_a_bar_of_another_colour_was_recoloured():
    one = np.full((120, 200, 3), 238, np.uint8)
    one[24:80, 156:160] = 188
    other = one.copy()
    other[24:80, 156:160] = (60, 60, 200)
    change = found(one, other, (156, 24, 160, 80))
    assert (change.kind, change.aspect) == ("recolored", "border")


@pytest.mark.parametrize("upright", [True, False])
@pytest.mark.parametrize(("was", "now"), [(2, 1), (1, 3)])
def test_an_underline_that_became_thinner_or_thicker_was_not_recoloured(was, now, upright):
    """The line below continues to the right, in the grey that the underline leaves."""
    pictures = []
    for thick in (was, now):
        picture = np.full((80, 200, 3), 255, np.uint8)
        picture[40:42] = 212
        picture[40 : 40 + thick, 40:140] = (25, 179, 148)
        pictures.append(picture.swapaxes(0, 1) if upright else picture)
    first, last = 40 + min(was, now), 40 + max(was, now)
    box = (first, 40, last, 140) if upright else (40, first, 140, last)
    one = found(pictures[0], pictures[1], box)
    assert (one.kind, one.aspect) == ("restyled", "line width")
    assert one.values == {"amount_before": was, "amount_after": now}
