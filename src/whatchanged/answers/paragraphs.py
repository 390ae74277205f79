"""A paragraph that says the same in both pictures, but wraps at other words."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whatchanged.answers.line_by_line import is_unclear
from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import area, common, grown, union
from whatchanged.text.around import in_reading_order, may_be_text, rows_of
from whatchanged.text.finding import find_lines
from whatchanged.text.quotes import ELLIPSIS, LEGIBLE, same_words, shortened
from whatchanged.text.reader import LineAt, PairReader, ReadLine

MOST_LINES = 10
"""The largest number of lines of a paragraph that are read."""
OF_LINE = 0.5
"""The least part of a line's height that lies in the place that differs, if the line belongs to the
paragraph."""
FEW = 2
"""The largest number of words that are told one by one: "with" moved to the next line."""
MARGIN = 4
"""By how many pixels a line may lie farther in or out than the place that differs."""
NEXT_LINE = 1.5
"""How far from a place the next line of its paragraph ends, in heights of a line."""
LARGEST = 0.6
"""The largest fraction of a picture that is one paragraph."""
TOLD = ("rewritten", "removed", "added", "moved", "restyled", "replaced")
"""Kinds of changes that seem to happen to the lines of a paragraph that wraps elsewhere."""


def rewrapped(
    statements: Sequence[Statement], reader: PairReader, few_too: bool = False
) -> Sequence[Statement]:
    """Return the statements; those about lines of one paragraph as one statement, if it only wraps at other
    words.

    The lines of both pictures must say the same together, and must break at different words.

    few_too: also if only one or two words moved, which are better told alone.
    """
    first = statements[0]
    parts = [one for one in statements if one.kind in TOLD and one.values.get("aspect") != "canvas"]
    was, now = (
        [box for one in parts for box in [(one.box_before, one.box_after)[side]] if box] for side in (0, 1)
    )
    may_wrap = first.kind == "rewritten" or is_unclear(first) or _between_lines(first)
    if first not in parts or not may_wrap or not (was and now):
        return statements
    whole = union([*was, *now])
    shapes = [picture.shape for picture in reader.pictures]
    if shapes[0] != shapes[1] or area(whole) > LARGEST * shapes[0][0] * shapes[0][1]:
        return statements
    lines = [_lines(reader, side, whole) for side in (0, 1)]
    if not _wraps(lines):
        # Of the first and the last line, little may differ, so that the place ends before them.
        height = max((one.at.box[3] - one.at.box[1] for side in lines for one in side), default=0)
        more = round(NEXT_LINE * height)
        wider = (whole[0], max(0, whole[1] - more), whole[2], min(shapes[0][0], whole[3] + more))
        lines = [_lines(reader, side, wider) for side in (0, 1)]
    if not _wraps(lines) or (not few_too and _moved_words(lines) <= FEW):
        return statements
    name = lines[1][0].line.text
    ends = [union([one.at.box for one in side]) for side in lines]
    values = {"aspect": "wrap", "words": shortened(f"{name} {ELLIPSIS}")}
    told = replace(
        first,
        kind="moved",
        box_before=ends[0],
        box_after=ends[1],
        boxes=(ends[1],),
        values=values,
        element=None,
    )
    inside = union(ends)
    others = [one for one in statements[1:] if one not in parts or not _meets(one, inside)]
    return [told, *others]


def _between_lines(statement: Statement) -> bool:
    """Return whether a statement is about words that came or went in a line or between lines."""
    return statement.values.get("aspect") in ("pushed in", "closed up")


def _wraps(lines: Sequence[Sequence[ReadLine]]) -> bool:
    """Return whether the lines of two pictures say the same and break at different words."""
    words = [[word.text for one in side for word in one.line.words] for side in lines]
    if len(words[0]) != len(words[1]) or not all(map(same_words, *words)):
        return False
    if any(one.line.confidence < LEGIBLE for side in lines for one in side):
        return False
    breaks = [_words_of_rows(side) for side in lines]
    return breaks[0] != breaks[1] and max(map(len, breaks)) > 1


def _moved_words(lines: Sequence[Sequence[ReadLine]]) -> int:
    """Return how many words stand in another row, counted from the first one, in the second picture."""
    rows = [np.repeat(np.arange(len(side)), side) for side in map(_words_of_rows, lines)]
    count = min(map(len, rows))
    return int(np.count_nonzero(rows[0][:count] != rows[1][:count]))


def _words_of_rows(lines: Sequence[ReadLine]) -> list[int]:
    """Return the number of words of each row of lines."""
    counts = {one.at.box: len(one.line.words) for one in lines}
    return [sum(counts[box] for box in row) for row in rows_of([one.at.box for one in lines])]


def _meets(statement: Statement, box: Box) -> bool:
    """Return whether the place of a statement meets a box."""
    place = statement.box_after or statement.box_before
    return place is not None and common(place, box) > 0


def _lines(reader: PairReader, side: int, whole: Box) -> list[ReadLine]:
    """Return what the lines of a picture say that lie at the height of a place, in reading order; none if
    they are too many, or if one of them is not read."""
    pixels = reader.pictures[side]
    height, width = pixels.shape[:2]
    window = (0, *grown(whole, 2 * MARGIN, (width, height))[1:2], width, min(height, whole[3] + 2 * MARGIN))
    near = (whole[0] - MARGIN, whole[1], whole[2] + MARGIN, whole[3])
    found = [
        line
        for line in find_lines(pixels, window)
        if may_be_text(line)
        and near[0] <= (line[0] + line[2]) / 2 <= near[2]
        and min(line[3], near[3]) - max(line[1], near[1]) >= OF_LINE * (line[3] - line[1])
    ]
    if not 1 <= len(found) <= MOST_LINES:
        return []
    read = reader.read(LineAt(side, line) for line in in_reading_order(found))
    return [] if None in read else [one for one in read if one is not None]
