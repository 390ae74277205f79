import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.lines import line_around, rewritten_lines, whole_lines

GROUND, INK = 255, 0
HEIGHT = 10
"""Rows of a word: the next one of its line is at most 5 columns away."""


def line(*words, top=15, size=(40, 160)):
    """Words as bars: each its first column and the one after its last."""
    pixels = np.full((*size, 3), GROUND, np.uint8)
    for left, right in words:
        pixels[top : top + HEIGHT, left:right] = INK
    return pixels


def word(left, right, kind="rewritten", aspect="text", cause=True):
    """What was found of a word at those columns."""
    box = (left, 15, right, 15 + HEIGHT)
    was = None if kind == "added" else box
    now = None if kind == "removed" else box
    return DetectedChange(Finding(kind, aspect, 0.5), was, now, 7, cause=cause)


def test_a_line_goes_on_over_spaces_of_half_its_height():
    pixels = line((10, 30), (35, 50), (54, 80), (86, 100))
    for seed in ((10, 15, 30, 25), (35, 15, 50, 25), (54, 15, 80, 25)):
        assert line_around(pixels, seed) == (10, 15, 80, 25)
    assert line_around(pixels, (86, 15, 100, 25)) == (86, 15, 100, 25)


def test_a_line_ends_at_a_frame():
    pixels = line((10, 30), (34, 50), (56, 80))
    pixels[:, 53:54] = INK
    assert line_around(pixels, (10, 15, 30, 25)) == (10, 15, 50, 25)


def test_a_line_is_as_high_as_its_highest_letter_within_two_rows():
    pixels = line((10, 30), (34, 50))
    pixels[13:15, 40:42] = INK  # an ascender
    pixels[25:30, 45:47] = INK  # two rows of it are the line's
    assert line_around(pixels, (10, 15, 30, 25)) == (10, 13, 50, 27)


@pytest.mark.parametrize("height", [4, 29])
def test_what_is_lower_or_higher_than_a_line_of_text_is_none(height):
    assert line_around(line((10, 30)), (10, 5, 30, 5 + height)) is None


def test_no_line_is_where_nothing_is_drawn():
    assert line_around(line(), (10, 15, 30, 25)) is None


def test_a_word_that_was_rewritten_is_told_with_its_line():
    before, after = line((10, 30), (34, 70)), line((10, 30), (34, 60))
    (told,) = whole_lines(before, after, [word(34, 70)])
    assert told.box_before == (10, 15, 70, 25)
    assert told.box_after == (10, 15, 60, 25)
    assert (told.finding.kind, told.finding.aspect) == ("rewritten", "text")
    assert told.pixels == 50 * HEIGHT  # of the line after: more than differed


@pytest.mark.parametrize("came", ["added", "removed"])
def test_a_word_that_came_or_went_in_a_line_is_a_line_that_was_rewritten(came):
    one, other = line((10, 30), (34, 50)), line((10, 30), (34, 50), (54, 74))
    before, after = (one, other) if came == "added" else (other, one)
    (told,) = whole_lines(before, after, [word(54, 74, came, "thing")])
    shorter, longer = (10, 15, 50, 25), (10, 15, 74, 25)
    assert told.finding.kind == "rewritten"
    assert (told.box_before, told.box_after) == ((shorter, longer) if came == "added" else (longer, shorter))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param([(10, 26), (30, 90)], word(10, 26, aspect="text"), id="a line five times its length"),
        pytest.param([(10, 50), (54, 80)], word(10, 50, "added", "thing"), id="more than half of the line"),
        pytest.param([(10, 21), (25, 50)], word(10, 21, "replaced", "icon"), id="about as wide as high"),
        pytest.param([(10, 30), (34, 50)], word(34, 50, "recolored", "ink"), id="another colour"),
        pytest.param([(10, 30), (34, 50)], word(34, 50, cause=False), id="a consequence"),
        pytest.param([(10, 50)], word(10, 50), id="all of its line"),
    ],
)
def test_what_is_no_word_of_a_line_stays_as_it_was_found(words, found):
    pixels = line(*words)
    assert whole_lines(pixels, pixels, [found]) == [found]


