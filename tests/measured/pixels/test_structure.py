"""Structured differences count however faint; what is drawn anew, or compressed, does not."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured.pixels.gate import visibility
from whatchanged.measured.pixels.structure import visible_by
from whatchanged.measured.policy import DEFAULT, POLICIES

WHITE, GREY = (255, 255, 255), (229, 231, 235)


def card(radius=6, fill=WHITE, border=GREY, ink=(40, 45, 60), text="Monthly report", left=30, width=2):
    """A page of 320 x 140 pixels with one card, drawn four times as large and reduced."""
    image = Image.new("RGB", (4 * 320, 4 * 140), WHITE)
    draw = ImageDraw.Draw(image)
    box = (4 * left, 4 * 30, 4 * (left + 240) - 1, 4 * 110 - 1)
    draw.rounded_rectangle(box, 4 * radius, fill=fill, outline=border, width=4 * width)
    image = image.resize((320, 140), Image.Resampling.BOX)
    ImageDraw.Draw(image).text((50, 60), text, fill=ink, font=ImageFont.load_default(16))
    return np.asarray(image)


def score(before, after, policy="default"):
    forth, back = (visible_by(POLICIES[policy], *pair).score for pair in ((before, after), (after, before)))
    assert forth == pytest.approx(back)
    return forth


@pytest.mark.parametrize(
    "after",
    [
        card(radius=2),
        card(fill=(249, 250, 251)),
        card(border=(219, 221, 225)),
        card(ink=(60, 65, 80)),
        card(left=31),
        card(width=1),
    ],
    ids=["radius", "fill", "border", "text colour", "one pixel", "ring"],
)
def test_what_is_structured_counts(after):
    assert score(card(), after) >= 1


def field(left=30, words=52):
    """A page with one low field, drawn four times as large and reduced; its words start at ``words``."""
    image = Image.new("RGB", (4 * 320, 4 * 90), WHITE)
    box = (4 * left, 4 * 30, 4 * (left + 200) - 1, 4 * 58 - 1)
    look = {"fill": (247, 247, 247), "outline": (200, 200, 200), "width": 4}
    ImageDraw.Draw(image).rounded_rectangle(box, 4 * 8, **look)
    image = image.resize((320, 90), Image.Resampling.BOX)
    for at in (words, words + 60):  # upright strokes, as high as those of letters of 16 pixels
        ImageDraw.Draw(image).line((at, 37, at, 48), fill=(120, 120, 120))
    return np.asarray(image)


def test_a_low_field_that_moves_by_one_pixel_counts_and_words_that_do_do_not():
    assert score(field(), field(left=31, words=53)) >= 1
    assert score(field(), field(left=31)) >= 1
    assert score(field(), field(words=53)) < 1


def test_lenient_passes_what_default_counts():
    assert score(card(), card(fill=(251, 251, 251)), "lenient") < 1
    assert score(card(), card(border=(222, 224, 228)), "lenient") < 1
    assert score(card(border=(180, 180, 180)), card(border=(180, 180, 180), left=31), "lenient") < 1
    assert score(card(), card(fill=(252, 252, 252)), "design-system") >= 1
    assert score(card(), card(fill=(252, 252, 252))) < 1


@pytest.mark.parametrize("level", [246, 250])
def test_round_corners_count_where_their_edge_is_drawn_a_level_otherwise(level):
    """As of a box at a part of a pixel: its edge is drawn by another way once its corners are round."""
    before, after = card(radius=0, border=(level - 40,) * 3), card(radius=4, border=(level - 40,) * 3)
    after = np.where((after == before) & (before == level - 40), after + 2, after)
    assert score(before, after) >= 1


def shaded(levels, first=110):
    """The card with rows of a shadow below it, each so much darker than white."""
    page = card().copy()
    for row, level in enumerate(levels):
        page[first + row, 36:264] = 255 - level
    return page


def test_a_faint_shadow_counts_and_a_fainter_one_does_not():
    assert score(card(), shaded((9, 4, 2))) >= 1
    assert score(shaded((4, 2, 2)), shaded((12, 6, 4))) >= 1
    assert score(card(), shaded((6, 4, 2))) < 1


def test_two_rows_are_no_shadow_nor_are_a_darker_and_a_lighter_one():
    assert score(card(), shaded((9, 4))) < 1
    assert score(shaded((0, 4, 0)), shaded((9, 0, 2))) < 1


def test_the_steps_of_a_gradient_are_no_edges():
    """Single pixels at the ends of rows that a gradient compressed anew has a few levels otherwise."""
    before = np.repeat(np.repeat(np.linspace(90, 130, 40).astype(np.uint8)[None, :, None], 160, 0), 3, 2)
    after = before.copy()
    for top in range(20, 140, 16):
        after[top : top + 2, 20] -= 3
    assert score(before, after) < 1


def test_a_small_fill_that_nobody_sees_is_none():
    before = np.full((100, 100, 3), 200, np.uint8)
    after = before.copy()
    after[40:48, 40:60] = 204
    assert score(before, after) < 1


@pytest.mark.parametrize(("quality", "sampling"), [(88, "4:2:0"), (80, "4:4:4"), (93, "4:2:0")])
def test_a_picture_beside_its_jpeg_is_noise_and_a_change_in_it_is_not(quality, sampling):
    before = card(ink=(200, 30, 40), border=(20, 90, 200))
    buffer = io.BytesIO()
    Image.fromarray(before).save(buffer, "JPEG", quality=quality, subsampling=sampling)
    compressed = np.array(Image.open(buffer).convert("RGB"))
    assert score(before, compressed) < 0.5
    compressed[90:100, 60:120] = (30, 120, 60)
    assert score(before, compressed) > 1


def test_text_that_is_drawn_a_part_of_a_pixel_aside_is_noise():
    pictures = []
    for aside in (0, 1, 2):
        image = Image.new("RGB", (4 * 320, 4 * 60), WHITE)
        ImageDraw.Draw(image).text(
            (40 + aside, 60 + aside),
            "Your card expires soon",
            fill=(20, 20, 20),
            font=ImageFont.load_default(64),
        )
        pictures.append(np.asarray(image.resize((320, 60), Image.Resampling.BOX)))
    for other in pictures[1:]:
        assert score(pictures[0], other) < 0.8


def test_what_is_seen_anyway_stays_as_it_is():
    before, after = card(), card(fill=(120, 160, 220))
    seen = visible_by(DEFAULT, before, after)
    np.testing.assert_array_equal(seen.strength, visibility(before, after).strength)


def page_with_lines(aside, snapped):
    """A page of 320 x 240 pixels: lines of text, so many quarters of a pixel aside, and two rules between."""
    image = Image.new("RGB", (4 * 320, 4 * 240), WHITE)
    draw = ImageDraw.Draw(image)
    for line in range(6):
        draw.text(
            (80 + aside, 60 + 140 * line + aside),
            "Your card expires at the end",
            fill=(20, 20, 20),
            font=ImageFont.load_default(64),
        )
    page = np.array(image.resize((320, 240), Image.Resampling.BOX))
    for top in (80, 150):
        page[top + snapped, 20:300] = 120
    return page


def test_a_line_that_snaps_while_all_is_drawn_anew_is_noise_and_one_that_moves_alone_is_not():
    before = page_with_lines(0, 0)
    assert score(before, page_with_lines(2, 0)) < 0.8
    assert score(before, page_with_lines(2, 1)) < 0.8
    assert score(before, page_with_lines(0, 1)) >= 1
