"""Say what happened to the lines of text in a place that only looks different.

Each line before is matched with the line after that has the same words. Lines without a match are other
words; matched lines may all have moved by the same step.
"""

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np

from whatchanged.answers.beside import BEGINNING, moved, shift_of
from whatchanged.answers.between import came_between
from whatchanged.answers.rewriting import (
    ICONS,
    KINDS,
    UNCLEAR,
    UNLIKE,
    by_words,
    holds_what_followed,
    same_text,
)
from whatchanged.measured import Box, Statement
from whatchanged.measured.amounts.color import fringed_ink
from whatchanged.measured.pixels.boxes import common, union
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules.predicates import is_exact
from whatchanged.text.quotes import ELLIPSIS, certain, differing, handle, same_words, shortened
from whatchanged.text.reader import ReadLine, words_in
from whatchanged.words import color_name_of_code

LEAST_STEP = 2
"""The least movement of lines in pixels. A smaller one may be another drawing of the same letters."""
SAME_STEP = 1
"""By how many pixels the movements of two lines may differ."""
MOST_MATCHED = 0.6
"""The least fraction of the width of all lines that the matched ones must have if the place moved."""
MORE_WORDS = 6
"""The room for more words beside a line, in heights of the line."""
MOST_ALIKE = 0.7
"""The least fraction of the changed lines that must have changed in the same way."""
LETTERS_OF_A_STYLE = 8
"""The least number of characters, in all lines, whose style can be told."""
OTHER_COLOR = 60
"""The least difference, in levels, between two colours of the same line."""
QUITE_UNLIKE = 0.5
"""Two readings less alike than this are two texts, even if some letters of one are wrong."""
LETTERS = 3
"""The least number of letters and digits of a text that is quoted for a whole line."""


class _Line(NamedTuple):
    """A line with the words by which it is matched, None where they are uncertain."""

    read: ReadLine
    text: str | None


def by_lines(
    statement: Statement, read: tuple[list[ReadLine], list[ReadLine]], pictures: tuple[Pixels, Pixels]
) -> Statement:
    """Return the statement about other words or moved lines, or unchanged where neither is certain.

    read: the lines in the statement's box before and after. Only a statement that says no more than that a
    place looks different is changed.
    """
    was, now = statement.box_before, statement.box_after
    if not is_unclear(statement) or was is None or now is None:
        return statement
    boxes = (was, now)
    lines = [
        [
            _Line(one, handle(one, words_in(one, box)))
            for one in lines
            if one.line.confidence >= ICONS and common(one.at.box, box)
        ]
        for lines, box in zip(read, boxes, strict=True)
    ]
    wrapped = _wrapped(statement, *lines)
    if wrapped is not None or holds_what_followed(statement):
        return wrapped or statement
    pairs = _matched(*lines)
    matched = [part for pair in pairs for part in pair]
    rest = [[one for one in side if not any(one is part for part in matched)] for side in lines]
    other_words = _rewritten(statement, rest, boxes) if rest[0] and rest[1] else None
    if other_words is not None:
        return other_words
    between = _between(statement, pairs, rest)
    if between is not None:
        return between
    told = _aligned(statement, pairs, lines) or _moved(statement, pairs, lines)
    return _restyled(statement, pairs, pictures) if told is statement else told


def _between(
    statement: Statement, pairs: Sequence[tuple[_Line, _Line]], rest: Sequence[Sequence[_Line]]
) -> Statement | None:
    """Return the statement that the lines without a match came or went, if only one picture has such lines
    and all of them are read with confidence; else None."""
    came = bool(rest[1])
    more = rest[came]
    if rest[not came] or any(one.text is None for one in more):
        return None
    both = [(one.read, other.read) for one, other in pairs]
    return came_between(statement, [one.read for one in more], both, came)


def is_unclear(statement: Statement) -> bool:
    """Return whether a statement says no more than that a place looks different."""
    if statement.kind not in KINDS or "state" in statement.values:
        return False
    values = statement.values
    if statement.kind == "rewritten":
        return not {"text_before", "text_after", "on_after"} & values.keys()
    return values.get("aspect") in (*UNCLEAR, "weight") and not is_exact(statement.kind, values)


def _matched(before: Sequence[_Line], after: Sequence[_Line]) -> list[tuple[_Line, _Line]]:
    """Return the pairs of lines with the same words, each line once, in order."""
    results: list[tuple[_Line, _Line]] = []
    free = list(before)
    for one in after:
        twin = next(
            (other for other in free if one.text and other.text and same_words(one.text, other.text)), None
        )
        if twin is not None:
            free = [other for other in free if other is not twin]
            results.append((twin, one))
    return results


