"""Lines of text: a statement about a changed word covers its line, including the words that it pushed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import area, gap, union
from whatchanged.measured.pixels.layers import INK, ground_color, usual_color
from whatchanged.measured.pixels.planes import steps_between, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.detected import DetectedChange
from whatchanged.measured.rules.kinds import TEXT_HEIGHT, Finding

WORD_SPACE = 0.5
"""The largest space between words of a line, as a fraction of the line's height."""
SHORTEST_LINE, HIGHEST_LINE = 5, 28
"""The least and largest height of a line of text in pixels."""
RIM = 2
"""The number of pixels at both ends of a box that may belong to its neighbours."""
MOST_LINE = 4.0
"""The largest ratio of the length of a line to that of its changed part, if the entire line is described."""
MOST_WORD = 0.55
"""The largest fraction of a line that an added, removed or changed word covers."""
SLENDER = 1.2
"""The ratio of width to height below which a region may be an icon."""
ONE_HEIGHT = 0.6
"""The least ratio between the heights of a line and of a word in it."""
WORDS = (
    ("rewritten", "text"),
    ("restyled", "weight"),
    ("added", "thing"),
    ("added", "pushed in"),
    ("removed", "thing"),
    ("removed", "closed up"),
    ("replaced", "icon"),
)
"""The kinds and aspects that a rewritten word can have if it is examined alone."""
LETTERS = (("resized", "size"),)
"""The kinds and aspects that a letter of a rewritten word can have if it is examined alone."""
BETWEEN_LETTERS = (("added", "pushed in"), ("removed", "closed up"))
"""The kinds and aspects that letters added to or removed from a word can have if they are examined alone."""
LETTER_SPACE = 0.2
"""The largest space between letters of a word, as a fraction of the line's height."""
PIECES = 2
"""The least number of unmoved letters, or other separate pieces, in a line whose other part moved. A single
piece may be an icon."""
BESIDE_MOVED = (("rewritten", "text"), ("restyled", "weight"), ("restyled", "shape"), ("recolored", "ink"))
"""The kinds and aspects that a rewritten word can have beside moved words."""


def whole_lines(before: Pixels, after: Pixels, changes: list[DetectedChange]) -> list[DetectedChange]:
    """Replace the changes of words inside a line of text by one change: the line was rewritten."""
    results: dict[tuple[object, ...], DetectedChange] = {}
    for one in changes:
        found = _of_moved(before, after, _of_letter(before, after, _of_line(before, after, one)))
        # Several parts of one line may have moved by different steps. The line is described once.
        key = (found.finding.aspect, found.box_before, found.box_after)
        results[key if found is not one else (id(one),)] = found
    return list(results.values())


def _of_letter(before: Pixels, after: Pixels, one: DetectedChange) -> DetectedChange:
    """Return the change of a letter as a rewriting of its word. All other changes are returned unchanged."""
    found = (one.finding.kind, one.finding.aspect)
    was, now = one.box_before or one.box_after, one.box_after or one.box_before
    if found not in LETTERS + BETWEEN_LETTERS or not one.cause or was is None or now is None:
        return one
    old, new = line_around(before, was, LETTER_SPACE), line_around(after, now, LETTER_SPACE)
    if old is None or new is None:
        return one
    if found in BETWEEN_LETTERS:
        letter, word = (now, new) if one.box_after else (was, old)
        joined = max(letter[0] - word[0], word[2] - letter[2]) >= RIM
        return _as_rewritten(one, old, new) if joined and _is_letter(letter, word) else one
    return _as_rewritten(one, old, new) if _is_letter(was, old) and _is_letter(now, new) else one


def _is_letter(letter: Box, word: Box) -> bool:
    """Return whether a box may be a letter of a word, judged by the heights and the length of the remaining
    word."""
    height = letter[3] - letter[1]
    longer = word[2] - word[0] >= letter[2] - letter[0] + height
    return longer and ONE_HEIGHT * (word[3] - word[1]) <= height


