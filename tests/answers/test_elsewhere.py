"""A text that seems to have come or gone, and where the other picture shows it."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from support.drawn_lines import box_of, needs_reader, page

from whatchanged.answers.naming import named
from whatchanged.measured import Statement

pytestmark = needs_reader

TEXT = "National Insurance number"
OLD, NEW = (60, 60), (60, 110)


def told(before, after, was=None, now=None, **values):
    """The only statement about a text that seems to have been added or removed."""
    kind = "removed" if now is None else "added"
    values = {"aspect": "pushed in", **values}
    one = Statement(kind, was, now, "As it was.", 0.7, 0.01, values, (now or was,))
    (found,) = named([one], before, after)
    return found


@pytest.mark.parametrize("added", [True, False])
def test_a_text_that_stands_elsewhere_in_the_other_picture_moved(added):
    ends = page((TEXT, OLD)), page((TEXT, NEW))
    box = {"now": box_of(TEXT, NEW)} if added else {"was": box_of(TEXT, OLD)}
    found = told(*ends, **box)
    assert (found.kind, found.values["dx"], found.values["dy"]) == ("moved", 0, 50)
    assert found.sentence == f'The text "{TEXT}" moved down by 50 pixels.'


def test_one_more_of_the_same_text_was_added():
    found = told(page((TEXT, OLD)), page((TEXT, OLD), (TEXT, NEW)), now=box_of(TEXT, NEW))
    assert found.sentence == f'The text "{TEXT}" was added.'


def test_another_text_was_added():
    found = told(page(("Date of birth", OLD)), page((TEXT, NEW)), now=box_of(TEXT, NEW))
    assert found.sentence == f'The text "{TEXT}" was added.'


def test_a_text_that_became_larger_and_wraps():
    picture = Image.new("RGB", (640, 400), "white")
    for line, top in (("National Insurance", 60), ("number", 100)):
        ImageDraw.Draw(picture).text((60, top), line, "black", ImageFont.load_default(28))
    box = (60, 60, box_of("National Insurance", OLD, 28)[2], box_of("number", (60, 100), 28)[3])
    found = told(page((TEXT, OLD)), np.asarray(picture), now=box, rest=[0, 48])
    assert (found.kind, found.values["aspect"], found.values["rest"]) == ("resized", "text size", [0, 48])


def test_several_texts_that_stand_elsewhere_moved():
    places = [(60, 60), (60, 200)]
    texts = [("Exclude", place) for place in places]
    lower = [("Exclude", (x, y + 24)) for x, y in places]
    boxes = tuple(box_of(*text) for text in lower)
    whole = (boxes[0][0], boxes[0][1], boxes[1][2], boxes[1][3])
    one = Statement("added", None, whole, "As it was.", 0.7, 0.01, {"aspect": "pushed in"}, boxes)
    (found,) = named([one], page(*texts), page(*lower))
    assert found.sentence == 'The two texts "Exclude" moved.'
    (found,) = named([one], page(), page(*lower))
    assert found.sentence == 'The two texts "Exclude" were added.'


def with_area(picture, box, color):
    """Put a filled area under a text."""
    pixels = np.array(picture)
    part = pixels[box[1] : box[3], box[0] : box[2]]
    part[:] = np.minimum(part, np.array(color, np.uint8))
    return pixels


@pytest.mark.parametrize(
    ("texts", "name"),
    [((TEXT, TEXT), None), (("Date of birth", TEXT), TEXT)],
    ids=["it stood above", "it is new"],
)
def test_a_large_area_is_named_only_by_words_that_are_new(texts, name):
    area = (50, 90, 420, 260)
    before, after = page((texts[0], OLD)), with_area(page((texts[1], NEW)), area, (190, 220, 255))
    found = told(before, after, now=area, aspect="thing")
    assert found.kind == "added"
    assert (f'"{name}"' in found.sentence) if name else ('"' not in found.sentence)
