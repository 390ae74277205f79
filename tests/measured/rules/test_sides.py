import numpy as np
import pytest

from whatchanged.measured import measure
from whatchanged.measured.rules.sides import moved_side, refilled_side, resized_thing

GROUND, FILL, FRAME, INK = 255, 230, 120, 0


def field(right=90, bottom=50, fill=GROUND, frame=FRAME, ground=GROUND):
    """A framed field from (20, 20) on, with a word at its left."""
    pixels = np.full((80, 160, 3), ground, np.uint8)
    pixels[20:bottom, 20:right] = frame
    pixels[21 : bottom - 1, 21 : right - 1] = fill
    pixels[30:38, 26:50] = INK
    return pixels


def strip(before, after):
    """The box of what differs."""
    rows, columns = (np.flatnonzero((before != after).any(axis=(2, axis))) for axis in (1, 0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@pytest.mark.parametrize("fill", [GROUND, FILL])
@pytest.mark.parametrize(
    ("larger", "values"), [({"right": 110}, {"dx": 20}), ({"bottom": 57}, {"dy": 7})], ids=["wider", "higher"]
)
@pytest.mark.parametrize("flipped", [False, True], ids=["right, bottom", "left, top"])
@pytest.mark.parametrize("grew", [True, False])
def test_a_field_of_which_one_side_moved_grew_or_shrank(fill, larger, values, flipped, grew):
    small, large = field(fill=fill), field(**larger, fill=fill)
    boxes = [(20, 20, 90, 50), (20, 20, larger.get("right", 90), larger.get("bottom", 50))]
    if flipped:
        small, large = small[::-1, ::-1], large[::-1, ::-1]
        boxes = [(160 - right, 80 - bottom, 160 - left, 80 - top) for left, top, right, bottom in boxes]
    pictures, boxes = ((small, large), boxes) if grew else ((large, small), boxes[::-1])
    finding, was, now = moved_side(*pictures, strip(*pictures))
    steps = {name: step if grew else -step for name, step in values.items()}
    assert (finding.kind, finding.aspect) == ("resized", "length")
    assert finding.values == {**steps, "grew": grew}
    assert [was, now] == boxes


def with_word(pixels, *columns):
    """A word more, as bars at those columns."""
    pixels = pixels.copy()
    for column in columns:
        pixels[24:44, column : column + 3] = INK
    return pixels


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(field(), with_word(field(), 100, 106), id="a word beside it"),
        pytest.param(field(), with_word(field(), 60, 66), id="a word in it"),
        pytest.param(field(), field(frame=60), id="another colour of its frame"),
        pytest.param(field(right=20), field(), id="all of it"),
        pytest.param(field(ground=200), field(ground=220), id="the ground"),
    ],
)
def test_nothing_but_a_side_is_no_thing_that_grew(before, after):
    assert moved_side(before, after, strip(before, after)) is None


def test_a_side_between_two_things_is_nobodys():
    """Of two fills that meet, one grew as much as the other shrank."""
    before, after = field(fill=FILL, frame=FILL), field(fill=FILL, frame=FILL)
    before[20:50, 70:120], after[20:50, 80:120] = 90, 90
    assert moved_side(before, after, strip(before, after)) is None


@pytest.mark.parametrize("flipped", [False, True], ids=["a header", "a footer"])
def test_of_two_things_that_reach_the_edges_the_shorter_one_grew(flipped):
    before, after = (np.full((80, 160, 3), GROUND, np.uint8) for _ in range(2))
    before[:30], after[:34] = FRAME, FRAME
    step = slice(None, None, -1 if flipped else 1)
    before, after = before[step], after[step]
    finding, was, now = moved_side(before, after, strip(before, after))
    assert finding.values == {"dy": 4, "grew": True}
    assert (was, now) == (
        ((0, 50, 160, 80), (0, 46, 160, 80)) if flipped else ((0, 0, 160, 30), (0, 0, 160, 34))
    )


def test_a_field_that_grew_is_told_as_such_with_its_box():
    first = measure(field(), field(right=110)).statements[0]
    assert (first.kind, first.values["dx"]) == ("resized", 20)
    assert (first.box_before, first.box_after) == ((20, 20, 90, 50), (20, 20, 110, 50))
    assert "20 pixels wider" in first.sentence


def test_a_side_that_moved_by_little_is_not_a_thing_that_moved():
    """The lower side and its shadow went down by 3, which lines that moved explain as well."""
    pictures = []
    for bottom in (50, 53):
        pixels = field(bottom=bottom)
        for k, level in enumerate((170, 200)):
            pixels[bottom + k, 20:90] = level
        pictures.append(pixels)
    first = measure(*pictures).statements[0]
    assert (first.kind, first.values["dy"]) == ("resized", 3)
    assert np.abs(np.subtract(first.box_after[:3], (20, 20, 90))).max() <= 1


