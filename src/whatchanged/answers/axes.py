"""A plot whose axis has another range, another direction or other tick labels, by the numbers beside it."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from whatchanged.answers.line_by_line import is_unclear
from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.text.finding import find_lines
from whatchanged.text.quotes import handle
from whatchanged.text.reader import LineAt, PairReader, ReadLine

LEAST_TICKS = 3
"""The least number of numbers that make an axis: two lie on a straight line by chance."""
ONE_ROW = 2
"""By how many pixels the tick labels of one axis may lie out of line."""
LONGEST = 5
"""The largest width of a tick label, in heights."""
CERTAIN = 0.9
"""The least confidence with which every tick label is read."""
STRAIGHT = 0.02
"""The largest deviation of a tick from the straight line through all, as a fraction of the axis."""
SAME_PLACE = 20
"""By how many pixels the tick labels of an axis may move away from it as they become longer."""
OTHER_RANGE = 0.03
"""The least difference of a number at one end of an axis, as a fraction of its range."""
COLORFUL = 40
"""The least difference between the channels of a colour of data; axes and text are mostly grey."""
REACH = 4
"""How many pixels around the expected place data may lie: lines and marks are not scaled with the axis."""
ALIKE = 80
"""The largest difference, in levels, of the colour of data at the expected place."""
STAYS = 0.85
"""The least fraction of coloured pixels that lie where the new range puts them, if the data is the same."""
LEAST_DATA, MOST_DATA = 50, 20_000
"""The least number of coloured pixels from which data is recognised, and the largest number that is compared.
They are sampled evenly."""
LARGE = 0.15
"""The least fraction of a picture at which another range of an axis shows."""
LEAST_LINES = 4
"""From how many lines with words on a region is no plot."""
MANY = 3
"""From how many positions on a statement may be about one axis."""


class TickAxis(NamedTuple):
    """The tick labels of an axis: horizontal or not, their positions, numbers and texts."""

    horizontal: bool
    side: int
    """The row or column of the picture in which the tick labels end."""
    positions: tuple[float, ...]
    numbers: tuple[float, ...]
    texts: tuple[str, ...]

    @property
    def line(self) -> tuple[float, float]:
        """The number per pixel, and the number at pixel 0."""
        slope, start = np.polyfit(self.positions, self.numbers, 1)
        return float(slope), float(start)

    @property
    def ends(self) -> str:
        """The least and the largest number, as they are written."""
        order = np.argsort(self.numbers)
        return f"{self.texts[order[0]]}\N{EN DASH}{self.texts[order[-1]]}"


def with_axis(statements: Sequence[Statement], pictures: tuple[Pixels, Pixels]) -> Sequence[Statement]:
    """Return the statements; only that of an axis with another range or direction, if it explains what
    differs.

    The data must lie where the new axis puts it. Raises MissingExtra where the recogniser is not installed.
    """
    if pictures[0].shape != pictures[1].shape or not _may_be_axis(statements[0], pictures[1].shape):
        return statements
    reader = PairReader(pictures)
    before, after = (_axes(reader, side) for side in (0, 1))
    pairs = [
        (was, now)
        for was in before
        for now in after
        if was.horizontal == now.horizontal and abs(was.side - now.side) <= SAME_PLACE
    ]
    if {pair[0].horizontal for pair in pairs} != {True, False} and len(pairs) != 1:
        return statements
    if len(pairs) > 2:
        return statements  # Of several plots it is unknown which axis belongs to which one.
    other = [pair for pair in pairs if _differs(*pair)]
    if len(other) != 1 or not _data_stays(pictures, *other[0]):
        return statements
    was, now = other[0]
    if was.ends == now.ends and was.line[0] * now.line[0] > 0:
        return statements  # The same numbers at other positions: the whole plot has another size.
    return [_statement(statements[0], was, now)]


def without_axis(statement: Statement, lines: Sequence[ReadLine]) -> Statement:
    """Return the statement that a region looks different, if it is said to be stretched along an axis but
    shows words in several lines. Plots mostly show numbers and a legend.

    lines: the lines of text in the region.
    """
    with_words = [one for one in lines if any(letter.isalpha() for letter in handle(one) or "")]
    if statement.values.get("aspect") != "axis limit" or len(with_words) < LEAST_LINES:
        return statement
    return replace(statement, kind="replaced", values={"aspect": "part"})


def _may_be_axis(first: Statement, shape: tuple[int, ...]) -> bool:
    """Return whether a statement may be about what another range of an axis does to a plot."""
    box = first.box_after or first.box_before
    if first.values.get("aspect") in ("axis limit", "data"):
        return True
    if first.count >= MANY or (first.element is None and first.kind in ("added", "removed")):
        return True
    return is_unclear(first) and box is not None and area(box) >= LARGE * shape[0] * shape[1]


def _statement(first: Statement, was: TickAxis, now: TickAxis) -> Statement:
    """Return the statement about an axis."""
    name = "horizontal" if was.horizontal else "vertical"
    values = {"aspect": "axis limit", "range_before": was.ends, "range_after": now.ends}
    sentence = f"The range of the {name} axis changed from {was.ends} to {now.ends}."
    if was.line[0] * now.line[0] < 0:
        sentence = f"The {name} axis was inverted."
    return replace(first, kind="moved", sentence=sentence, values=values, element=None)


def _differs(was: TickAxis, now: TickAxis) -> bool:
    """Return whether two axes give other numbers to their ends."""
    ends = np.array([min(was.positions), max(was.positions)])
    one, other = (np.polyval(axis.line, ends) for axis in (was, now))
    return bool(np.abs(one - other).max() > OTHER_RANGE * np.ptp(one))


def _data_stays(pictures: tuple[Pixels, Pixels], was: TickAxis, now: TickAxis) -> bool:
    """Return whether the coloured pixels of each picture are in the other one, where its axis puts them."""
    return _follows(pictures, was, now) and _follows((pictures[1], pictures[0]), now, was)


def _follows(pictures: tuple[Pixels, Pixels], was: TickAxis, now: TickAxis) -> bool:
    """Return whether the data of the first picture lies in the second one where its axis puts it."""
    one, other = (picture.astype(np.int16) for picture in pictures)
    rows, columns = np.nonzero(np.ptp(one, axis=2) >= COLORFUL)
    every = max(1, -(-len(rows) // MOST_DATA))
    rows, columns = rows[::every], columns[::every]
    positions = columns if was.horizontal else rows
    slope, start = now.line
    expected = np.rint((np.polyval(was.line, positions) - start) / slope).astype(np.intp)
    seen = (expected >= min(now.positions)) & (expected <= max(now.positions))
    rows, columns, expected = rows[seen], columns[seen], expected[seen]
    if len(rows) < LEAST_DATA:
        return False
    colors = one[rows, columns]
    there = np.zeros(len(rows), dtype=np.bool_)
    for step in range(-REACH, REACH + 1):
        at = np.clip(expected + step, 0, other.shape[was.horizontal] - 1)
        found = other[rows, at] if was.horizontal else other[at, columns]
        there |= np.abs(found - colors).max(axis=1) <= ALIKE
    return bool(there.mean() >= STAYS)


def _axes(reader: PairReader, side: int) -> list[TickAxis]:
    """Return the axes of a picture whose tick labels are read."""
    height, width = reader.pictures[side].shape[:2]
    lines = [
        line
        for line in find_lines(reader.pictures[side], (0, 0, width, height))
        if line[2] - line[0] <= LONGEST * (line[3] - line[1])
    ]
    results: list[TickAxis] = []
    for horizontal in (True, False):
        edge = 3 if horizontal else 2
        for place, count in Counter(line[edge] for line in lines).most_common(2):
            row = [line for line in lines if abs(line[edge] - place) <= ONE_ROW]
            found = _axis(reader, side, row, horizontal) if count >= LEAST_TICKS - 1 else None
            if found is not None and not any(
                one.horizontal == horizontal and abs(one.side - found.side) <= ONE_ROW for one in results
            ):
                results.append(found)
    return results


def _axis(reader: PairReader, side: int, row: Sequence[Box], horizontal: bool) -> TickAxis | None:
    """Return the axis of a row or column of tick labels, or None if they are no numbers on a straight
    line."""
    first = 0 if horizontal else 1
    positions, numbers, texts = [], [], []
    for box, one in zip(row, reader.read(LineAt(side, box) for box in row), strict=True):
        number = None if one is None or one.line.confidence < CERTAIN else _number(one.line.text)
        if one is not None and number is not None:
            positions.append((box[first] + box[first + 2]) / 2)
            numbers.append(number)
            texts.append(one.line.text)
    if len(positions) < LEAST_TICKS or len(set(numbers)) < LEAST_TICKS:
        return None
    edge = row[0][3 if horizontal else 2]
    found = TickAxis(horizontal, edge, tuple(positions), tuple(numbers), tuple(texts))
    off = np.abs(np.polyval(found.line, positions) - numbers)
    return found if off.max() <= STRAIGHT * np.ptp(numbers) else None


def _number(text: str) -> float | None:
    """Return the number that a tick label shows, or None."""
    try:
        number = float(text.replace("\N{MINUS SIGN}", "-").replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
