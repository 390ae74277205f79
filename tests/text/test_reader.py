"""Lines of a pair are read once, and only so many."""

import numpy as np
import pytest
from support.drawn_lines import box_of, drawn, needs_reader, page, reading

from whatchanged.text import reader
from whatchanged.text.reader import LineAt, PairReader, words_in
from whatchanged.text.recogniser import RecognisedLine

PAGE = page(("Save", (40, 40)), ("Cancel", (200, 40)))
SAVE, CANCEL = (box_of(text, at) for text, at in (("Save", (40, 40)), ("Cancel", (200, 40))))


@pytest.fixture
def asked(monkeypatch):
    read = []

    def read_lines(pictures):
        read.extend(pictures)
        return [RecognisedLine((), 0.5)] * len(pictures)

    monkeypatch.setattr(reader, "read_lines", read_lines)
    return read


def test_a_line_that_looks_the_same_is_read_once(asked):
    pair = PairReader((PAGE, PAGE))
    found = pair.read([LineAt(0, SAVE), LineAt(1, SAVE), LineAt(1, CANCEL)])
    assert [line.at for line in found] == [LineAt(0, SAVE), LineAt(1, SAVE), LineAt(1, CANCEL)]
    pair.read([LineAt(0, CANCEL)])
    assert len(asked) == 2


def test_only_so_many_columns(asked, monkeypatch):
    monkeypatch.setattr(reader, "MOST_COLUMNS", 200)
    pair = PairReader((PAGE, PAGE))
    found = pair.read([LineAt(1, SAVE), LineAt(1, CANCEL), LineAt(0, SAVE)])
    assert [line is None for line in found] == [False, True, False]
    assert 0 <= pair.columns_left < 200 and len(asked) == 1


@pytest.mark.parametrize(
    ("box", "shift", "same"),
    [
        (SAVE, (0, 0), True),
        ((SAVE[0] + 160, *SAVE[1:2], SAVE[2] + 160, SAVE[3]), (160, 0), False),
        (SAVE, (600, 0), False),
        ((0, 0, 10, 10), (3, 0), False),
    ],
)
def test_what_stands_in_both_pictures(box, shift, same):
    assert PairReader((PAGE, PAGE)).same_pixels(box, shift) is same


def test_what_moved():
    after = np.roll(PAGE, 24, axis=0)
    box = (SAVE[0], SAVE[1] + 24, SAVE[2], SAVE[3] + 24)
    assert PairReader((PAGE, after)).same_pixels(box, (0, 24))
    assert not PairReader((PAGE, after)).same_pixels(box, (0, 0))


def test_a_box_outside_one_of_the_pictures_shows_nothing_alike():
    pictures = (PAGE, PAGE[:, : PAGE.shape[1] - 100])
    box = (PAGE.shape[1] - 60, 0, PAGE.shape[1] - 20, 20)
    assert not PairReader(pictures).same_pixels(box, (0, 0))
    assert not PairReader(pictures[::-1]).same_pixels((-20, 0, 20, 20), (-40, 0))


def test_the_words_in_a_box():
    line = reading("one two three", at=(100, 0))
    assert words_in(line, (100, 0, 400, 20)) == [0, 1, 2]
    assert words_in(line, (150, 0, 180, 20)) == [1]
    assert words_in(line._replace(at=line.at._replace(upright=True)), (0, 0, 1, 1)) == range(3)


def test_a_word_that_only_ends_in_a_box_is_not_mostly_in_it():
    line = reading("composing", at=(100, 0))
    middle, end = line.line.words[0].columns[4] + line.left, line.line.words[0].columns[-1] + line.left
    late = (end - 2, 0, end + 20, 20)
    assert list(words_in(line, late)) == [0]
    assert list(words_in(line, late, mostly=True)) == []
    assert list(words_in(line, (middle - 2, 0, end + 20, 20), mostly=True)) == [0]


@needs_reader
def test_a_line_written_upwards():
    picture = np.rot90(drawn("depth (metres)"))
    left, top, right, bottom = box_of("depth (metres)")
    (found,) = PairReader((picture, picture)).read([LineAt(1, (top, 420 - right, bottom, 420 - left), True)])
    assert found.line.text == "depth (metres)"