def _of_moved(before: Pixels, after: Pixels, one: DetectedChange) -> DetectedChange:
    """Return a movement along a line of text as a rewriting of the line. All other changes are returned
    unchanged.

    The movement is a rewriting if the beginning or the end of the line stays. Something was then added or
    removed between that part and the moved part.
    """
    was, now = one.box_before, one.box_after
    along = one.finding.kind == "moved" and one.finding.values.get("dx") and not one.finding.values.get("dy")
    if not along or not one.cause or was is None or now is None:
        return one
    old, new = line_around(before, was), line_around(after, now)
    if old is None or new is None or old[1::2] != new[1::2]:
        return one
    stays = any(
        old[end] == new[end] and _stays(_from_end(before, old, end), _from_end(after, new, end))
        for end in (0, 2)
    )
    return _as_rewritten(one, old, new) if stays else one


def _from_end(pixels: Pixels, line: Box, end: int) -> Pixels:
    """Return the columns (W, H, 3) of a line, starting at its beginning (0) or at its end (2)."""
    part = pixels[line[1] : line[3], line[0] : line[2]].swapaxes(0, 1)
    return part if end == 0 else part[::-1]


def _stays(one: Pixels, other: Pixels) -> bool:
    """Return whether the first columns of a line, with at least some letters, are unchanged."""
    count = min(len(one), len(other))
    differs = (steps_between(one[:count], other[:count]) > INK).any(axis=1)
    same = one[: int(differs.argmax()) if differs.any() else count]
    if len(same) < one.shape[1]:
        return False
    ink = (steps_from(usual_color(one.reshape(-1, 3)), same) > INK).any(axis=1)
    return int(np.count_nonzero(np.diff(np.r_[False, ink].astype(np.int8)) == 1)) >= PIECES


def _as_rewritten(one: DetectedChange, was: Box, now: Box) -> DetectedChange:
    """Return a change as rewritten text in these boxes."""
    finding = Finding("rewritten", "text", 0.5)
    return replace(one, finding=finding, box_before=was, box_after=now, pixels=max(one.pixels, area(now)))


def rewritten_lines(changes: list[DetectedChange]) -> list[DetectedChange]:
    """Replace changed words, and the words of their line that they moved, by one rewritten line."""
    for moved in [one for one in changes if one.finding.kind == "moved"]:
        words = [one for one in changes if one.cause and one.finding.kind != "moved" and one_line(one, moved)]
        if moved not in changes or not _show_rewriting(words):
            continue
        line = [
            one
            for one in changes
            if one in words or (one.finding.kind == "moved" and any(one_line(word, one) for word in words))
        ]
        whole = rewritten_with(max(words, key=lambda one: one.pixels), line)
        if _width(whole) <= MOST_LINE * max(_width(one) for one in words):
            changes = [*(one for one in changes if one not in line), whole]
    return changes


def _show_rewriting(words: Sequence[DetectedChange]) -> bool:
    """Return whether changed words indicate a rewritten line: they have several kinds, or one of them looks
    rewritten."""
    if len({one.finding.kind for one in words}) > 1:
        return True
    return any(
        (one.finding.kind, one.finding.aspect) in BESIDE_MOVED
        and one.box_after is not None
        and _width(one) >= SLENDER * (one.box_after[3] - one.box_after[1])
        for one in words
    )


def _width(one: DetectedChange) -> int:
    """Return the width of an object in the picture after, or in the picture before if it was removed."""
    box = one.box_after or one.box_before
    return box[2] - box[0] if box else 0


def one_line(word: DetectedChange, moved: DetectedChange) -> bool:
    """Return whether a movement belongs to the line of text in which a word changed."""
    one, other = word.box_after or word.box_before, moved.box_after
    if one is None or other is None or moved.finding.values.get("dy"):
        return False
    height = max(one[3], other[3]) - min(one[1], other[1])
    return height <= TEXT_HEIGHT and gap(one, other) <= height


