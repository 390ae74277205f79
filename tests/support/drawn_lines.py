"""Lines of text drawn for the tests of what is read, and readings that are made up."""

import importlib.util

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.text.reader import LineAt, ReadLine
from whatchanged.text.recogniser import RecognisedLine, RecognisedWord

needs_reader = pytest.mark.skipif(
    importlib.util.find_spec("rapidocr") is None, reason="the extra text is not installed"
)
SIZE = 18
STEP = 12
"""Columns of a made-up letter."""


def drawn(text, colour="black", ground="white", width=420, at=(20, 20), height=64, size=SIZE):
    """A picture of one line."""
    image = Image.new("RGB", (width, height), ground)
    ImageDraw.Draw(image).text(at, text, colour, ImageFont.load_default(size))
    return np.asarray(image)


def box_of(text, at=(20, 20), size=SIZE):
    """Where that line has its ink."""
    left, top, right, bottom = ImageFont.load_default(size).getbbox(text)
    return int(at[0] + left), int(at[1] + top), int(at[0] + right), int(at[1] + bottom)


def page(*lines, width=640, height=400, boxes=()):
    """A white picture of several lines, (text, at) each, and of filled boxes, (box, colour) each."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for box, colour in boxes:
        draw.rectangle((box[0], box[1], box[2] - 1, box[3] - 1), fill=colour)
    for text, at in lines:
        draw.text(at, text, "black", ImageFont.load_default(SIZE))
    return np.asarray(image)


def reading(text, certainty=1.0, at=(0, 0), side=1, extra=()):
    """A line as if it had been read: each letter a block of ink, STEP columns wide.

    certainty: of each letter, or a list of one for each word. extra: blocks of ink of which nothing was read.
    """
    words, column = [], 0
    blocks = []
    for number, word in enumerate(text.split()):
        own = certainty[number] if isinstance(certainty, list) else certainty
        columns = tuple(column + STEP * k + STEP // 2 for k in range(len(word)))
        blocks += [column + STEP * k for k in range(len(word))]
        words.append(RecognisedWord(word, columns, own, own))
        column += STEP * len(word) + STEP
    cut = np.full((30, max(60, column + 40), 3), 255, np.uint8)
    for first in (*blocks, *extra):
        cut[8:22, first + 1 : first + STEP - 1] = 0
    letters = sum(len(word.text) for word in words)
    mean = sum(word.confidence * len(word.text) for word in words) / letters if words else 0.0
    left, top = at
    line = LineAt(side, (left, top, left + column, top + 20))
    return ReadLine(line, cut, left, RecognisedLine(tuple(words), mean))