def _wrapped(statement: Statement, before: Sequence[_Line], after: Sequence[_Line]) -> Statement | None:
    """Return the statement that a text became larger or smaller and takes more or fewer lines; else None.

    All lines of one picture must be the first lines of the other one, wrapped at other words.
    """
    texts = [[one.text or "" for one in side] for side in (before, after)]
    if not before or not after or not all(map(all, texts)):
        return None
    one, other = (side[0].read.at.box for side in (before, after))
    heights = one[3] - one[1], other[3] - other[1]
    wraps = any(_begins_with(there, here) for here, there in (texts, texts[::-1]))
    if not wraps or abs(heights[1] - heights[0]) < LEAST_STEP:
        return None
    values = {"aspect": "text size", "amount_before": heights[0], "amount_after": heights[1]}
    return replace(statement, kind="resized", values={**_kept(statement), **values})


def _begins_with(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether the first of some lines are all the other ones, wrapped into another number of lines."""
    whole = " ".join(others)
    counts = [count for count in range(1, len(lines) + 1) if count != len(others)]
    return any(same_words(whole, " ".join(lines[:count])) for count in counts)


def _rewritten(
    statement: Statement, rest: Sequence[Sequence[_Line]], boxes: tuple[Box, Box]
) -> Statement | None:
    """Return the statement that the first line without a match reads differently; None where it is uncertain.

    rest: the lines without a match, before and after. Both first lines must be at the same place: others were
    pushed there. If not all letters of one are certain, only the other one is quoted.
    """
    rows = [_first_row(side) for side in rest]
    shown = [" ".join(_words(one, box) for one in row) for row, box in zip(rows, boxes, strict=True)]
    if not _at_one_position(rows) or any(shown[here].startswith(shown[1 - here]) for here in (0, 1)):
        return None
    if len(shown[0].split()) != len(shown[1].split()):
        for here, there in ((0, 1), (1, 0)):
            if any(_shares(shown[here], one.text or "") for one in rest[there]):
                return None  # The lines were wrapped at another word, or moved.
    sure = [_certain_text(row, box) for row, box in zip(rows, boxes, strict=True)]
    quotes: tuple[str, str] | None = None if None in sure else differing(sure[0] or "", sure[1] or "", True)
    ratio = SequenceMatcher(None, shown[0], shown[1], autojunk=False).ratio()
    if quotes is None and ratio >= (UNLIKE if None not in sure else QUITE_UNLIKE):
        quotes = _certain_words(rest[0][0], rest[1][0])
        if quotes is None:
            return None
    texts = sure if quotes is None else quotes
    quoted = {
        name: _shortened(text)
        for name, text in zip(("text_before", "text_after"), texts, strict=True)
        if text and _may_be_quoted(text)
    }
    if not quoted:
        return None
    values: dict[str, Any] = {"aspect": "text", "other_words": True, **quoted}
    return replace(statement, kind="rewritten", values={**_kept(statement), **values})


def _first_row(lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines in the row of the first one, from left to right: wide gaps may split a line."""
    top, bottom = lines[0].read.at.box[1], lines[0].read.at.box[3]
    row = [one for one in lines if top <= (one.read.at.box[1] + one.read.at.box[3]) / 2 < bottom]
    return sorted(row, key=lambda one: one.read.at.box[0])


def _at_one_position(rows: Sequence[Sequence[_Line]]) -> bool:
    """Return whether two rows begin, end or are centred at about the same place."""
    one, other = (union([line.read.at.box for line in row]) for row in rows)
    near = max(one[3] - one[1], other[3] - other[1])
    across = (one[0] - other[0], one[2] - other[2], (one[0] + one[2] - other[0] - other[2]) / 2)
    return abs(one[1] - other[1]) <= near and min(map(abs, across)) <= near


def _certain_text(row: Sequence[_Line], box: Box) -> str | None:
    """Return the text of a row in a box; None where a letter is uncertain."""
    texts = [certain(one.read, words_in(one.read, box)) for one in row]
    return " ".join(text for text in texts if text) if all(texts) else None


def _shortened(text: str) -> str:
    """Return at most five words; a text that ends in a comma goes on in the next line."""
    return shortened(f"{text[:-1]} {ELLIPSIS}" if text.endswith(",") else text)


def _words(line: _Line, box: Box) -> str:
    """Return all words of a line in a box, certain or not."""
    return " ".join(line.read.line.words[index].text for index in words_in(line.read, box))


def _certain_words(before: _Line, after: _Line) -> tuple[str, str] | None:
    """Return the first words that differ, each certain, of two lines with as many words; else None."""
    pairs = list(zip(before.read.line.words, after.read.line.words, strict=False))
    if len(before.read.line.words) != len(after.read.line.words):
        return None
    run: list[tuple[str, str]] = []
    for place, (one, other) in enumerate(pairs):
        words = [certain(side.read, [place], alone=True) for side in (before, after)]
        if None not in words and not same_words(one.text, other.text):
            run.append((one.text, other.text))
        elif run:
            break
    if not run or any(len(word) == 1 for pair in run for word in pair):
        return None
    return " ".join(one for one, _ in run), " ".join(other for _, other in run)


def _may_be_quoted(text: str) -> bool:
    """Return whether a text is more than a sign that may be a shape: a ring, a line."""
    return sum(sign.isalnum() for sign in text) >= LETTERS


def _shares(text: str, other: str) -> bool:
    """Return whether a text goes on in the other one, as where lines are only wrapped at another word."""
    one, two = text.split(), other.split()
    return len(one) > 1 and len(two) > 1 and (one[:2] == two[:2] or one[-2:] == two[-2:])


def _moved(
    statement: Statement, pairs: Sequence[tuple[_Line, _Line]], lines: Sequence[Sequence[_Line]]
) -> Statement:
    """Return the statement that the text moved, if most lines moved by the same step and kept their width."""
    width = min(sum(map(_width, side)) for side in lines)
    if not pairs or sum(_width(now) for _, now in pairs) < MOST_MATCHED * width:
        return statement
    boxes = [(one.read.at.box, other.read.at.box) for one, other in pairs]
    wider = [abs(now[2] - now[0] - (was[2] - was[0])) for was, now in boxes]
    steps = [
        (now[0] - was[0], round((now[1] + now[3] - was[1] - was[3]) / 2))  # A letter may be cut at one side.
        for was, now in boxes
    ]
    dx, dy = sorted(steps)[len(steps) // 2]
    alike = all(max(abs(x - dx), abs(y - dy)) <= SAME_STEP for x, y in steps)
    if not alike or max(abs(dx), abs(dy)) < LEAST_STEP or max(wider) > SAME_STEP:
        return statement
    was, now = union([one for one, _ in boxes]), union([other for _, other in boxes])
    values = {**_kept(statement), "aspect": "position", "dx": dx, "dy": dy}
    return replace(statement, kind="moved", box_before=was, box_after=now, boxes=(now,), values=values)


def _aligned(
    statement: Statement, pairs: Sequence[tuple[_Line, _Line]], lines: Sequence[Sequence[_Line]]
) -> Statement | None:
    """Return the statement that lines of different widths are now centred or aligned right or left, or None.

    Every line is in both pictures, at the same height and as wide as before. The lines were aligned
    otherwise before.
    """
    if len(pairs) < 2 or any(len(side) != len(pairs) for side in lines):
        return None
    boxes = [(one.read.at.box, other.read.at.box) for one, other in pairs]
    steps = [now[0] - was[0] for was, now in boxes]
    wider = [abs(now[2] - now[0] - (was[2] - was[0])) for was, now in boxes]
    lower = [abs(now[1] + now[3] - was[1] - was[3]) // 2 for was, now in boxes]
    if max(map(abs, steps)) < LEAST_STEP or max(wider) > LEAST_STEP or max(lower) > SAME_STEP:
        return None
    ways = [_alignment([pair[side] for pair in boxes]) for side in (0, 1)]
    if None in ways or ways[0] == ways[1]:
        return None
    values = {
        **_kept(statement),
        "aspect": "position",
        "align_before": ways[0],
        "align_after": ways[1],
    }
    was, now = (union([pair[side] for pair in boxes]) for side in (0, 1))
    return replace(statement, kind="moved", box_before=was, box_after=now, boxes=(now,), values=values)


def _alignment(boxes: Sequence[Box]) -> str | None:
    """Return "left", "right" or "center" where only these ends of the boxes agree, or None."""
    ends = {
        "left": [2 * box[0] for box in boxes],
        "right": [2 * box[2] for box in boxes],
        "center": [box[0] + box[2] for box in boxes],
    }
    alike = [name for name, values in ends.items() if max(values) - min(values) <= 2 * LEAST_STEP]
    return alike[0] if len(alike) == 1 else None


def _restyled(
    statement: Statement, pairs: Sequence[tuple[_Line, _Line]], pictures: tuple[Pixels, Pixels]
) -> Statement:
    """Return the statement that lines with the same words changed their style or colour, all alike.

    Lines whose pixels are the same do not count. A short line alone is not enough, since a sign beside it may
    be taken for a part of it.
    """
    changed = [(one, other) for one, other in pairs if not np.array_equal(one.read.cut, other.read.cut)]
    found = [same_text(statement, ([one.read], [other.read]), pictures) for one, other in changed]
    clear = [one for one in found if one.kind != "moved" and not is_unclear(one) and _is_clear(one)]
    sides = [(pictures[side], line.read.at.box) for pair in changed for side, line in enumerate(pair)]
    if any(one.kind == "recolored" for one in clear) and any(fringed_ink(*side) for side in sides):
        return statement  # Letters with coloured fringes seem to have another colour.
    letters = sum(len(other.text or "") for _, other in changed)
    if len(clear) < MOST_ALIKE * len(found) or letters < LETTERS_OF_A_STYLE or not clear:
        return statement
    first = clear[0]
    if any((one.kind, _way(one)) != (first.kind, _way(first)) for one in clear):
        return statement
    boxes = tuple(other.read.at.box for _, other in changed)
    was = union([one.read.at.box for one, _ in changed])
    kept = {} if first.kind == "recolored" else _kept(statement)  # Another colour moves nothing.
    values = {**kept, **first.values}
    return replace(first, box_before=was, box_after=union(boxes), boxes=boxes, values=values)


def _is_clear(statement: Statement) -> bool:
    """Return whether a statement about a line says what changed."""
    values = statement.values
    if statement.kind == "recolored":
        codes = [bytes.fromhex(str(values[key])[1:]) for key in ("color_before", "color_after")]
        return bool(max(abs(one - other) for one, other in zip(*codes, strict=True)) >= OTHER_COLOR)
    return is_exact(statement.kind, values) and values.get("aspect") != "shape"


def _way(statement: Statement) -> tuple[object, ...]:
    """Return what lines of one style have in common: the aspect, its direction, and the colours."""
    values = statement.values
    one, other = values.get("amount_before"), values.get("amount_after")
    more = None if one is None or other is None else other > one
    names = [color_name_of_code(str(values[key])) for key in ("color_before", "color_after") if key in values]
    return values.get("aspect"), values.get("on_after"), more, *names


def _width(line: _Line) -> int:
    return line.read.at.box[2] - line.read.at.box[0]


def _kept(statement: Statement) -> dict[str, Any]:
    """Return the values that hold whatever is said of the place: what followed from the change."""
    return {key: value for key, value in statement.values.items() if key == "rest"}


def by_lines_of_all(
    statement: Statement, read: tuple[list[ReadLine], list[ReadLine]], pictures: tuple[Pixels, Pixels]
) -> Statement:
    """Return the statement about several alike things, changed by the text that was read in each.

    If all things changed alike, what happened to them is said once; if their words changed, those of one
    thing are quoted. Otherwise the statement is returned unchanged.
    """
    if not is_unclear(statement) or statement.box_before is None or statement.box_after is None:
        return statement
    dx, dy = shift_of(statement)
    found = []
    for box in sorted(statement.boxes, key=lambda box: (box[1], box[0])):
        was = moved(box, (-dx, -dy))
        lines = [
            [one for one in side if common(one.at.box, there) and not _is_cut(one)]
            for side, there in zip(read, (was, box), strict=True)
        ]
        # A line may go on beside the place; it is quoted as a whole.
        ends = [
            union([there, *(one.at.box for one in side)])
            for side, there in zip(lines, (was, box), strict=True)
        ]
        single = replace(statement, box_before=ends[0], box_after=ends[1], boxes=(ends[1],))
        both = lines[0], lines[1]
        found.append(by_lines(by_words(single, both, pictures), both, pictures))
    first = found[0]
    if is_unclear(first) or any(one.kind != first.kind for one in found):
        return statement
    if first.kind == "rewritten":
        return _rewritten_all(statement, found, read)
    alike = all(one.values == first.values for one in found)
    return (
        replace(statement, kind=first.kind, values={**_kept(statement), **first.values})
        if alike
        else statement
    )


def _rewritten_all(
    statement: Statement, explained: Sequence[Statement], read: tuple[list[ReadLine], list[ReadLine]]
) -> Statement:
    """Return the statement with the words of the first thing whose words are certain and complete."""
    for one in explained:
        texts = {key: value for key, value in one.values.items() if key in ("text_before", "text_after")}
        if len(texts) == 2 and not any(map(_goes_on, read, (one.box_before, one.box_after))):
            several = any(other.values != one.values for other in explained)
            values = {**statement.values, "other_words": True, **texts}
            return replace(
                statement, kind="rewritten", values=values | ({"one_of_them": True} if several else {})
            )
    return statement


def _goes_on(lines: Sequence[ReadLine], box: Box | None) -> bool:
    """Return whether a box has room for more words right of the line that was read in it."""
    here = [line.at.box for line in lines if box is not None and common(line.at.box, box)]
    return box is not None and any(box[2] - line[2] > MORE_WORDS * (line[3] - line[1]) for line in here)


def _is_cut(line: ReadLine) -> bool:
    """Return whether only the beginning of a line may have been read."""
    left, top, right, bottom = line.at.box
    return right - left >= BEGINNING * (bottom - top)
