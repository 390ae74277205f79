"""Areas and outlines that grew around content of their own, drawn with a known truth."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure
from whatchanged.measured.amounts.areas import areas_of_more, grown_areas
from whatchanged.measured.amounts.icon import moved_icon
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding

FONT = ImageFont.load_default(16)
GROUND, INK = (250, 250, 250), (40, 40, 50)


def page(*areas, size=(420, 240)):
    """A picture with areas, each (box, fill, outline, text, where the text starts)."""
    drawn = Image.new("RGB", size, GROUND)
    canvas = ImageDraw.Draw(drawn)
    canvas.text((20, 10), "Overview of all settings", INK, FONT)
    for (left, top, right, bottom), fill, outline, text, start in areas:
        canvas.rounded_rectangle((left, top, right - 1, bottom - 1), 6, fill, outline, 2)
        canvas.text(start, text, INK, FONT)
    return np.asarray(drawn)


RED, BLUE, GREEN = (240, 120, 110), (130, 170, 240), (120, 200, 140)


def unclear(box):
    """A change of which the rules only know that something looks different."""
    return DetectedChange(Finding("replaced", "part", 0.3), box, box, 4000)


def test_an_area_that_grew_on_two_sides_and_shrank_on_another():
    was, now = (40, 100, 300, 130), (40, 92, 290, 138)
    one, other = (page((box, RED, None, "Select a file", (41, 104))) for box in (was, now))
    (found,) = grown_areas([unclear((40, 92, 300, 138))], one, other)
    assert (found.finding.kind, found.finding.values) == ("resized", {"dwidth": -10, "dheight": 16})
    assert (found.box_before, found.box_after) == (was, now)


@pytest.mark.parametrize("wider", [-24, 16, 40])
def test_an_outline_that_shows_more_or_less_of_its_text(wider):
    def chip(right):
        canvas = page(((30, 90, right, 126), None, INK, "", (0, 0))).copy()
        text = page(((0, 0, 1, 1), None, None, "column: my description of the long name", (40, 98)))
        canvas[95:122, 38 : right - 40] = text[95:122, 38 : right - 40]
        for k in range(9):
            canvas[104 + k, [right - 24 + k, right - 16 - k]] = INK
        return canvas

    first = measure(chip(260), chip(260 + wider)).statements[0]
    assert f"{abs(wider)} pixels {'wider' if wider > 0 else 'narrower'}" in first.sentence
    assert first.box_after == (30, 90, 260 + wider, 126)


def test_a_column_of_cards_whose_text_needs_one_line_less():
    def column(height, lines):
        cards = []
        for k, fill in enumerate((RED, BLUE, GREEN, RED, BLUE)):
            top = 40 + k * (height + 12)
            cards.append(
                ((240, top, 400, top + height), fill, None, "Paragraph of text\nno"[:lines], (252, top + 8))
            )
        return page(*cards, size=(420, 480))

    around = (240, 40, 400, 448)
    (found,) = grown_areas([unclear(around)], column(72, 20), column(48, 17))
    assert (found.finding.kind, found.finding.values) == ("resized", {"dy": -24, "grew": False})
    assert (found.box_before, found.box_after) == (around, (240, 40, 400, 328))
    assert len(found.boxes) == 5


def test_a_movement_that_is_only_that_of_a_side():
    was, now = (60, 50, 200, 90), (60, 50, 200, 100)
    one, other = (page((box, GREEN, INK, "Message", (70, box[3] - 25))) for box in (was, now))
    side = Finding("moved", "position", 0.7, {"dx": 0, "dy": 10})
    (found,) = grown_areas([DetectedChange(side, (62, 80, 198, 90), (62, 90, 198, 100), 900)], one, other)
    assert (found.finding.kind, found.finding.values) == ("resized", {"dy": 10, "grew": True})
    assert (found.box_before, found.box_after) == (was, now)


def test_another_text_in_a_taller_area_is_not_told_as_its_size():
    one = page(((40, 60, 300, 110), GREEN, None, "Invite people to\nthe calendar", (50, 66)))
    other = page(((40, 60, 300, 130), GREEN, None, "Storage is full, please\nremove some\nreports", (50, 66)))
    area = unclear((40, 60, 300, 130))
    assert grown_areas([area], one, other) == [area]


def test_the_gaps_between_other_pictures_are_no_areas():
    def pictures(height, seed):
        made = np.full((200, 300, 3), 255, np.uint8)
        noise = np.random.default_rng(seed)
        for left in (20, 110, 200):
            made[100 - height // 2 : 100 + height // 2, left : left + 80] = noise.integers(
                0, 255, (2 * (height // 2), 80, 3)
            )
        return made

    one, other = pictures(120, 1), pictures(90, 2)
    area = unclear((20, 40, 280, 160))
    assert grown_areas([area], one, other) == [area]


@pytest.mark.parametrize("outline", [INK, None])
def test_a_longer_text_in_a_wider_button_was_rewritten(outline):
    fill = GREEN if outline is None else None
    was, now = (40, 90, 104, 126), (40, 90, 178, 126)
    one, other = (
        page((box, fill, outline, text, (56, 98))) for box, text in ((was, "Save"), (now, "Save all changes"))
    )
    more = DetectedChange(Finding("added", "thing", 0.3, {"by_amount": True}), None, (90, 90, 178, 126), 800)
    (found,) = areas_of_more([more], one, other)
    assert found.finding.kind == "rewritten"
    assert (found.box_before, found.box_after) == (was, now)
    assert "outline" not in measure(one, other).sentence


def test_an_area_that_shows_more_of_the_ground_only_became_wider():
    was, now = (40, 90, 204, 126), (40, 90, 228, 126)
    one, other = (page((box, None, INK, "Save changes", (56, 98))) for box in (was, now))
    more = DetectedChange(Finding("added", "thing", 0.3, {"by_amount": True}), None, (202, 90, 228, 126), 800)
    (found,) = areas_of_more([more], one, other)
    assert (found.finding.kind, found.finding.values) == ("resized", {"dx": 24, "grew": True})


def test_places_beyond_the_smaller_picture_are_left_as_they_are():
    one, other = page(size=(200, 120)), page(size=(420, 240))
    finding = Finding("moved", "position", 0.7, {"dx": 0, "dy": 40})
    moved = DetectedChange(finding, (210, 130, 290, 140), (210, 170, 290, 180), 800)
    assert grown_areas([moved, unclear((150, 90, 300, 200))], one, other) == [
        moved,
        unclear((150, 90, 300, 200)),
    ]
    assert moved_icon(moved, one, other) is None
