"""The words beside a thing, read in drawn pictures."""

import numpy as np
import pytest
from support.drawn_lines import box_of, needs_reader, page

from whatchanged.answers.beside import Wanted, beginning, words_beside
from whatchanged.measured import Statement
from whatchanged.text.around import lines_around
from whatchanged.text.reader import PairReader

pytestmark = needs_reader

LINES = (("Upload", (200, 100)), ("Notifications", (20, 160)))
ICON = (166, 98, 188, 120)
SWITCH = (400, 158, 440, 182)
BOXES = [(ICON, "red"), (SWITCH, "blue")]
PICTURE = page(*LINES, boxes=BOXES)


def beside_of(box, before=PICTURE, after=PICTURE, statements=(), shift=(0, 0)):
    wanted = Wanted(1, lines_around(after, box).beside, shift)
    return words_beside([wanted], PairReader((before, after)), statements)[0]


@pytest.mark.parametrize(
    ("box", "found"), [(ICON, ("left of", "Upload")), (SWITCH, ("right of", "Notifications"))]
)
def test_what_stands_beside(box, found):
    assert beside_of(box) == found


def test_a_thing_that_is_in_the_picture_before_alone():
    wanted = Wanted(0, lines_around(PICTURE, ICON).beside)
    assert words_beside([wanted], PairReader((PICTURE, PICTURE)), ())[0] == ("left of", "Upload")


@pytest.mark.parametrize("other", ["Remove", ""])
def test_words_that_do_not_stand_in_both_pictures_name_nothing(other):
    assert beside_of(ICON, before=page((other, (200, 100)), LINES[1], boxes=BOXES)) is None


def test_words_that_are_drawn_otherwise_name_a_thing():
    softer = np.maximum(PICTURE, 40)
    assert beside_of(ICON, before=softer) == ("left of", "Upload")


def test_words_that_are_not_read_well_name_nothing():
    rng = np.random.default_rng(0)
    left, top, right, bottom = box_of(*LINES[0])
    worn = PICTURE.copy()
    worn[top:bottom, left:right][rng.random((bottom - top, right - left)) < 0.5] = 90
    assert beside_of(ICON, worn, worn) is None


def test_nothing_is_named_after_what_changed_itself():
    changed = Statement("recolored", box_of(*LINES[0]), box_of(*LINES[0]), "", 0.5)
    assert beside_of(ICON, statements=(changed,)) is None


def test_words_that_moved_with_the_thing():
    after = np.roll(PICTURE, 24, axis=0)
    box = (ICON[0], ICON[1] + 24, ICON[2], ICON[3] + 24)
    moved = Statement("moved", ICON, box, "", 0.5, values={"dx": 0, "dy": 24})
    assert beside_of(box, after=after, statements=(moved,), shift=(0, 24)) == ("left of", "Upload")


def test_only_the_beginning_of_a_long_line_is_read():
    assert beginning((10, 10, 2000, 20)) == (10, 10, 190, 20)
    long = page(("Every one of these many words stands in this line", (40, 100)), width=640)
    relation, words = beside_of((10, 98, 30, 122), long, long)
    assert relation == "left of"
    assert words == "Every one of these many …"


def test_nothing_to_name():
    assert words_beside([], PairReader((PICTURE, PICTURE)), ()) == []