def moved(left, right, step, down=0):
    """What was found of words that moved: their columns after, and how far they went."""
    box = (left, 15, right, 15 + HEIGHT)
    was = (left - step, 15 - down, right - step, 15 - down + HEIGHT)
    return DetectedChange(Finding("moved", "position", 0.7, {"dx": step, "dy": down}), was, box, 9)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([word(10, 40, "restyled", "shape")], id="one that looks otherwise"),
        pytest.param(
            [word(10, 36, "removed", "closed up"), word(10, 40, "added", "pushed in")], id="one for another"
        ),
    ],
)
def test_changed_words_and_those_that_they_moved_are_one_line_that_was_rewritten(words):
    (told,) = rewritten_lines([*words, moved(45, 60, 5), moved(64, 80, 6)])
    assert (told.finding.kind, told.finding.aspect) == ("rewritten", "text")
    assert told.box_before == (10, 15, 74, 25)
    assert told.box_after == (10, 15, 80, 25)
    assert told.pixels == 7 * len(words) + 9 + 9


@pytest.mark.parametrize(
    "found",
    [
        pytest.param([word(10, 40, "added", "pushed in"), moved(45, 80, 35)], id="a word that only came"),
        pytest.param([word(10, 20, "recolored", "ink"), moved(25, 40, 5)], id="an icon"),
        pytest.param([word(10, 40, "restyled", "shape"), moved(45, 140, 5)], id="a line four times as long"),
        pytest.param([word(10, 40, "restyled", "shape"), moved(45, 80, 5, 3)], id="what went down"),
        pytest.param([word(10, 40, "restyled", "shape"), moved(55, 80, 5)], id="farther than a line is high"),
        pytest.param([word(10, 40, "restyled", "shape", cause=False), moved(45, 80, 5)], id="consequences"),
    ],
)
def test_what_moved_beside_what_is_no_rewritten_word_stays_as_it_was_found(found):
    assert rewritten_lines(found) == found


def written(*texts, at=(12, 12), size=14):
    """A line of text, (H, W, 3)."""
    picture = Image.new("RGB", (260, 40), "white")
    ImageDraw.Draw(picture).text(at, "".join(texts), "black", ImageFont.load_default(size))
    return np.array(picture)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sarah.phillips@example.com", "sarah.philips@example.com"),
        ("New orders of today", "New odders of today"),
    ],
)
def test_a_line_of_which_the_end_moved_was_rewritten(one, other):
    first = measure(written(one), written(other)).statements[0]
    assert first.kind == "rewritten"
    left, _, right, _ = first.box_after
    assert left <= 14 and right >= 100


def test_a_text_that_moved_away_from_its_icon_was_not_rewritten():
    before, after = written("Overview", at=(40, 12)), written("Overview", at=(44, 12))
    for pixels in (before, after):
        pixels[14:26, 24:36] = 90
    assert measure(before, after).statements[0].kind == "moved"


@pytest.mark.parametrize(
    ("kind", "aspect", "told"),
    [
        ("resized", "size", "rewritten"),
        ("replaced", "icon", "replaced"),
        ("restyled", "shape", "restyled"),
    ],
)
def test_a_letter_that_is_another_one_is_a_word_that_was_rewritten(kind, aspect, told):
    pixels = line((10, 18), (20, 30), (32, 40), (60, 80))
    box = (20, 15, 30, 25)
    (one,) = whole_lines(pixels, pixels, [DetectedChange(Finding(kind, aspect, 0.5), box, box, 100)])
    # the word, not the line
    assert (one.finding.kind, one.box_after) == (told, (10, 15, 40, 25) if told == "rewritten" else box)


def test_an_icon_beside_a_word_is_no_letter_of_it():
    pixels = line((10, 20), (24, 60))
    box = (10, 15, 20, 25)
    found = DetectedChange(Finding("resized", "size", 0.4), box, box, 100)
    assert whole_lines(pixels, pixels, [found]) == [found]