def rewritten_with(word: DetectedChange, line: Sequence[DetectedChange]) -> DetectedChange:
    """Return a rewritten word enlarged to all changes in its line."""
    before, after = (
        [box for one in line if (box := getattr(one, end))] for end in ("box_before", "box_after")
    )
    return replace(
        word,
        finding=Finding("rewritten", "text", 0.5),
        box_before=union(before),
        box_after=union(after),
        pixels=sum(one.pixels for one in line),
    )


def _of_line(before: Pixels, after: Pixels, one: DetectedChange) -> DetectedChange:
    """Return the change of a word as a rewriting of its line. All other changes are returned unchanged."""
    if (one.finding.kind, one.finding.aspect) not in WORDS or not one.cause:
        return one
    seed = one.box_after or one.box_before
    other = one.box_before or one.box_after
    if seed is None or other is None:
        return one
    height = max(seed[3] - seed[1], other[3] - other[1])
    word = max(seed[2] - seed[0], other[2] - other[0])
    if one.finding.kind != "rewritten" and word < SLENDER * height:
        return one
    was, now = line_around(before, other), line_around(after, seed)
    if was is None or now is None:
        return one
    lengths = {"removed": was[2] - was[0], "added": now[2] - now[0]}
    # An added or removed object is a word only if it stood in a line itself. A line that closed up afterwards
    # does not count.
    longest = lengths.get(str(one.finding.kind), max(lengths.values()))
    lowest, highest = (choose(line[3] - line[1] for line in (was, now)) for choose in (min, max))
    alike = lowest >= ONE_HEIGHT * height and ONE_HEIGHT * highest <= height
    most = longest - 2 if one.finding.kind == "rewritten" else MOST_WORD * longest
    if not alike or word > most or longest > MOST_LINE * word:
        return one
    return _as_rewritten(one, was, now)


def line_around(pixels: Pixels, box: Box, apart: float = WORD_SPACE) -> Box | None:
    """Return the box of the line of text around a box, or None if there is no such line.

    The line extends as long as the space between two pieces is small enough.

    apart: the largest space between two pieces, as a fraction of the line's height.
    """
    left, top, right, bottom = box
    height = bottom - top
    if not SHORTEST_LINE <= height <= HIGHEST_LINE:
        return None
    band = pixels[max(0, top - 2) : bottom + 2]
    ink = steps_from(ground_color(pixels, box), band) > INK
    filled, wall = np.asarray(ink.any(axis=0)), np.asarray(ink.all(axis=0))
    space = round(apart * height)
    inside = np.flatnonzero(filled[left + RIM : right - RIM]) + left + RIM
    if len(inside):
        left, right = int(inside[0]), int(inside[-1]) + 1
    start = left - _reach(filled[:left][::-1], wall[:left][::-1], space)
    stop = right + _reach(filled[right:], wall[right:], space)
    columns = np.flatnonzero(filled[start:stop] & ~wall[start:stop])
    if not len(columns):
        return None
    rows = np.flatnonzero(ink[:, start:stop].any(axis=1))
    first = max(0, top - 2)
    return (
        start + int(columns[0]),
        first + int(rows[0]),
        start + int(columns[-1]) + 1,
        first + int(rows[-1]) + 1,
    )


def _reach(filled: NDArray[np.bool_], wall: NDArray[np.bool_], space: int) -> int:
    """Return the number of columns that further words extend, with gaps of at most ``space`` columns."""
    end = int(np.argmax(wall)) if wall.any() else len(wall)
    inked = np.flatnonzero(filled[:end])
    if not len(inked) or inked[0] > space:
        return 0
    breaks = np.flatnonzero(np.diff(inked) > space + 1)
    last = int(inked[breaks[0]] if len(breaks) else inked[-1]) + 1
    return last
