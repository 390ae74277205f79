"""Whether a text was rewritten, decided by what was read before and after."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from whatchanged.measured import Box, Statement
from whatchanged.measured.amounts.coverage import Coverage, read_coverage
from whatchanged.measured.amounts.type import read_line, type_change
from whatchanged.measured.pixels.layers import far
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.text.around import is_text
from whatchanged.text.quotes import LONGEST, certain, differing, handle, same_words
from whatchanged.text.reader import ReadLine, words_in
from whatchanged.words import color_code

KINDS = ("rewritten", "restyled", "replaced", "recolored", "resized")
"""Kinds of what may be a text that was rewritten."""
UNCLEAR = ("shape", "part", "text")
"""Finer words of what is not told further: what of a text that says the same changed is looked for."""
UNLIKE = 0.75
"""Two readings that are less alike are of two texts, even if a letter of each may be wrong."""
ICONS = 0.6
"""Confidence of a line of letters at least."""
SHORT = 2.5
"""How many times as long as high an icon, or two of them, may be."""
SAME_COLOR = 24
"""Levels by which the colour of a text may differ from itself."""
SLIGHTLY = 1.08
"""How much more ink a text has at least that looks slightly bolder."""
LinesOfBoth = tuple[list[ReadLine], list[ReadLine]]
"""The lines of a thing, before and after."""


def by_words(statement: Statement, read: LinesOfBoth, pictures: tuple[Pixels, Pixels]) -> Statement:
    """The statement, rewritten where other words were read before than after, and else not.

    Where the words are told beyond doubt they stand in its values, ``text_before`` and ``text_after``.
    """
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
    if same_words(before, after):
        aspect = statement.values.get("aspect")
        unmeasured = aspect == "weight" and "amount_before" not in statement.values
        unclear = statement.kind == "rewritten" or aspect in UNCLEAR or unmeasured
        return _same_text(statement, read, pictures) if unclear else statement
    sure = _sure_texts(read, boxes)
    quoted = _quoted(read, boxes)
    # where one text is the beginning of the other, the rest may stand in a line beside the place
    begins_alike = before.startswith(after) or after.startswith(before)
    if _holds_what_followed(statement):
        return _rewritten(statement, {}) if quoted is not None and not begins_alike else statement
    if quoted is not None:
        return _rewritten(statement, quoted)
    if not begins_alike and SequenceMatcher(None, before, after, autojunk=False).ratio() < UNLIKE:
        return _rewritten(statement, _one_side(sure))
    return statement


def _holds_what_followed(statement: Statement) -> bool:
    """Whether a place that is the same in both pictures may hold lines that were pushed into it or out of it,
    so that what is read there is not one text before and after."""
    down = (statement.values.get("rest") or (0, 0))[1]
    box = statement.box_after
    return statement.box_before == box and box is not None and 2 * abs(down) > box[3] - box[1]


def _sure_texts(read: LinesOfBoth, boxes: tuple[Box, Box]) -> list[str | None]:
    """What the lines in each picture say; None where a letter is in doubt."""
    return [_joined(lines, box, certain) for lines, box in zip(read, boxes, strict=True)]


def _quoted(read: LinesOfBoth, boxes: tuple[Box, Box]) -> dict[str, Any] | None:
    """The words that went and came, where no letter is in doubt; else None."""
    sure = _sure_texts(read, boxes)
    whole = all(_is_whole(line, box) for lines, box in zip(read, boxes, strict=True) for line in lines)
    quotes = None if None in sure else differing(sure[0] or "", sure[1] or "", whole)
    return None if quotes is None else {"text_before": quotes.before, "text_after": quotes.after}


def _around_text(statement: Statement, read: LinesOfBoth, before: str, after: str) -> Statement:
    """The statement about a thing that holds a text beside other things, as the text tells what became of it.

    before, after: what was read. One line of other words is what changed, and not the size of what is around
    it; where the words are the same, no text was rewritten.
    """
    was, now = statement.box_before, statement.box_after
    assert was is not None and now is not None
    if same_words(before, after):
        return _around_same_text(statement, was, now) if statement.kind == "rewritten" else statement
    one_line = len(read[0]) == len(read[1]) == 1
    quoted = _quoted(read, (was, now)) if one_line and statement.kind in ("rewritten", "resized") else None
    return statement if quoted is None else _rewritten(statement, quoted)


def _one_side(sure: Sequence[str | None]) -> dict[str, Any]:
    """The words of the one picture in which no letter is in doubt, where it is one alone and they are few."""
    return {
        name: text
        for name, text, other in zip(("text_before", "text_after"), sure, sure[::-1], strict=True)
        if text and other is None and len(text) <= LONGEST
    }


def _is_whole(line: ReadLine, box: Box) -> bool:
    """Whether all words of a line stand in a box."""
    return len(words_in(line, box)) == len(line.line.words)


def _is_icon(read: ReadLine) -> bool:
    """Whether a line is so short, and read so badly, that it is none."""
    left, top, right, bottom = read.at.box
    return read.line.confidence < ICONS and right - left <= SHORT * (bottom - top)


def _is_text(lines: Sequence[ReadLine], box: Box) -> bool:
    """Whether the lines are all that a box holds, and not the words of something larger."""
    return is_text(tuple(line.at.box for line in lines), box)


def _joined(lines: Sequence[ReadLine], box: Box, quote: Any) -> str | None:
    """What lines say one after the other, as far as they lie in a box; None where one is not read well.

    A line of which hardly a letter is read is taken for icons, and left out.
    """
    texts = [quote(line, words_in(line, box)) for line in lines if line.line.confidence >= ICONS]
    return None if None in texts or not texts else " ".join(texts)


def _rewritten(statement: Statement, quoted: dict[str, Any]) -> Statement:
    """The statement as one about a text that was rewritten, as its words tell."""
    values = statement.values if statement.kind == "rewritten" else {"aspect": "text"}
    quoted = {"other_words": True, **quoted}
    element = None if "state" in statement.values else statement.element  # no control whose state changed
    return replace(statement, kind="rewritten", element=element, values={**values, **quoted})


def _around_same_text(statement: Statement, was: Box, now: Box) -> Statement:
    """A thing that was taken for a rewritten text, and holds one that says the same: another size or look."""
    wider, taller = now[2] - now[0] - (was[2] - was[0]), now[3] - now[1] - (was[3] - was[1])
    if not wider and not taller:
        return replace(statement, kind="restyled", values={"aspect": "shape"})
    return replace(statement, kind="resized", values={"aspect": "length", "dwidth": wider, "dheight": taller})


def _same_text(statement: Statement, read: LinesOfBoth, pictures: tuple[Pixels, Pixels]) -> Statement:
    """A text that says the same as before: recoloured, in another type, moved, or only drawn otherwise."""
    (one, *_), (other, *_) = read
    was, now = one.at.box, other.at.box
    covered = [
        read_coverage(picture[box[1] : box[3], box[0] : box[2]])
        for picture, box in zip(pictures, (was, now), strict=True)
    ]
    first, second = covered
    if first is not None and second is not None:
        if far(first.color, second.color) > SAME_COLOR:
            codes = {"color_before": color_code(first.color), "color_after": color_code(second.color)}
            return replace(statement, kind="recolored", values={"aspect": "ink", **codes})
        lines = read_line(first.ink), read_line(second.ink)
        if lines[0] is not None and lines[1] is not None:
            finding = type_change(lines[0], lines[1], same_words=True)
            if finding is not None:
                return replace(
                    statement, kind=finding.kind, values={"aspect": finding.aspect, **finding.values}
                )
    dx, dy = now[0] - was[0], now[1] - was[1]
    if (dx or dy) and (now[2] - was[2], now[3] - was[3]) == (dx, dy):
        return replace(statement, kind="moved", values={"aspect": "position", "dx": dx, "dy": dy})
    values: dict[str, Any] = {"aspect": "shape", "same_words": True}
    if first is not None and second is not None:
        values |= _slightly_bolder(first, second)
    return replace(statement, kind="restyled", values=values)


def _slightly_bolder(first: Coverage, second: Coverage) -> dict[str, Any]:
    """How much more or less ink a text has, where that shows and is too little for bold letters."""
    more = second.area / max(1.0, first.area)
    if max(more, 1 / max(1e-3, more)) < SLIGHTLY:
        return {}
    return {"amount_before": 1.0, "amount_after": round(more, 2)}
