"""Decide whether a text was rewritten, from the text read before and after."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from whatchanged.answers.line_ends import numbered
from whatchanged.measured import Box, Statement
from whatchanged.measured.amounts.coverage import Coverage, read_coverage
from whatchanged.measured.amounts.type import read_line, type_change
from whatchanged.measured.pixels.boxes import union
from whatchanged.measured.pixels.layers import far
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules.ink import ink_box
from whatchanged.text.around import is_text
from whatchanged.text.quotes import LONGEST, certain, differing, handle, same_words
from whatchanged.text.reader import ReadLine, words_in
from whatchanged.words import color_code

KINDS = ("rewritten", "restyled", "replaced", "recolored", "resized")
"""Kinds of change that may be a rewritten text."""
UNCLEAR = ("shape", "part", "content", "text")
"""Properties too vague to report: if the text is the same, the property that changed is searched for."""
UNLIKE = 0.75
"""Two readings less alike than this are two texts, even if a letter of each may be wrong."""
UNCLEAR_PARTS = (("replaced", "part"), ("replaced", "content"), ("restyled", "weight"))
"""Kinds and properties of which only the pixels were compared: where both pictures have text there and most
of it differs, the text is the change."""
OTHER_WORDS = 4
"""The least number of words of both pictures that the other picture lacks. A few may be misread."""
MOST_THE_SAME = 0.2
"""The least fraction of the words of both pictures that the other picture lacks."""
ONE_WORD = 0.75
"""Two words more alike than this may be the same word with a wrong letter."""
ICONS = 0.6
"""The least confidence of a line of letters."""
SHORT = 2.5
"""The largest ratio of width to height of an icon, or of two of them."""
SAME_COLOR = 24
"""Levels by which the colour of unchanged text may vary."""
OTHER_TYPE = ("text size", "slant", "weight", "letter spacing")
"""Properties of type that a change of colour does not resemble. Where both changed, both are told."""
PALER = 96
"""Levels by which the colour of bolder text, or of another typeface, may seem to differ. Thin letters seldom
reach their full colour."""
UNLIKE_CAPITALS = frozenset("abdefghijlmnqrty")
"""Letters whose capitals have another shape. Of the others, a reader can take one for the other."""
SAME_WIDTH = 1
"""By how many pixels the width of a line may differ if it only took another colour."""
CAPITALS = 3
"""The least number of letters with capitals of another shape that show a text in capitals."""
SLIGHTLY = 1.08
"""How much more ink slightly bolder text has, at least."""
LEAST_PUSHED = 2
"""The least movement in pixels of words behind a sign that became longer or shorter."""
IN_FRONT = 4
"""The least width in pixels of what stands in front of words that it moved."""
LinesOfBoth = tuple[list[ReadLine], list[ReadLine]]
"""The lines of a thing, before and after."""


def by_words(statement: Statement, read: LinesOfBoth, pictures: tuple[Pixels, Pixels]) -> Statement:
    """Return the statement as "rewritten" where the text before and after differs, and as another change
    where it does not.

    Texts that are certain appear in its values, ``text_before`` and ``text_after``.
    """
    found = _by_words(statement, read, pictures)
    was, now = found.box_before, found.box_after
    if was is None or now is None or (found.kind, found.values.get("aspect")) not in UNCLEAR_PARTS:
        return found
    return _rewritten(found, {}) if _says_otherwise(read, (was, now)) else found


def _by_words(statement: Statement, read: LinesOfBoth, pictures: tuple[Pixels, Pixels]) -> Statement:
    """Return what ``by_words`` does where the words of the whole text decide."""
    was, now = statement.box_before, statement.box_after
    if statement.kind not in KINDS or was is None or now is None:
        return statement
    if statement.kind == "rewritten" and all(map(_is_icon, [*read[0], *read[1]])):
        return replace(statement, kind="restyled", values={"aspect": "shape"})
    boxes = (was, now)
    texts = [_joined(lines, box, handle) for lines, box in zip(read, boxes, strict=True)]
    if None in texts:
        return statement
    before, after = (text or "" for text in texts)
    if not all(map(_is_text, read, boxes)):
        return _around_text(statement, read, before, after)
    other_case = _other_case(read, boxes)
    if other_case is not None:
        return _rewritten(statement, other_case)
    if same_words(before, after):
        aspect = statement.values.get("aspect")
        unmeasured = aspect == "weight" and "amount_before" not in statement.values
        unclear = statement.kind == "rewritten" or aspect in UNCLEAR or unmeasured
        # Of several lines, each is compared with its own.
        one_line = min(len(lines) for lines in read) < 2 or _all_in_rows(read)
        return same_text(statement, read, pictures) if unclear and one_line else statement
    sure = _sure_texts(read, boxes)
    quoted = _quoted(read, boxes)
    # where one text is the beginning of the other, the rest may stand in a line beside the place
    begins_alike = before.startswith(after) or after.startswith(before)
    if holds_what_followed(statement):
        return _rewritten(statement, {}) if quoted is not None and not begins_alike else statement
    if quoted is not None:
        return numbered(_rewritten(statement, quoted), read)
    if not begins_alike and SequenceMatcher(None, before, after, autojunk=False).ratio() < UNLIKE:
        return _rewritten(statement, _one_side(sure))
    return statement


def _all_in_rows(read: LinesOfBoth) -> bool:
    """Return whether the lines of each picture stand beside each other in one row."""
    return all(
        max(line.at.box[1] for line in lines) < min(line.at.box[3] for line in lines) for lines in read
    )


def _says_otherwise(read: LinesOfBoth, boxes: tuple[Box, Box]) -> bool:
    """Return whether both pictures have legible text in a region, and many words differ on both sides.

    A text whose lines only wrap elsewhere has the same words.
    """
    both = [
        [word for line in lines if (text := handle(line, words_in(line, box))) for word in text.split()]
        for lines, box in zip(read, boxes, strict=True)
    ]
    lacking = [sum(_lacks(other, word) for word in own) for own, other in (both, both[::-1])]
    return min(lacking) >= 1 and sum(lacking) >= max(OTHER_WORDS, MOST_THE_SAME * len(both[0] + both[1]))


def _lacks(words: Sequence[str], word: str) -> bool:
    """Return whether none of the words is like another one."""
    return not any(
        same_words(word, one) or SequenceMatcher(None, word, one, autojunk=False).ratio() > ONE_WORD
        for one in words
    )


def holds_what_followed(statement: Statement) -> bool:
    """Return whether a region that is the same in both pictures may contain lines that other changes pushed
    into or out of it.

    The text read there is then not one text before and after.
    """
    down = (statement.values.get("rest") or (0, 0))[1]
    box = statement.box_after
    return statement.box_before == box and box is not None and 2 * abs(down) > box[3] - box[1]


def _sure_texts(read: LinesOfBoth, boxes: tuple[Box, Box]) -> list[str | None]:
    """Return the text of the lines in each picture; None where a letter is uncertain."""
    return [_joined(lines, box, certain) for lines, box in zip(read, boxes, strict=True)]


def _quoted(read: LinesOfBoth, boxes: tuple[Box, Box]) -> dict[str, Any] | None:
    """Return the words that were replaced, before and after, where no letter is uncertain; else None."""
    sure = _sure_texts(read, boxes)
    whole = all(_is_whole(line, box) for lines, box in zip(read, boxes, strict=True) for line in lines)
    quotes = None if None in sure else differing(sure[0] or "", sure[1] or "", whole)
    return None if quotes is None else {"text_before": quotes.before, "text_after": quotes.after}


def _other_case(read: LinesOfBoth, boxes: tuple[Box, Box]) -> dict[str, Any] | None:
    """Return the words of which only a letter became a capital or a small one, before and after; else None.

    Every letter must be certain, and one of the letters must have another shape as a capital.
    """
    before, after = _sure_texts(read, boxes)
    if before is None or after is None:
        before, after = _in_capitals(read, boxes)
    if before is None or after is None or before == after or before.lower() != after.lower():
        return None
    if len(before) != len(after):
        return None  # some capitals have small letters of two characters
    letters = {one.lower() for one, other in zip(before, after, strict=True) if one != other}
    if not letters & UNLIKE_CAPITALS:
        return None
    pairs = [(one, other) for one, other in zip(before.split(), after.split(), strict=True) if one != other]
    was, now = (" ".join(pair[end] for pair in pairs) for end in (0, 1))
    return {"text_before": was, "text_after": now} if len(was) <= LONGEST else None


def _in_capitals(read: LinesOfBoth, boxes: tuple[Box, Box]) -> tuple[str, str] | tuple[None, None]:
    """Return two texts of which only one has no small letters, if several capitals show it; else None twice.

    The letters confirm each other: the readings need not be as certain as where a single letter differs.
    """
    before, after = (_joined(lines, box, handle) or "" for lines, box in zip(read, boxes, strict=True))
    if before.isupper() == after.isupper():
        return None, None
    letters = [one for one, other in zip(before, after, strict=False) if one != other]
    several = len([one for one in letters if one.lower() in UNLIKE_CAPITALS]) >= CAPITALS
    return (before, after) if several else (None, None)


def _around_text(statement: Statement, read: LinesOfBoth, before: str, after: str) -> Statement:
    """Return the statement about a thing with a text and other parts, refined by what happened to the text.

    before, after: the text that was read. If one line has other words, that text is the change, and not the
    size of its surroundings. If the words are the same, no text was rewritten.
    """
    was, now = statement.box_before, statement.box_after
    assert was is not None and now is not None
    if same_words(before, after):
        return _aroundsame_text(statement, was, now) if statement.kind == "rewritten" else statement
    one_line = len(read[0]) == len(read[1]) == 1
    quoted = _quoted(read, (was, now)) if one_line and statement.kind in ("rewritten", "resized") else None
    return statement if quoted is None else _rewritten(statement, quoted)


def _one_side(sure: Sequence[str | None]) -> dict[str, Any]:
    """Return the words of the one picture in which every letter is certain, if it is one only and the words
    are few.
    """
    return {
        name: text
        for name, text, other in zip(("text_before", "text_after"), sure, sure[::-1], strict=True)
        if text and other is None and len(text) <= LONGEST
    }


def _is_whole(line: ReadLine, box: Box) -> bool:
    """Return whether all words of a line are in a box."""
    return len(words_in(line, box)) == len(line.line.words)


def _is_icon(read: ReadLine) -> bool:
    """Return whether a line is an icon: it is short and read with little confidence."""
    return read.line.confidence < ICONS and _is_short(read)


def _is_short(read: ReadLine) -> bool:
    """Return whether a line is no longer than two icons."""
    left, top, right, bottom = read.at.box
    return right - left <= SHORT * (bottom - top)


def _is_text(lines: Sequence[ReadLine], box: Box) -> bool:
    """Return whether the lines fill a box, and are not the text of something larger."""
    return is_text(tuple(line.at.box for line in lines), box)


def _joined(lines: Sequence[ReadLine], box: Box, quote: Any) -> str | None:
    """Return the text of lines in order, as far as they lie in a box; None where a line is not read with
    confidence.

    A short line with hardly a recognised letter is taken for icons, and left out. A long one may be two
    lines of text that touch.
    """
    if any(line.line.confidence < ICONS and not _is_short(line) for line in lines):
        return None
    texts = [quote(line, words_in(line, box)) for line in lines if line.line.confidence >= ICONS]
    return None if None in texts or not texts else " ".join(texts)


def _rewritten(statement: Statement, quoted: dict[str, Any]) -> Statement:
    """Return the statement as one about a rewritten text, whose words were read and differ."""
    values = statement.values if statement.kind == "rewritten" else {"aspect": "text"}
    quoted = {"other_words": True, **quoted}
    element = None if "state" in statement.values else statement.element  # no control whose state changed
    return replace(statement, kind="rewritten", element=element, values={**values, **quoted})


def _aroundsame_text(statement: Statement, was: Box, now: Box) -> Statement:
    """Return the statement about a thing that seemed rewritten, but whose text is the same: another size or
    look.
    """
    wider, taller = now[2] - now[0] - (was[2] - was[0]), now[3] - now[1] - (was[3] - was[1])
    if not wider and not taller:
        return replace(statement, kind="restyled", values={"aspect": "shape"})
    return replace(statement, kind="resized", values={"aspect": "length", "dwidth": wider, "dheight": taller})


def same_text(statement: Statement, read: LinesOfBoth, pictures: tuple[Pixels, Pixels]) -> Statement:
    """Return the statement about a text with the same words: in capitals, recoloured, in another font, moved,
    or only drawn otherwise.
    """
    was, now = (_row(lines) for lines in read)
    _, text_after = _in_capitals(read, (was, now))
    if text_after is not None:
        values: dict[str, Any] = {"aspect": "capitals", "on_after": text_after.isupper()}
        return replace(statement, kind="rewritten", values=values)
    covered = [
        read_coverage(picture[box[1] : box[3], box[0] : box[2]])
        for picture, box in zip(pictures, (was, now), strict=True)
    ]
    first, second = covered
    if first is not None and second is not None:
        lines = read_line(first.ink), read_line(second.ink)
        finding = None
        if lines[0] is not None and lines[1] is not None:
            contrast = second.contrast / max(1, first.contrast)
            finding = type_change(lines[0], lines[1], same_words=True, contrast=contrast)
        same_width = abs(was[2] - was[0] - (now[2] - now[0])) <= SAME_WIDTH
        aspect = None if finding is None else finding.aspect
        other_strokes = aspect == "weight" or (aspect == "face" and not same_width)
        recolored = far(first.color, second.color) > (PALER if other_strokes else SAME_COLOR)
        codes = {"color_before": color_code(first.color), "color_after": color_code(second.color)}
        if recolored and (aspect is None or (aspect not in OTHER_TYPE and same_width)):
            return replace(statement, kind="recolored", values={"aspect": "ink", **codes})
        if finding is not None:
            both = {"aspect": finding.aspect, **finding.values, **(codes if recolored else {})}
            return replace(statement, kind=finding.kind, values=both)
    dx, dy = now[0] - was[0], now[1] - was[1]
    if (dx or dy) and (now[2] - was[2], now[3] - was[3]) == (dx, dy):
        in_front = _changed_in_front(statement, (was, now), pictures)
        if in_front is not None:
            return in_front
        return replace(statement, kind="moved", values={"aspect": "position", "dx": dx, "dy": dy})
    values = {"aspect": "shape", "same_words": True}
    if first is not None and second is not None:
        values |= _slightly_bolder(first, second)
    return replace(statement, kind="restyled", values=values)


def _row(lines: Sequence[ReadLine]) -> Box:
    """Return the box of all lines that stand in the row of the first one: wide spaces may split a line."""
    top, bottom = lines[0].at.box[1], lines[0].at.box[3]
    return union([one.at.box for one in lines if top <= (one.at.box[1] + one.at.box[3]) / 2 < bottom])


def _changed_in_front(
    statement: Statement, lines: tuple[Box, Box], pictures: tuple[Pixels, Pixels]
) -> Statement | None:
    """Return that the text in front of words that moved along their line is another one, if the place begins
    where it began before: a dash that became a hyphen moves the words after it.

    lines: the boxes of the words, before and after.
    """
    first, second = statement.box_before, statement.box_after
    dx = lines[1][0] - lines[0][0]
    if first is None or second is None or lines[0][1] != lines[1][1] or abs(dx) < LEAST_PUSHED:
        return None
    boxes = (first, second)
    rests = [(box[0], line[1], line[0], line[3]) for box, line in zip(boxes, lines, strict=True)]
    if abs(first[0] - second[0]) > 1 or any(rest[2] - rest[0] < IN_FRONT for rest in rests):
        return None
    inks = [ink_box(picture, rest) for picture, rest in zip(pictures, rests, strict=True)]
    if None in inks:
        return None
    was, now = rests
    values = {"aspect": "text", "rest": [dx, 0]}
    return replace(
        statement, kind="rewritten", box_before=was, box_after=now, boxes=(now,), element=None, values=values
    )


def _slightly_bolder(first: Coverage, second: Coverage) -> dict[str, Any]:
    """Return how much more or less ink a text has, where that is visible and too little for bold letters."""
    more = second.area / max(1.0, first.area)
    if max(more, 1 / max(1e-3, more)) < SLIGHTLY:
        return {}
    return {"amount_before": 1.0, "amount_after": round(more, 2)}
