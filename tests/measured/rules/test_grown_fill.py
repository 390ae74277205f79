"""A fill behind text that grew or shrank at one end, drawn with a known truth."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from whatchanged.measured import measure

PALE = (200, 222, 252)


def line(selected, words=6):
    """A line of drawn words, some of them selected: the numbers of the first one and of the one after the
    last."""
    picture = Image.new("RGB", (420, 80), "white")
    canvas = ImageDraw.Draw(picture)
    if selected is not None:
        canvas.rectangle((38 + 60 * selected[0], 28, 37 + 60 * selected[1], 51), fill=PALE)
    for word in range(words):
        for stroke in range(5):
            left = 42 + 60 * word + 9 * stroke + (3 * word + stroke * stroke) % 4
            canvas.rectangle((left, 34, left + 1 + (word + stroke) % 3, 45), fill=(30, 30, 30))
    return np.asarray(picture)


@pytest.mark.parametrize(
    ("was", "now", "step"),
    [((1, 2), (1, 4), 120), ((1, 4), (1, 2), -120), ((3, 5), (2, 5), 60), ((1, 5), (2, 5), -60)],
)
def test_a_selection_grew_or_shrank(was, now, step):
    (one,) = measure(line(was), line(now)).statements
    assert (one.kind, one.values["aspect"], one.values["dx"]) == ("resized", "highlight", step)
    boxes = [(38 + 60 * part[0], 28, 38 + 60 * part[1], 52) for part in (was, now)]
    assert [one.box_before, one.box_after] == boxes


def test_a_selection_that_appeared_did_not_grow():
    found = measure(line(None), line((1, 3))).statements
    assert all(one.values["aspect"] != "highlight" for one in found)


def test_a_line_that_became_longer_is_no_selection():
    found = measure(line(None, 3), line(None, 6)).statements
    assert all(one.values["aspect"] != "highlight" for one in found)
