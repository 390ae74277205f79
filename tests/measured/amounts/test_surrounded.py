"""Cards on a page, drawn with PIL; only their edges or shadows differ."""

import pytest
from PIL import Image, ImageDraw, ImageFilter

from whatchanged.measured import measure

CARDS = ((40, 30, 360, 110), (40, 130, 360, 190), (40, 210, 360, 270))


def page(border=(229, 231, 235), shadow=False, cards=CARDS):
    image = Image.new("RGB", (400, 300), (249, 250, 251))
    if shadow:
        dark = Image.new("L", image.size, 0)
        for left, top, right, bottom in cards:
            ImageDraw.Draw(dark).rectangle((left, top + 2, right, bottom + 2), fill=60)
        image.paste((0, 0, 0), mask=dark.filter(ImageFilter.GaussianBlur(3)))
    draw = ImageDraw.Draw(image)
    for left, top, right, bottom in cards:
        draw.rectangle((left, top, right - 1, bottom - 1), fill="white", outline=border)
        draw.text((left + 20, top + 20), "Some words in a card", fill=(40, 45, 60))
    return image


@pytest.mark.parametrize("after", [page((156, 163, 175)), page(shadow=True)], ids=["border", "shadow"])
def test_each_card_has_a_box(after):
    (statement,) = measure(page(), after).statements
    assert statement.count == len(CARDS)
    for box, card in zip(sorted(statement.boxes), sorted(CARDS), strict=True):
        assert max(abs(a - b) for a, b in zip(box, card, strict=True)) <= 2


def test_a_single_card_is_one_thing():
    one = CARDS[:1]
    (statement,) = measure(page(cards=one), page((156, 163, 175), cards=one)).statements
    assert statement.count == 1
