"""Probabilities become words; lines are read side by side."""

import sys

import numpy as np
import pytest
from support.drawn_lines import drawn, needs_reader

from whatchanged.errors import MissingExtra
from whatchanged.text import recogniser
from whatchanged.text.recogniser import can_read, decoded, read_lines, reading_identity, width_as_read

CHARACTERS = ("", "a", "b", " ")


def columns(*likeliest, sure=0.9):
    found = np.full((len(likeliest), len(CHARACTERS)), (1 - sure) / 3, np.float32)
    found[range(len(likeliest)), likeliest] = sure
    return found


@pytest.mark.parametrize(
    ("likeliest", "text"),
    [
        ((1, 1, 2), "ab"),
        ((1, 0, 1), "aa"),
        ((0, 1, 3, 2, 0), "a b"),
        ((3, 1, 3, 3), "a"),
        ((0, 0), ""),
    ],
)
def test_runs_and_blanks(likeliest, text):
    assert decoded(columns(*likeliest), CHARACTERS, 1.0).text == text


def test_places_and_probabilities():
    found = columns(0, 1, 0, 2)
    found[3] = (0.4, 0.0, 0.6, 0.0)
    line = decoded(found, CHARACTERS, 4.0)
    (word,) = line.words
    assert word.columns == (6.0, 14.0)
    assert word.certainty == pytest.approx(0.6) and line.confidence == pytest.approx(0.75)
    assert word.confidence == pytest.approx(0.75)


@pytest.mark.parametrize(("shape", "width"), [((24, 100, 3), 200), ((48, 7, 3), 7), ((10, 4000, 3), 3200)])
def test_how_wide_a_line_is_when_it_is_read(shape, width):
    assert width_as_read(shape) == width


@needs_reader
def test_lines_are_read_in_their_order():
    texts = ["Save", "a rather long line of text", "17.5", "Cancel", "Delete file?", "OK", "80%", "Next"]
    pictures = [drawn(text, width=40 + 12 * len(text))[12:48] for text in texts]
    found = read_lines(pictures)
    assert [line.text for line in found] == texts
    for picture, line in zip(pictures, found, strict=True):
        ink = np.flatnonzero((picture < 128).any(axis=(0, 2)))
        assert abs(line.words[0].columns[0] - ink[0]) < 20 and abs(line.words[-1].columns[-1] - ink[-1]) < 20


@needs_reader
def test_nothing_to_read():
    (line,) = read_lines([np.full((30, 100, 3), 255, np.uint8)])
    assert line.text == "" and line.confidence == 0.0
    assert read_lines([]) == []


@needs_reader
def test_none_of_the_package_is_imported(monkeypatch):
    """So what its own code needs, as OpenCV, does not have to load."""
    for name in ("rapidocr", "cv2", "shapely"):
        assert not (name in sys.modules and name == "rapidocr")
        monkeypatch.setitem(sys.modules, "cv2", None)
    recogniser._recogniser.cache_clear()
    assert read_lines([drawn("Save", width=90)[12:48]])[0].text == "Save"
    assert "rapidocr" not in sys.modules


@pytest.fixture
def anew():
    recogniser._recogniser.cache_clear()
    yield
    recogniser._recogniser.cache_clear()


def test_without_the_extra(monkeypatch, anew):
    monkeypatch.setattr(recogniser, "PACKAGE", "no_such_package")
    assert not can_read() and not can_read(False) and reading_identity(True) is None
    with pytest.raises(MissingExtra, match=r"\[text\]"):
        can_read(True)


def test_a_network_that_cannot_be_loaded(monkeypatch, tmp_path, anew):
    broken = tmp_path / "broken_rec.onnx"
    broken.write_bytes(b"no network")
    monkeypatch.setattr(recogniser, "_network", lambda: broken)
    assert can_read() and reading_identity(True) == "broken_rec.onnx, 10 bytes"
    assert reading_identity(False) is None
    with pytest.raises(MissingExtra, match="can be run"):
        can_read(True)
