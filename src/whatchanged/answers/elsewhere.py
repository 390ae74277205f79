"""A text that seems to have been added or removed, but that the other picture shows as well: it moved or took
another size."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whatchanged.answers.line_by_line import by_lines
from whatchanged.answers.sites import TextSite, came_or_went
from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import common, grown, union
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.text.around import is_text, may_be_text
from whatchanged.text.finding import find_lines
from whatchanged.text.quotes import handle, same_words
from whatchanged.text.reader import LineAt, PairReader, ReadLine

NEAR = 80
"""How many pixels beyond the movement of the rest the other picture is searched for the text."""
MOST_READ = 6
"""How many lines of the other picture are read, at most, the nearest first."""
LEAST_LETTERS = 4
"""The least number of characters of a text that is recognised elsewhere. Shorter ones occur by chance."""
LEAST_WORD = 3
"""The least number of characters of one of several texts, and of a text that is no name because it is also in
the other picture. Shorter ones occur in both by chance."""
LEAST_STEP = 2
"""The least movement of a text in pixels that is told."""
ONE_SIZE = 2
"""By how many pixels the sides of a line may differ in two pictures if its letters have one size."""
SAME_LETTERS = 6.0
"""The largest mean difference, in levels, between two lines that look the same."""


def still_there(site: TextSite, reader: PairReader) -> None:
    """Change the statement of a site, in place, if the text that it calls added or removed is in both
    pictures.

    A line of the other picture that says the same is its former place, unless this picture shows that line as
    well: then there is one more.
    """
    statement = site.statement
    if not came_or_went(statement) or statement.count > 1 or statement.values.get("by_amount"):
        return
    own = [line for line in site.own_lines if handle(line) is not None]
    text = handle(own[0]) if own else None
    if text is None or len(text) < LEAST_LETTERS or not is_text(tuple(line.at.box for line in own), site.box):
        return
    twins = _twins(site, own, reader)
    if not twins:
        return
    pairs = (twins, own) if site.side == 1 else (own, twins)
    was, now = (union([line.at.box for line in lines]) for lines in pairs)
    rest = {key: value for key, value in statement.values.items() if key == "rest"}
    both = replace(
        statement,
        kind="replaced",
        box_before=was,
        box_after=now,
        boxes=(now,),
        element="text",
        values={"aspect": "part", **rest},
    )
    told = _moved(both, pairs) or by_lines(both, pairs, reader.pictures)
    if told is not both:
        site.statement = told
        site.read = (list(pairs[0]), list(pairs[1]))


def all_still_there(site: TextSite, sites: Sequence[TextSite], reader: PairReader) -> None:
    """Change the statement of a site about several texts, in place, if the other picture shows all of them:
    they moved. Each may have moved by another step.

    sites: all sites. What they say of texts that came or went is where the texts of this one stood or stand.
    """
    statement, side = site.statement, site.side
    own = [line for line in site.read[side] if handle(line) is not None]
    if (
        not came_or_went(statement)
        or not 1 < statement.count == len(own)
        or statement.values.get("by_amount")
    ):
        return
    others = [one for one in sites if came_or_went(one.statement) and one.side != side]
    there = [line for one in others for line in one.read[1 - side]]
    for line in own:
        text = handle(line) or ""
        found = next((one for one in there if same_words(text, one.line.text)), None)
        found = found or next(iter(_twins(site, [line], reader, line.at.box)), None)
        if found is None or len(text) < LEAST_WORD:
            return
        there = [*(one for one in there if one is not found), found]
    sources = there[-len(own) :]
    ends = (sources, own) if side == 1 else (own, sources)
    was, now = (union([line.at.box for line in lines]) for lines in ends)
    rest = {key: value for key, value in statement.values.items() if key == "rest"}
    boxes = tuple(line.at.box for line in ends[1])
    site.statement = replace(
        statement,
        kind="moved",
        box_before=was,
        box_after=now,
        boxes=boxes,
        element="text",
        values={"aspect": "position", **rest},
    )
    site.read = (list(ends[0]), list(ends[1]))


def without_old_text(site: TextSite, reader: PairReader) -> None:
    """Remove the lines from a site, in place, that are no name of an area that appeared or disappeared.

    Those are lines that the other picture shows near by as well. Texts that appeared or disappeared alone
    keep their lines.
    """
    own = site.own_lines
    boxes = tuple(line.at.box for line in own)
    if not came_or_went(site.statement) or site.statement.count > 1 or not own or is_text(boxes, site.box):
        return
    long = [line for line in own if len(handle(line) or "") >= LEAST_WORD]
    old = [line for line in long if _twins(site, [line], reader, line.at.box)]
    if old:
        side = [line for line in site.read[site.side] if not any(line is one for one in old)]
        site.read = (side, site.read[1]) if site.side == 0 else (site.read[0], side)


def _moved(both: Statement, pairs: tuple[Sequence[ReadLine], Sequence[ReadLine]]) -> Statement | None:
    """Return the statement that lines of one size moved by one step, or None."""
    boxes = [(one.at.box, other.at.box) for one, other in zip(*pairs, strict=False)]
    was, now = boxes[0]
    dx, dy = now[0] - was[0], now[1] - was[1]
    rest = both.values.get("rest")
    one_size = abs(now[2] - was[2] - dx) <= ONE_SIZE and abs(now[3] - was[3] - dy) <= ONE_SIZE
    if len(pairs[0]) != len(pairs[1]) or not one_size or max(abs(dx), abs(dy)) < LEAST_STEP:
        return None
    if rest is not None and max(abs(dx - rest[0]), abs(dy - rest[1])) <= ONE_SIZE:
        dx, dy = rest  # It moved with the rest, whose step was measured on more pixels.
    return replace(both, kind="moved", values={"aspect": "position", "dx": dx, "dy": dy})


def _twins(
    site: TextSite, own: Sequence[ReadLine], reader: PairReader, box: Box | None = None
) -> list[ReadLine]:
    """Return the lines of the other picture that have the words of the own lines, or none if some are not
    there.

    box: where the own lines are; the box of the site if it is None.
    """
    box = box or site.box
    here, there = reader.pictures[site.side], reader.pictures[1 - site.side]
    step = max((abs(part) for part in site.statement.values.get("rest") or (0,)), default=0)
    window = grown(box, step + NEAR, (there.shape[1], there.shape[0]))
    if window[0] >= window[2] or window[1] >= window[3]:
        return []
    lines = [line for line in find_lines(there, window) if may_be_text(line)]
    shown = grown(box, 2 * (step + NEAR), (here.shape[1], here.shape[0]))
    told = site.statement.boxes
    kept = [line for line in find_lines(here, shown) if not any(common(line, one) for one in told)]
    free = [line for line in lines if not any(_look_alike(there, line, here, other) for other in kept)]
    free.sort(key=lambda line: abs(line[1] - box[1]) + abs(line[0] - box[0]))
    read = [one for one in reader.read(LineAt(1 - site.side, line) for line in free[:MOST_READ]) if one]
    read.sort(key=lambda one: (one.at.box[1], one.at.box[0]))
    return _saying(read, " ".join(handle(line) or "" for line in own))


def _saying(read: Sequence[ReadLine], text: str) -> list[ReadLine]:
    """Return the successive lines that together say a text, or none."""
    for first in range(len(read)):
        for last in range(first + 1, len(read) + 1):
            said = " ".join(one.line.text for one in read[first:last])
            if same_words(said, text):
                return list(read[first:last])
            if len(said) > len(text):
                break
    return []


def _look_alike(one: Pixels, line: Box, other: Pixels, there: Box) -> bool:
    """Return whether two lines of two pictures have about the same pixels."""
    width, height = min(line[2] - line[0], there[2] - there[0]), min(line[3] - line[1], there[3] - there[1])
    if any(abs((line[k + 2] - line[k]) - (there[k + 2] - there[k])) > 1 for k in (0, 1)):
        return False
    first = one[line[1] : line[1] + height, line[0] : line[0] + width].astype(np.int16)
    second = other[there[1] : there[1] + height, there[0] : there[0] + width]
    return bool(np.abs(first - second).mean() <= SAME_LETTERS)
