"""Lines of text: a word that changed is told with the words beside it, those that it pushed too."""

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
"""Words of one line are at most so far apart, as a part of the line's height."""
SHORTEST_LINE, HIGHEST_LINE = 5, 28
"""Pixels that a line of text is high at least and at most."""
RIM = 2
"""Pixels at both ends of a box that may belong to what lies beside it."""
MOST_LINE = 4.0
"""A line that is longer than so many times what changed in it is told without the rest."""
MOST_WORD = 0.55
"""What came, went or looks otherwise is a word where it makes at most this part of the line."""
SLENDER = 1.2
"""What is no longer than so many times its height may be an icon."""
ONE_HEIGHT = 0.6
"""A line is at least this part as high as a word of it, and the other way round."""
WORDS = (
    ("rewritten", "text"),
    ("restyled", "weight"),
    ("added", "thing"),
    ("added", "pushed in"),
    ("removed", "thing"),
    ("removed", "closed up"),
    ("replaced", "icon"),
)
"""What a word that was written otherwise can look like by itself: kind and finer word."""
LETTERS = (("resized", "size"),)
"""What a letter of a word that was written otherwise can look like by itself."""
BETWEEN_LETTERS = (("added", "pushed in"), ("removed", "closed up"))
"""What letters that came or went in a word look like by themselves."""
LETTER_SPACE = 0.2
"""Letters of one word are at most so far apart, as a part of the line's height."""
PIECES = 2
"""Letters, or other pieces that touch none beside them, that stay in a line of which the rest moved at
least: one may be an icon."""
BESIDE_MOVED = (("rewritten", "text"), ("restyled", "weight"), ("restyled", "shape"), ("recolored", "ink"))
"""What it can look like beside words that moved."""


def whole_lines(before: Pixels, after: Pixels, changes: list[DetectedChange]) -> list[DetectedChange]:
    """What was found, with words that changed inside a line of text told as the line, rewritten."""
    results: dict[tuple[object, ...], DetectedChange] = {}
    for one in changes:
        found = _of_moved(before, after, _of_letter(before, after, _of_line(before, after, one)))
        # several parts of one line moved by several steps: it is told once
        key = (found.finding.aspect, found.box_before, found.box_after)
        results[key if found is not one else (id(one),)] = found
    return list(results.values())


def _of_letter(before: Pixels, after: Pixels, one: DetectedChange) -> DetectedChange:
    """A letter that is another one, came or went, as the word that it stands in, rewritten; anything else as
    it is."""
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
    """Whether a box in a word may be one of its letters, by their heights and by how much else there is."""
    height = letter[3] - letter[1]
    longer = word[2] - word[0] >= letter[2] - letter[0] + height
    return longer and ONE_HEIGHT * (word[3] - word[1]) <= height


def _of_moved(before: Pixels, after: Pixels, one: DetectedChange) -> DetectedChange:
    """The end or the middle of a line of text that moved along it, while its beginning or its end stayed, as
    the line, rewritten: something came or went in between. Anything else as it is."""
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
    """The columns (W, H, 3) of a line, from its beginning (0) or from its end (2)."""
    part = pixels[line[1] : line[3], line[0] : line[2]].swapaxes(0, 1)
    return part if end == 0 else part[::-1]


def _stays(one: Pixels, other: Pixels) -> bool:
    """Whether the first columns of a line, some letters at least, are as before."""
    count = min(len(one), len(other))
    differs = (steps_between(one[:count], other[:count]) > INK).any(axis=1)
    same = one[: int(differs.argmax()) if differs.any() else count]
    if len(same) < one.shape[1]:
        return False
    ink = (steps_from(usual_color(one.reshape(-1, 3)), same) > INK).any(axis=1)
    return int(np.count_nonzero(np.diff(np.r_[False, ink].astype(np.int8)) == 1)) >= PIECES


def _as_rewritten(one: DetectedChange, was: Box, now: Box) -> DetectedChange:
    """What was found as the text in these boxes, rewritten."""
    finding = Finding("rewritten", "text", 0.5)
    return replace(one, finding=finding, box_before=was, box_after=now, pixels=max(one.pixels, area(now)))


def rewritten_lines(changes: list[DetectedChange]) -> list[DetectedChange]:
    """What was found, with changed words and those of their line that they moved as one line, rewritten."""
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
    """Whether changed words tell of a line that was rewritten: they are of several kinds, or one looks so."""
    if len({one.finding.kind for one in words}) > 1:
        return True
    return any(
        (one.finding.kind, one.finding.aspect) in BESIDE_MOVED
        and one.box_after is not None
        and _width(one) >= SLENDER * (one.box_after[3] - one.box_after[1])
        for one in words
    )


def _width(one: DetectedChange) -> int:
    """How wide something is, or was where it is gone."""
    box = one.box_after or one.box_before
    return box[2] - box[0] if box else 0


def one_line(word: DetectedChange, moved: DetectedChange) -> bool:
    """Whether what moved is of the line of text in which a word changed."""
    one, other = word.box_after or word.box_before, moved.box_after
    if one is None or other is None or moved.finding.values.get("dy"):
        return False
    height = max(one[3], other[3]) - min(one[1], other[1])
    return height <= TEXT_HEIGHT and gap(one, other) <= height


def rewritten_with(word: DetectedChange, line: Sequence[DetectedChange]) -> DetectedChange:
    """A word that was rewritten, with all that was found in its line."""
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
    """A changed word as its line; anything else as it is."""
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
    # What came or went is a word where it stood in a line itself, not where others closed up.
    longest = lengths.get(str(one.finding.kind), max(lengths.values()))
    lowest, highest = (choose(line[3] - line[1] for line in (was, now)) for choose in (min, max))
    alike = lowest >= ONE_HEIGHT * height and ONE_HEIGHT * highest <= height
    most = longest - 2 if one.finding.kind == "rewritten" else MOST_WORD * longest
    if not alike or word > most or longest > MOST_LINE * word:
        return one
    return _as_rewritten(one, was, now)


def line_around(pixels: Pixels, box: Box, apart: float = WORD_SPACE) -> Box | None:
    """The line of text that a box lies in: as far as words follow one another; None where there is none.

    apart: how far what follows one another is apart at most, as a part of the line's height.
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
    """How many columns further words go on, with gaps of at most so many columns."""
    end = int(np.argmax(wall)) if wall.any() else len(wall)
    inked = np.flatnonzero(filled[:end])
    if not len(inked) or inked[0] > space:
        return 0
    breaks = np.flatnonzero(np.diff(inked) > space + 1)
    last = int(inked[breaks[0]] if len(breaks) else inked[-1]) + 1
    return last
