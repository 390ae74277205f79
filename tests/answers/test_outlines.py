import numpy as np
from PIL import Image

from whatchanged.answers import Answerer
from whatchanged.answers.outlines import COLOR, outlined
from whatchanged.captioner.heatmap import GAP, MOST_HEIGHT
from whatchanged.measured import Statement


def flat(width=60, height=40):
    return Image.new("RGB", (width, height), (100, 100, 100))


def statement(before, after, boxes=()):
    return Statement(None, before, after, "Something changed.", 0.5, boxes=boxes)


def test_boxes_are_drawn_around_what_changed_in_their_own_picture():
    sheet = np.asarray(outlined(flat(), flat(), [statement((10, 10, 20, 20), (30, 5, 40, 15))]))
    assert sheet.shape == (40, 60 + GAP + 60, 3)
    red = (sheet == COLOR).all(-1)
    old, new = red[:, :60], red[:, 60 + GAP :]
    assert old[9, 9:21].all() and old[20, 9:21].all() and old[9:21, 9].all() and old[9:21, 20].all()
    assert not old[10:20, 10:20].any(), "what changed is not covered"
    assert new[4, 29:41].all() and not new[5:15, 30:40].any()


def test_a_thing_that_is_not_there_has_no_box():
    sheet = np.asarray(outlined(flat(), flat(), [statement(None, (30, 5, 40, 15))]))
    assert not (sheet[:, :60] == COLOR).all(-1).any()


def test_every_place_of_an_alike_change_is_outlined():
    boxes = ((5, 5, 10, 10), (30, 20, 40, 30))
    sheet = np.asarray(outlined(flat(), flat(), [statement(boxes[0], boxes[0], boxes)]))[:, 60 + GAP :]
    assert all((sheet[top - 1, left:right] == COLOR).all() for left, top, right, _ in boxes)


def test_large_pictures_are_shown_smaller_on_one_scale():
    sheet = outlined(flat(300, 2 * MOST_HEIGHT), flat(100, MOST_HEIGHT), [])
    assert sheet.size == (150 + GAP + 50, MOST_HEIGHT)


def test_a_measured_answer_shows_itself():
    after = flat()
    after.paste((255, 255, 255), (20, 10, 40, 30))
    answer = Answerer(strict=True).answer(flat(), after)
    assert answer.heatmap().size == (60 + GAP + 60, 40)
    shown = answer._repr_html_()
    assert "measured" in shown and shown.count("data:image/png;base64,") == 1
