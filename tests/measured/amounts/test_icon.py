"""Icons that changed at their place, drawn with a known truth."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from whatchanged.measured import measure

INK = (40, 40, 50)


def picture(points=(), width=0, fill=True, size=None, center=(80, 60)):
    """A picture with one drawing, whose points lie in a square of 24 units."""
    scale = 8
    drawn = Image.new("RGB", (160 * scale, 120 * scale), "white")
    unit = (size or 24) * scale / 24
    places = [(center[0] * scale + (x - 12) * unit, center[1] * scale + (y - 12) * unit) for x, y in points]
    canvas = ImageDraw.Draw(drawn)
    if width:
        canvas.line(
            [*places, *places[: 2 if fill else 0]], fill=INK, width=round(width * unit), joint="curve"
        )
    else:
        canvas.polygon(places, fill=INK)
    return np.asarray(drawn.resize((160, 120), Image.Resampling.BOX))


STAR = [(12, 1), (15, 9), (23, 9), (17, 14), (19, 22), (12, 17), (5, 22), (7, 14), (1, 9), (9, 9)]
HOUSE = [(2, 12), (12, 2), (22, 12), (22, 22), (14, 22), (14, 15), (10, 15), (10, 22), (2, 22)]
FLAG = [(3, 1), (21, 1), (16, 8), (21, 15), (7, 15), (7, 23), (3, 23)]
DOWN, UP = [(3, 8), (21, 8), (12, 18)], [(3, 16), (21, 16), (12, 6)]
RIGHT, LEFT = [(8, 3), (8, 21), (18, 12)], [(16, 3), (16, 21), (6, 12)]


@pytest.mark.parametrize("points", [STAR, HOUSE])
@pytest.mark.parametrize(("was", "now"), [(16, 20), (24, 20), (20, 32), (48, 40)])
def test_an_icon_was_scaled_in_its_place(points, was, now):
    first = measure(picture(points, size=was), picture(points, size=now)).statements[0]
    assert (first.kind, first.values["aspect"]) == ("resized", "size")
    assert f"became {'larger' if now > was else 'smaller'}, " in first.sentence


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (DOWN, UP, "points up instead of down"),
        (RIGHT, DOWN, "points down instead of right"),
        (DOWN, LEFT, "points left instead of down"),
        (LEFT, RIGHT, "points right instead of left"),
    ],
)
@pytest.mark.parametrize("size", [16, 20, 40])
def test_an_arrow_was_turned(one, other, told, size):
    first = measure(picture(one, size=size), picture(other, size=size)).statements[0]
    assert first.sentence == f"The arrow in the middle {told}."


@pytest.mark.parametrize("filled", [True, False])
def test_an_icon_was_filled_or_only_outlined(filled):
    outline, full = picture(HOUSE, width=2, size=32), picture(HOUSE, size=34)
    pictures = (outline, full) if filled else (full, outline)
    first = measure(*pictures).statements[0]
    assert (first.kind, first.values["aspect"], first.values["on_after"]) == ("restyled", "filled", filled)


def test_another_icon_stands_there():
    one, other = (picture(points, width=2.4, size=24) for points in (STAR, FLAG))
    first = measure(one, other).statements[0]
    assert first.kind == "replaced"
    assert first.sentence == "The icon in the middle was replaced by another one."


def test_an_icon_that_is_drawn_thicker_is_no_other_one():
    one, other = (picture(STAR, width=width, size=24) for width in (2, 3))
    assert all("another one" not in told.sentence for told in measure(one, other).statements)


def test_a_recoloured_icon_keeps_its_drawing():
    one = picture(HOUSE, size=24)
    other = one.copy()
    other[..., 0] = 255 - (255 - one[..., 0].astype(int)) // 8
    first = measure(one, other).statements[0]
    assert first.kind == "recolored"


def test_icons_that_were_scaled_alike_are_told_together():
    pictures = []
    for size in (16, 24):
        rows = [picture(points, size=size, center=(40, 60)) for points in (STAR, HOUSE, FLAG)]
        pictures.append(np.concatenate(rows))
    first = measure(*pictures).statements[0]
    assert first.count == 3
    assert "became larger" in first.sentence
    assert " x " not in first.sentence


def test_a_mirrored_drawing_was_not_turned():
    """Both halves of this drawing are alike from top to bottom, so half a turn looks like a mirror image."""
    key = [(2, 8), (8, 2), (13, 8), (22, 8), (22, 16), (13, 16), (8, 22), (2, 16)]
    hole = [(2, 11), (5, 11), (5, 13), (2, 13)]
    one = picture([*key, *hole], size=32)
    assert all("turned" not in told.sentence for told in measure(one, one[:, ::-1]).statements)


def test_an_outline_is_filled_at_double_density():
    outline, full = picture(HOUSE, width=2, size=64), picture(HOUSE, size=68)
    first = measure(outline, full).statements[0]
    assert (first.kind, first.values["aspect"], first.values["on_after"]) == ("restyled", "filled", True)


def listed(arrow, moved=0):
    """A picture with an arrow of a list that opens, and blocks for words on both sides of it."""
    made = picture(DOWN, size=arrow, center=(80 + moved, 60)).copy()
    for left in (14, 24, 34):
        made[54:66, left + moved : left + moved + 7] = INK
    made[54:66, 120:131] = INK
    return made


@pytest.mark.parametrize(("was", "now"), [(16, 11), (11, 16)])
def test_the_small_arrow_of_a_list_became_smaller(was, now):
    first = measure(picture(DOWN, size=was), picture(DOWN, size=now)).statements[0]
    assert first.sentence.startswith("The arrow")
    assert f"became {'larger' if now > was else 'smaller'}, " in first.sentence


def test_a_smaller_arrow_moved_what_stands_beside_it():
    first = measure(listed(18), listed(13, moved=4)).statements[0]
    assert first.sentence.startswith("The arrow")
    assert "became smaller" in first.sentence
    assert "which moved the rest right by 4 pixels" in first.sentence


def test_what_closed_up_beside_a_smaller_arrow_is_the_arrow():
    def page(arrow, moved):
        made = picture(DOWN, size=arrow, center=(80 - arrow // 8, 60)).copy()
        for left in (112, 124, 136):
            made[54:66, left - moved : left - moved + 7] = INK
        return made

    first = measure(page(16, 0), page(12, 4)).statements[0]
    assert first.sentence.startswith("The arrow")
    assert "became smaller" in first.sentence


@pytest.mark.parametrize("filled", [True, False])
def test_a_disc_with_a_bar_became_a_ring_with_a_bar(filled):
    """The ring is in both pictures: what differs is only the inner part of the icon."""
    scale, pictures = 8, []
    for full in (True, False):
        drawn = Image.new("RGB", (160 * scale, 120 * scale), "white")
        canvas = ImageDraw.Draw(drawn)
        for half, color in ((20, INK), (15, INK if full else "white")):
            canvas.ellipse(
                [(80 - half) * scale, (60 - half) * scale, (80 + half) * scale, (60 + half) * scale],
                fill=color,
            )
        canvas.rectangle([70 * scale, 58 * scale, 90 * scale, 62 * scale], fill="white" if full else INK)
        pictures.append(np.asarray(drawn.resize((160, 120), Image.Resampling.BOX)))
    first = measure(*(pictures[::-1] if filled else pictures)).statements[0]
    assert first.sentence == f"The icon in the middle is now {'filled' if filled else 'only outlined'}."
    assert (first.kind, first.values["on_after"]) == ("replaced", filled)
    assert np.abs(np.subtract(first.box_after, (60, 40, 100, 80))).max() <= 2
