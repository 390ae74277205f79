"""Quotes of drawn lines: which words are quoted, and when nothing is."""

import importlib.util

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.text.lines import words_around
from whatchanged.text.quotes import Quotes, differing, read_quotes

READER = importlib.util.find_spec("rapidocr") is not None
needs_reader = pytest.mark.skipif(not READER, reason="the extra text is not installed")
SIZE = 18


def drawn(text, colour="black", ground="white", width=420, at=(20, 20)):
    image = Image.new("RGB", (width, 64), ground)
    ImageDraw.Draw(image).text(at, text, colour, ImageFont.load_default(SIZE))
    return np.asarray(image)


def box_of(text, at=(20, 20)):
    left, top, right, bottom = ImageFont.load_default(SIZE).getbbox(text)
    return int(at[0] + left), int(at[1] + top), int(at[0] + right), int(at[1] + bottom)


@pytest.mark.parametrize(
    ("before", "after", "quoted"),
    [
        ("Save file", "Store file", ("Save", "Store")),
        ("Total 17.5 kg", "Total 19.5 kg", ("17.5", "19.5")),
        ("Edit save", "Edit old save", ("Edit", "Edit old")),
        ("General create close", "General create", ("create close", "create")),
        ("old save", "save", ("old save", "save")),
        ("one two three four", "one 2 3 four", ("two three", "2 3")),
    ],
)
def test_the_words_that_differ(before, after, quoted):
    assert differing(before, after) == Quotes(*quoted)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Save", "Save"),
        ("Ill", "lI1"),
        ("10 O", "1O 0"),
        ("modern", "modem"),
        ("$value", "Svalue"),
        ("Save.", "Save,"),
        ("", "Save"),
        ("a b c", "d a e"),  # perhaps not the same part of the line
        ("a " * 40, "b " * 40),
        ("u", "Save"),
    ],
)
def test_nothing_is_quoted(before, after):
    assert differing(before, after) is None


def test_whole_words_are_cut_out():
    """The box of one digit's ink gives the word that it stands in, with ground around it."""
    picture = drawn("Total 175 kg")
    left, _, right, _ = box_of("Total ")
    digit = (right, 20, right + 9, 40)
    cut = words_around(picture, digit)
    assert cut is not None and (cut.picture[0] == 255).all() and (cut.picture[:, 0] == 255).all()
    ink = (picture < 128).any(axis=2)
    assert (cut.picture < 128).any(axis=2).sum() >= ink[:, right : box_of("Total 175")[2]].sum()
    assert left < cut.picture.shape[1] <= picture.shape[1]


@pytest.mark.parametrize(
    "picture", [np.full((40, 100, 3), 255, np.uint8), np.tile(drawn("two lines"), (2, 1, 1))]
)
def test_no_line_no_cut(picture):
    height, width = picture.shape[:2]
    assert words_around(picture, (0, 0, width, height)) is None


@needs_reader
@pytest.mark.parametrize(("colour", "ground"), [("black", "white"), ("#dddddd", "#20242c")])
def test_lines_are_read(colour, ground):
    one, other = (drawn(text, colour, ground) for text in ("Save the file", "Store the file"))
    found = read_quotes(one, other, box_of("Save the file"), box_of("Store the file"))
    assert found == Quotes("Save", "Store")


@needs_reader
def test_a_part_of_a_line_is_enough():
    one, other = drawn("Total 175 kg"), drawn("Total 195 kg")
    start = box_of("Total 1")[2]
    box = (start, 20, start + 10, 40)
    assert read_quotes(one, other, box, box) == Quotes("175", "195")


@needs_reader
def test_what_is_written_upwards():
    one, other = (np.rot90(drawn(text)) for text in ("depth (metres)", "noise (decibels)"))
    boxes = []
    for text in ("depth (metres)", "noise (decibels)"):
        left, top, right, bottom = box_of(text)
        boxes.append((top, 420 - right, bottom, 420 - left))
    assert read_quotes(one, other, *boxes) == Quotes("depth (metres)", "noise (decibels)")


@needs_reader
def test_scribbles_are_not_read():
    rng = np.random.default_rng(0)
    one, other = (
        np.where(rng.random((64, 420, 1)) < 0.3, 0, 255).astype(np.uint8).repeat(3, 2) for _ in "ab"
    )
    assert read_quotes(one, other, (20, 20, 200, 40), (20, 20, 200, 40)) is None
