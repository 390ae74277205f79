import numpy as np
import pytest
from PIL import Image, ImageDraw

from whatchanged.measured import measure
from whatchanged.measured.pixels.corners import cornered_boxes
from whatchanged.measured.pixels.planes import steps_between

PALE = (252, 230, 235)
SMOOTH = 8
"""How many times larger the boxes are drawn before they are reduced, which makes their corners smooth."""
BANNERS = ((20, 20, 300, 50), (20, 90, 300, 120))
BUTTONS = ((20, 20, 90, 50), (110, 20, 180, 50), (200, 20, 270, 50))


def drawn(boxes, radius, fill=PALE):
    picture = Image.new("RGB", (320 * SMOOTH, 140 * SMOOTH), "white")
    canvas = ImageDraw.Draw(picture)
    for left, top, right, bottom in boxes:
        sides = (left * SMOOTH, top * SMOOTH, right * SMOOTH - 1, bottom * SMOOTH - 1)
        canvas.rounded_rectangle(sides, radius * SMOOTH, fill=fill)
    return np.asarray(picture.resize((320, 140), Image.Resampling.BOX))


def found(before, after):
    return cornered_boxes(before, after, steps_between(before, after))


@pytest.mark.parametrize("boxes", [BANNERS, BUTTONS])
@pytest.mark.parametrize("radii", [(12, 8), (4, 8)])
@pytest.mark.parametrize("fill", [PALE, (30, 60, 160)])
def test_each_box_whose_corners_changed(boxes, radii, fill):
    pictures = [drawn(boxes, radius, fill) for radius in radii]
    boxed = sorted(found(*pictures))
    assert np.abs(np.subtract([box for box, _ in boxed], sorted(boxes))).max() <= 1
    assert {rounder for _, rounder in boxed} == {radii[1] > radii[0]}


@pytest.mark.parametrize("radii", [(6, 14), (12, 3), (6, 0)])
def test_corners_of_outlined_buttons_with_words(radii):
    """A large corner is as high as the words beside it."""
    pictures = []
    for radius in radii:
        picture = Image.fromarray(drawn(BUTTONS, radius, (200, 205, 215)))
        inner = Image.fromarray(
            drawn([(a + 1, b + 1, c - 1, d - 1) for a, b, c, d in BUTTONS], max(0, radius - 1), "white")
        )
        mask = drawn([(a + 1, b + 1, c - 1, d - 1) for a, b, c, d in BUTTONS], max(0, radius - 1), "black")
        picture.paste(inner, mask=Image.fromarray(255 - mask[..., 0]))
        for left, top, _, _ in BUTTONS:
            ImageDraw.Draw(picture).text((left + 16, top + 8), "Save it", fill=(50, 60, 80))
        pictures.append(np.asarray(picture))
    boxed = found(*pictures)
    assert sorted(boxed) == [(box, radii[1] > radii[0]) for box in sorted(BUTTONS)]


def test_another_difference_is_not_hidden_by_corners():
    before, after = drawn(BANNERS, 12), drawn(BANNERS, 8).copy()
    after[70:74, 100:104] = 200
    assert found(before, after) == []


def test_pale_corners_are_told_with_their_radius():
    answer = measure(drawn(BANNERS, 12), drawn(BANNERS, 8))
    (change,) = answer.statements
    assert (answer.verdict, change.values["aspect"], change.count) == ("changed", "radius", 2)
    assert change.values["amount_before"] == pytest.approx(12, abs=0.5)
    assert change.values["amount_after"] == pytest.approx(8, abs=0.5)


def test_handles_at_the_corners_of_a_frame_are_no_corners():
    def frame(fill):
        picture = Image.new("RGB", (200, 200), "white")
        canvas = ImageDraw.Draw(picture)
        canvas.rectangle((40, 40, 160, 160), outline=(120, 150, 255))
        for across in (40, 160):
            for down in (40, 160):
                canvas.ellipse((across - 7, down - 7, across + 7, down + 7), fill=fill, outline="green")
        return np.asarray(picture)

    assert found(frame("green"), frame("white")) == []
