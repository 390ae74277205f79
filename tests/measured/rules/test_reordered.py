"""Columns and lines in another order, drawn with the widths that a table gives its columns."""

import itertools

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from whatchanged.measured import measure
from whatchanged.measured.rules.reordered import reordered

FONT = ImageFont.load_default(14)
ROWS = (
    ("Name", "City", "Age", "State"),
    ("Anna", "Berlin", "42", "open"),
    ("Bruno", "Paris", "17", "closed"),
    ("Clara", "Madrid", "99", "open"),
    ("David", "Amsterdam", "5", "paused"),
)
WIDTH, ROW = 460, 31


def table(columns=(0, 1, 2, 3), rows=(0, 1, 2, 3, 4), striped=False, other=None):
    """A table of 460 pixels; its columns share the space that their contents leave."""
    image = Image.new("RGB", (520, 40 + ROW * len(rows)), "white")
    draw = ImageDraw.Draw(image)
    widths = [max(FONT.getlength(row[column]) for row in ROWS) for column in columns]
    room = (WIDTH - sum(widths)) / len(columns)
    starts = [30 + room * number + sum(widths[:number]) for number in range(len(columns))]
    for number, row in enumerate(rows):
        top = 20 + ROW * number
        if striped and number % 2:
            draw.rectangle((30, top, 30 + WIDTH, top + ROW), fill=(243, 244, 246))
        draw.line((30, top + ROW, 30 + WIDTH, top + ROW), fill=(209, 213, 219))
        for column, start in zip(columns, starts, strict=True):
            text = other if other and (row, column) == (2, 1) else ROWS[row][column]
            draw.text((round(start), top + 6), text, fill=(31, 41, 55), font=FONT)
    return np.asarray(image)


def found(before, after):
    return reordered(before, after, (before != after).any(axis=2))


@pytest.mark.parametrize("one", range(3))
def test_two_columns_changed_places(one):
    columns = [0, 1, 2, 3]
    columns[one], columns[one + 1] = columns[one + 1], columns[one]
    change = found(table(), table(columns))
    assert (change.finding.kind, change.finding.aspect, change.element) == ("moved", "order", "column")
    first, second = change.boxes
    assert first[2] < second[0]
    assert measure(table(), table(columns)).sentence.startswith("The two columns")


@pytest.mark.parametrize("striped", [False, True])
def test_two_rows_changed_places(striped):
    for one, other in itertools.combinations(range(1, 5), 2):
        rows = [0, 1, 2, 3, 4]
        rows[one], rows[other] = other, one
        change = found(table(striped=striped), table(rows=rows, striped=striped))
        assert (change.finding.aspect, change.element) == ("order", None)
        tops = [box[1] // ROW for box in change.boxes]
        assert tops == [(20 + ROW * one) // ROW, (20 + ROW * other) // ROW]


def test_a_column_or_a_row_that_moved_past_the_others():
    change = found(table(), table((3, 0, 1, 2)))
    assert change.finding.aspect == "position" and change.element == "column"
    assert change.finding.values["dx"] == change.box_after[0] - change.box_before[0] < -200
    change = found(table(), table(rows=(0, 4, 1, 2, 3)))
    assert change.finding.values == {"dx": 0, "dy": -3 * ROW}


def test_another_order():
    assert found(table(), table((3, 2, 0, 1))).finding.aspect == "another order"
    change = found(table(), table(rows=(0, 3, 4, 2, 1)))
    assert change.finding.aspect == "another order" and len(change.boxes) == 4


@pytest.mark.parametrize("gone", [0, 1, 2, 3])
def test_a_column_that_went_or_came(gone):
    rest = table([column for column in range(4) if column != gone])
    change = found(table(), rest)
    assert (change.finding.kind, change.element, change.box_after) == ("removed", "column", None)
    back = found(rest, table())
    assert (back.finding.kind, back.box_before, back.box_after) == ("added", None, change.box_before)


def test_other_changes_are_none_of_these():
    assert found(table(), table(other="Vienna")) is None
    assert found(table(), table((0, 2, 1, 3), other="Vienna")) is None
    moved = np.roll(table(), 5, axis=1)
    assert found(table(), moved) is None
    added = table().copy()
    added[60:140, 495:510] = 0
    assert found(table(), added) is None