def button(right=90, bottom=50, fill=FRAME, ink=26):
    """A full button from (20, 20) on with a word in it that begins at column ``ink``."""
    pixels = np.full((80, 160, 3), GROUND, np.uint8)
    pixels[20:bottom, 20:right] = fill
    pixels[30:38, ink : ink + 24] = GROUND
    return pixels


@pytest.mark.parametrize(
    ("larger", "aspect", "values"),
    [
        ({"right": 110, "ink": 36}, "length", {"dwidth": 20, "dheight": 0}),
        ({"right": 100, "bottom": 56, "ink": 31}, "size", {}),
    ],
)
@pytest.mark.parametrize("grew", [True, False])
def test_a_button_of_another_size_was_resized_whatever_moved_in_it(larger, aspect, values, grew):
    small, large = button(), button(**larger)
    boxes = (20, 20, 90, 50), (20, 20, larger["right"], larger.get("bottom", 50))
    pair, boxes = ((small, large), boxes) if grew else ((large, small), boxes[::-1])
    finding, was, now = resized_thing(*pair, (20, 20, larger["right"], larger.get("bottom", 50)))
    assert (finding.kind, finding.aspect, was, now) == ("resized", aspect, *boxes)
    assert finding.values == {name: step if grew else -step for name, step in values.items()}


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(button(), id="as large as before"),
        pytest.param(button(right=91), id="larger by a soft edge"),
        pytest.param(button(right=110, fill=INK), id="another colour"),
        pytest.param(with_word(button(), 100, 108, 116), id="words beside it"),
    ],
)
def test_what_is_no_thing_of_another_size_was_not_resized(after):
    assert resized_thing(button(), after, (20, 20, 155, 78)) is None


def test_a_thing_that_is_more_than_twice_as_long_may_hold_another_one():
    assert resized_thing(button(right=70), button(right=119), (20, 20, 119, 50)) is not None
    assert resized_thing(button(right=70), button(right=121), (20, 20, 121, 50)) is None


def wide_button(right, fill=(20, 170, 140)):
    """A button from (20, 20) on with its text in the middle, and a shadow below and at the right."""
    pixels = np.full((80, 240, 3), 243, np.uint8)
    pixels[22:58, 22 : right + 2] = 225
    pixels[20:56, 20:right] = fill
    middle = (20 + right) // 2
    pixels[32:44, middle - 24 : middle + 24 : 3] = INK
    return pixels


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize(("was", "now"), [(160, 120), (120, 160)], ids=["narrower", "wider"])
def test_a_button_whose_centred_text_went_along_grew_or_shrank(was, now, down):
    pictures, boxes = [wide_button(was), wide_button(now)], [(20, 20, was, 56), (20, 20, now, 56)]
    if down:
        pictures = [picture.swapaxes(0, 1).copy() for picture in pictures]
        boxes = [(top, left, bottom, right) for left, top, right, bottom in boxes]
    before, after = pictures
    finding, *found = refilled_side(before, after, strip(before, after))
    assert (finding.kind, finding.values["dy" if down else "dx"]) == ("resized", now - was)
    assert found == boxes
    assert measure(*pictures).statements[0].kind == "resized"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(wide_button(120), wide_button(120, fill=(170, 20, 140)), id="another colour"),
        pytest.param(wide_button(120)[:, ::-1], wide_button(120), id="it moved"),
        pytest.param(wide_button(20), wide_button(120), id="it came"),
    ],
)
def test_what_is_no_filled_thing_of_which_a_side_moved(before, after):
    assert refilled_side(before, after, strip(before, after)) is None


def bars(gap):
    """Two bars that face each other across a gap, with a slanted drawing in it."""
    picture = np.full((600, 800, 3), 255, np.uint8)
    picture[250:350, : 400 - gap] = (13, 71, 161)
    picture[250:350, 400 + gap :] = (66, 165, 245)
    picture[250:350, 400 - gap - 1] = (34, 87, 169)
    for k in range(90):
        picture[255 + k, 365 + k // 2 : 385 + k // 3] = (66, 165, 245)
    return picture


def test_two_bars_that_face_each_other_shrank():
    """The differences at their ends lie so close together that they are one region."""
    (found,) = measure(bars(41), bars(50)).statements
    assert (found.kind, found.values["aspect"], found.values["dx"]) == ("resized", "length", -9)
    assert len(found.boxes) == 2


def test_a_container_that_grew_on_both_sides_did_not_move():
    pictures = []
    for left, right in ((40, 360), (36, 364)):
        picture = np.full((160, 400, 3), 255, np.uint8)
        picture[20:140, left:right] = (190, 200, 210)
        for k in range(6):
            picture[40 + 12 * k : 48 + 12 * k, left + 20 + 40 * k : left + 50 + 44 * k] = (40 * k, 60, 160)
        pictures.append(picture)
    found = measure(*pictures).statements[0]
    assert (found.kind, found.values["dx"]) == ("resized", 8)
    assert (found.box_before, found.box_after) == ((40, 20, 360, 140), (36, 20, 364, 140))
