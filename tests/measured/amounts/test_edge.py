"""What became of an edge, drawn with a known truth."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter
from support.drawn_text import draw, page

from whatchanged.measured.amounts.edge import outline_change, radius_change, shadow_change

BOX = (30, 20, 130, 70)
LAST = (30, 20, 129, 69)


def card(width=0, color=(60, 60, 60), fill=(235, 235, 235), radius=0):
    """A card with an outline of so many pixels."""
    options = {"fill": fill, "outline": color if width else None, "width": width, "radius": radius}
    return draw(page(), rounded_rectangle=(LAST, options))


@pytest.mark.parametrize("on", [True, False])
def test_an_outline_came_or_went(on):
    pair = (card(), card(2)) if on else (card(2), card())
    finding = outline_change(*pair, BOX)
    assert finding.aspect == "outline"
    assert finding.values == {"on_after": on, "outline_color": "#3c3c3c"}


def test_an_outline_became_thicker():
    finding = outline_change(card(1), card(3), BOX)
    assert (finding.aspect, finding.values) == ("border width", {"amount_before": 1, "amount_after": 3})


def test_another_colour_of_an_outline_is_no_other_outline():
    assert outline_change(card(2), card(2, color=(200, 30, 30)), BOX) is None


def test_what_changed_within_is_no_outline():
    filled = draw(card(2), rectangle=((34, 24, 126, 66), {"fill": (20, 90, 200)}))
    assert outline_change(card(), filled, BOX) is None


@pytest.mark.parametrize("on", [True, False])
def test_a_thing_that_came_or_went_with_its_text_got_or_lost_no_outline(on):
    labelled = draw(card(2), text=((40, 35), {"text": "Milk, 1 l", "fill": (20, 20, 20)}))
    pair = (card(), labelled) if on else (labelled, card())
    assert outline_change(*pair, BOX) is None
    kept = draw(card(), text=((40, 35), {"text": "Milk, 1 l", "fill": (20, 20, 20)}))
    pair = (kept, labelled) if on else (labelled, kept)
    assert outline_change(*pair, BOX).aspect == "outline"


def test_a_dashed_outline():
    dashed = card(2)
    for start in range(30, 130, 10):
        dashed[20:22, start : start + 4] = dashed[68:70, start : start + 4] = (235, 235, 235)
    for start in range(20, 70, 10):
        dashed[start : start + 4, 30:32] = dashed[start : start + 4, 128:130] = (235, 235, 235)
    white = np.where(dashed == 235, 255, dashed).astype(np.uint8)
    solid = np.where(card(2) == 235, 255, card(2)).astype(np.uint8)
    finding = outline_change(solid, white, BOX)
    assert (finding.aspect, finding.values) == ("line style", {"on_after": True})


def smooth(radius):
    """A card with soft corners, drawn four times as large."""
    large = Image.new("RGB", (640, 400), "white")
    ImageDraw.Draw(large).rounded_rectangle((120, 80, 519, 279), 4 * radius, fill=(70, 110, 200))
    return np.array(large.resize((160, 100), Image.Resampling.BOX))


@pytest.mark.parametrize(("before", "after"), [(4, 8), (12, 4), (0, 6)])
def test_rounder_and_sharper_corners(before, after):
    finding = radius_change(smooth(before), smooth(after), BOX)
    assert finding.aspect == "radius"
    amounts = finding.values["amount_before"], finding.values["amount_after"]
    assert amounts == pytest.approx((before, after), abs=1.2)


def test_the_same_corners_of_another_colour():
    other = np.where(smooth(6) == 255, 255, smooth(6) // 2).astype(np.uint8)
    assert radius_change(smooth(6), other, BOX) is None


def shaded(color=(150, 150, 150)):
    """A white card that throws a soft shadow."""
    under = Image.new("RGB", (160, 100), "white")
    ImageDraw.Draw(under).rectangle((30, 24, 129, 73), fill=color)
    under = under.filter(ImageFilter.GaussianBlur(4))
    ImageDraw.Draw(under).rectangle(LAST, fill=(250, 250, 250))
    return np.array(under)


@pytest.mark.parametrize("on", [True, False])
def test_a_shadow_came_or_went(on):
    bare = draw(page(), rectangle=(LAST, {"fill": (250, 250, 250)}))
    pair = (bare, shaded()) if on else (shaded(), bare)
    finding = shadow_change(*pair, (18, 12, 142, 88))
    assert (finding.aspect, finding.values) == ("shadow", {"on_after": on})


@pytest.mark.parametrize("other", [shaded((250, 60, 60)), card(1)])
def test_a_glow_or_a_line_is_no_shadow(other):
    bare = draw(page(), rectangle=(LAST, {"fill": (250, 250, 250)}))
    assert shadow_change(bare, other, (18, 12, 142, 88)) is None


def test_an_icon_with_soft_edges_is_no_shadow():
    """Its strokes end at once, however many shades of grey their edges have."""
    bare = draw(page(), rectangle=(LAST, {"fill": (250, 250, 250)}))
    image = Image.fromarray(bare).resize((bare.shape[1] * 4, bare.shape[0] * 4))
    ImageDraw.Draw(image).line(
        [(220, 120), (330, 230), (280, 280), (200, 220)], fill=(160, 160, 160), width=11
    )
    drawn = np.asarray(image.resize((bare.shape[1], bare.shape[0]), Image.Resampling.LANCZOS))
    assert shadow_change(bare, drawn, (44, 24, 90, 76)) is None


def test_letters_beside_a_side_are_no_dashes():
    plain = draw(page(), text=((60, 24), {"text": "the plan", "fill": (20, 20, 20)}))
    framed = draw(plain, rectangle=((28, 20, 139, 41), {"outline": (120, 120, 120), "width": 2}))
    assert outline_change(plain, framed, (28, 20, 140, 42)).values["on_after"]
