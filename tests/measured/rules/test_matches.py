import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure
from whatchanged.measured.pixels.gate import visibility
from whatchanged.measured.rules.matches import find_match

WORDS = ("Save", "Delete", "Account", "Print", "Overview", "Undo")


def line(order, gap=8, lift=0):
    """Words in a line, so many pixels apart, and their boxes; ``lift`` more pixels up for each."""
    picture = Image.new("RGB", (360, 60), "white")
    draw = ImageDraw.Draw(picture)
    left, boxes = 12, {}
    for index, word in enumerate(order):
        at = (left, 30 - lift * index)
        draw.text(at, WORDS[word], "black", ImageFont.load_default(14))
        boxes[word] = draw.textbbox(at, WORDS[word], ImageFont.load_default(14))
        left = boxes[word][2] + gap
    return np.array(picture), boxes


def test_words_that_changed_places_are_found_where_they_went():
    (before, was), (after, now) = line([0, 1, 2, 3]), line([0, 3, 2, 1])
    shift = find_match(before, after, visibility(before, after), (0, 0, 360, 60), 1.0)
    assert shift is not None
    results = {(one.dx, one.dy) for one in shift.moved}
    assert results == {(now[k][0] - was[k][0], 0) for k in (1, 2, 3)}
    assert shift.seen.score < 1


def test_a_word_that_pushes_others_sideways_and_down_is_what_was_added():
    before, _ = line([0, 1, 2], lift=0)
    after, boxes = line([0, 5, 1, 2], lift=2)
    statements = measure(before, after).statements
    left, top, right, bottom = statements[0].box_after
    assert statements[0].kind == "added"
    assert boxes[5][0] <= (left + right) / 2 < boxes[5][2]
    assert boxes[5][1] <= (top + bottom) / 2 < boxes[5][3]
    assert statements[0].values["rest"][0] > 0


def test_nothing_is_matched_where_words_are_others():
    (before, _), (after, _) = line([0, 1]), line([4, 5])
    assert find_match(before, after, visibility(before, after), (0, 0, 360, 60), 1.0) is None


@pytest.mark.parametrize("gone", [1, 2])
def test_a_word_that_is_gone_comes_before_those_that_close_up(gone):
    order = [0, 1, 2, 3]
    before, boxes = line(order)
    after, _ = line([word for word in order if word != gone])
    first = measure(before, after).statements[0]
    assert first.kind == "removed"
    assert boxes[gone][0] <= (first.box_before[0] + first.box_before[2]) / 2 < boxes[gone][2]


def test_alike_words_that_took_another_color_did_not_change_places():
    def links(color):
        picture = Image.new("RGB", (360, 200), "white")
        draw = ImageDraw.Draw(picture)
        for top in (20, 150):
            draw.text((16, top), "Show Details", color, ImageFont.load_default(14))
        return np.array(picture)

    answer = measure(links((26, 179, 148)), links((20, 137, 113)))
    assert [one.kind for one in answer.statements] == ["recolored"]
