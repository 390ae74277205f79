"""Build the subject of a statement from the text in its box or beside it, and from the shape of the box."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from whatchanged.answers.holders import is_button
from whatchanged.answers.sites import TextSite, came_or_went, is_large, is_legible, quoted
from whatchanged.measured import Box, Kind, Statement
from whatchanged.measured.amounts.content import read_content
from whatchanged.measured.pixels.boxes import area, common
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules.predicates import is_exact
from whatchanged.measured.rules.sentences import Subject, known_noun, plain_subject
from whatchanged.text.around import is_text
from whatchanged.text.quotes import ELLIPSIS, LEGIBLE, certain, handle, same_words, shortened
from whatchanged.text.reader import ReadLine, words_in
from whatchanged.words import OVER_ALL

ICON = (8, 40, 1.6)
"""The side of an icon in pixels, at least and at most, and the largest ratio of its sides."""
LARGE_ICON = 20
"""The least side in pixels of something that is more than a single letter."""
THIN = (4, 8)
"""A thin line: its largest width in pixels, and its least ratio of length to width."""
BAND = (0.7, 0.25)
"""A band across or down the picture: its least length and its largest breadth, as fractions of the picture's
sides.
"""
WORD_GAP = 1.0
"""The largest gap between two parts of one line of text, in heights of the line."""
AROUND_TEXT = frozenset(
    {
        "border",
        "outline",
        "border width",
        "radius",
        "shadow",
        "length",
        "icon",
        "picture",
        "filled",
        "surface",
    }
)
"""Finer words for a change of a thing, and not of the text in it."""
CLOSED_LINES = ("ellipse", "frame", "ring")
"""Nouns of lines around other things: the text in them is not their own."""


def own_subject(site: TextSite, pictures: tuple[Pixels, Pixels]) -> Subject | None:
    """Return the subject of a statement by the text in its box; None where no text may be quoted."""
    statement = site.statement
    if statement.count > 1:
        return _alike_subject(site)
    if statement.values.get("aspect") == "wrap":
        return Subject("text", str(statement.values["words"]))
    found = _own_words(site)
    if found is None:
        return None
    text, several = found
    aspect = str(statement.values.get("aspect", ""))
    noun = known_noun(statement)
    if noun is not None and noun.split()[-1] in CLOSED_LINES:
        return Subject(noun, None, f'around "{text}"')
    if noun == "plot":
        return None  # Its first line is seldom its title.
    if noun is not None and noun != "text":
        return Subject(noun, text)
    if noun is None and _is_button(site, pictures):
        return Subject("button", text)
    if aspect == "fill" and statement.kind == "recolored":
        return Subject("background", None, f'of "{text}"')
    lines = tuple(line.at.box for line in site.own_lines if handle(line) is not None)
    if noun == "text" or (is_text(lines, site.box) and aspect not in AROUND_TEXT):
        return Subject("text", f"{text} {ELLIPSIS}" if several and not text.endswith(ELLIPSIS) else text)
    return Subject("area", None, f'with "{text}"')


def _is_button(site: TextSite, pictures: tuple[Pixels, Pixels]) -> bool:
    """Return whether a thing is a button. A thing that took another fill may be one in either picture."""
    sides = (0, 1) if site.statement.values.get("aspect") == "surface" else (site.side,)
    return any(is_button(pictures[side], site.box, site.around[side].own) for side in sides)


def _own_words(site: TextSite) -> tuple[str, bool] | None:
    """Return the first quotable words in a thing, and whether it has more lines."""
    statement = site.statement
    if "text_before" in statement.values or "text_after" in statement.values:
        return None  # the words are reported as the change
    in_one_only = came_or_went(statement)
    is_fill = (statement.kind, statement.values.get("aspect")) == ("recolored", "fill")
    others = site.read[1 - site.side]
    lines = _longest_first(site.own_lines)
    for number, line in enumerate(lines):
        text = quoted(line, site.box, statement)
        # A text that appeared or disappeared is in one picture, all others are in both. On its former fill, a
        # text may have been invisible.
        unseen = is_fill and not any(map(handle, others)) and certain(line, words_in(line, site.box))
        if text and (unseen or any(_says(text, other) for other in others) != in_one_only):
            more = _going_on(site, lines[number:]) if in_one_only else []
            return shortened(" ".join([text, *more])), len(lines) > 1 + len(more)
    if statement.kind == "moved" and is_exact(statement.kind, statement.values):
        return _words_of_moved(site)
    return None


def _longest_first(lines: Sequence[ReadLine]) -> Sequence[ReadLine]:
    """Return lines in reading order, but the longest one of the first row before a short one that stands
    apart, such as a logo or a number in front of it."""
    boxes = [one.at.box for one in lines]
    row = [k for k, box in enumerate(boxes) if box[1] <= (boxes[0][1] + boxes[0][3]) // 2 < box[3]]
    if len(row) < 2:
        return lines
    first, second = boxes[row[0]], boxes[row[1]]
    longest = max(row, key=lambda k: boxes[k][2] - boxes[k][0])
    apart = second[0] - first[2] > WORD_GAP * (first[3] - first[1])
    if not apart or 2 * (first[2] - first[0]) > boxes[longest][2] - boxes[longest][0]:
        return lines
    return [*lines[longest:], *lines[:longest]]


def _going_on(site: TextSite, lines: Sequence[ReadLine]) -> list[str]:
    """Return the text of the lines with which the first one goes on, after spaces wider than usual."""
    texts: list[str] = []
    for (_, top, end, bottom), line in zip((one.at.box for one in lines), lines[1:], strict=False):
        text = quoted(line, site.box, site.statement)
        left, middle = line.at.box[0], (line.at.box[1] + line.at.box[3]) // 2
        if not text or not top <= middle < bottom or not end <= left < end + WORD_GAP * (bottom - top):
            break
        texts.append(text)
    return texts


def _words_of_moved(site: TextSite) -> tuple[str, bool] | None:
    """Return the words of a thing that moved unchanged, which need to be read in one of the pictures only: in
    the other one it may stand too close to something else.
    """
    for side, box in ((1, site.statement.box_after), (0, site.statement.box_before)):
        lines = site.read[side]
        for line in lines:
            text = None if box is None else certain(line, words_in(line, box, mostly=True), alone=True)
            if text and sum(sign.isalnum() for sign in text) > 1:
                return shortened(text), len(lines) > 1
    return None


def _says(text: str, other: ReadLine) -> bool:
    """Return whether a line has the same text, or contains it."""
    theirs = handle(other)
    return theirs is not None and (same_words(text, theirs) or f" {text} " in f" {theirs} ")


def _alike_subject(site: TextSite) -> Subject | None:
    """Return the subject of alike things, by the text in them; None where none may be quoted."""
    statement = site.statement
    if "text_before" in statement.values:
        return None  # The words are reported as the change.
    # What changed places was compared; it stands elsewhere in the other picture.
    in_both = statement.values.get("aspect") in ("order", "another order")
    known = []
    noun, all_text = statement.element, True
    for line in sorted(site.read[site.side], key=lambda one: (one.at.box[1], one.at.box[0])):
        box = max(statement.boxes, key=lambda box: common(box, line.at.box))
        text = quoted(line, box, statement)
        if text and (came_or_went(statement) or in_both or any(_says(text, other) for other in site.read[0])):
            known.append(shortened(text))
            all_text = all_text and is_text((line.at.box,), box)
    if not known:
        return None
    count = statement.count
    if len(known) < count:
        words = " and ".join(f'"{text}"' for text in list(dict.fromkeys(known))[:2])
        return Subject(noun or "thing", None, f"with {words} among them", count=count)
    # Of things in one picture only, the words are certain: a sign more is another number.
    alike = all(
        (text == known[0] if came_or_went(statement) else same_words(text, known[0])) for text in known
    )
    joined = f'"{known[0]}" and "{known[1]}"' if count == 2 else f'from "{known[0]}" to "{known[-1]}"'
    aspect = statement.values.get("aspect")
    if noun is None and (aspect in AROUND_TEXT or (aspect == "ink" and not all_text)):
        told = f'"{known[0]}"' if alike else joined
        return Subject("area", None, f"with {told}" if alike or count == 2 else told, count=count)
    text, beside = (known[0], None) if alike else (None, joined)
    return Subject(noun or "text", text, beside, count=count)


def nameless_subject(
    site: TextSite,
    first: tuple[str, str] | None,
    last: tuple[str, str] | None,
    pictures: tuple[Pixels, Pixels],
) -> Subject:
    """Return the subject of a thing without text of its own.

    first, last: the text beside it, or beside the first and the last of several things.
    """
    statement = site.statement
    plain = plain_subject(statement, site.size)
    if is_large(site) and statement.count == 1 and statement.element is None:
        noun = _OF_LARGE.get((statement.kind, statement.values.get("aspect") == "fill"))
        if noun is None:
            new = statement.kind in ("added", "removed") and not statement.values.get("by_amount")
            return plain if new or plain.noun or _is_drawn(statement) else Subject("picture")
        if statement.kind == "resized" and _grew_as(pictures, statement):
            return Subject("picture", position=OVER_ALL)
        return Subject(noun, None, "of the picture")
    if plain.position == OVER_ALL and not plain.noun and _says_how(statement):
        return Subject("picture")
    noun = plain.noun
    if noun is None or (noun == "text" and statement.element is None and not _has_letters(site, pictures)):
        noun = "text" if is_legible(site) and not _is_large_icon(site.box) else _shape(site)
    if first is None or (plain.count > 1 and last is None):
        return replace(plain, noun=noun)
    relation, text = first
    told = f'{relation} "{text}"'
    if plain.count > 1 and last is not None and last != first:
        joint = "and" if plain.count == 2 else "to"
        told = (
            f'{told} {joint} "{last[1]}"' if last[0] == relation else f'{told} {joint} {last[0]} "{last[1]}"'
        )
    return replace(plain, noun=noun, beside=told)


def _grew_as(pictures: tuple[Pixels, Pixels], statement: Statement) -> bool:
    """Return whether the picture grew or shrank by as much as a thing that fills it."""
    (height, width), (taller, wider) = (picture.shape[:2] for picture in pictures)
    growth = {"dx": wider - width, "dy": taller - height}
    steps = {name: statement.values.get(name, 0) for name in growth}
    return steps == growth and any(growth.values())


def _has_letters(site: TextSite, pictures: tuple[Pixels, Pixels]) -> bool:
    """Return whether a thing shows text in one of the pictures: words that were read, or a line of letters
    that were not. An arrow or a cross shows none.
    """
    words = [word for lines in site.read for line in lines for word in line.line.words]
    text = "".join(word.text for word in words if word.certainty >= LEGIBLE)
    if text.isdigit() or sum(sign.isalnum() for sign in text) >= 2:
        return True
    ends = zip(pictures, (site.statement.box_before, site.statement.box_after), strict=True)
    contents = [read_content(picture, box) for picture, box in ends if box is not None]
    return any(one is not None and one.element is not None for one in contents)


_OF_LARGE: Mapping[tuple[Kind | None, bool], str] = {
    ("moved", False): "content",
    ("resized", False): "content",
    ("recolored", True): "background",
}
"""What property of a region changed, by the kind of change and whether the region is a fill."""


def _says_how(statement: Statement) -> bool:
    """Return whether a statement about one place says how the place looks, and not that it was added."""
    restyled = statement.kind == "restyled" or statement.values.get("aspect") in ("contrast", "opacity")
    return restyled and statement.count == 1


def _is_drawn(statement: Statement) -> bool:
    """Return whether a statement is about what is drawn in a place, and not about the place."""
    return statement.kind == "recolored" and statement.values.get("aspect") in ("ink", "palette", "border")


def _is_large_icon(box: Box) -> bool:
    """Return whether a thing is about as wide as high, and too high for one or two letters.

    Letters that are read in it may be a ring, or belong to something beside it.
    """
    short, long = sorted((box[2] - box[0], box[3] - box[1]))
    return short >= LARGE_ICON and long <= ICON[2] * short


def _shape(site: TextSite) -> str | None:
    """Return a noun for a thing without text, by its shape; None where the shape is not distinctive.

    Of several alike things the largest one tells.
    """
    box = site.box if site.statement.count == 1 else max(site.statement.boxes, key=area)
    aspect = site.statement.values.get("aspect")
    width, height = box[2] - box[0], box[3] - box[1]
    short, long = sorted((width, height))
    if aspect == "fill":
        return "area"
    if short <= THIN[0] and long >= THIN[1] * short:
        return "line"
    if aspect == "icon" or (short >= ICON[0] and long <= min(ICON[1], ICON[2] * short)):
        return "icon"
    if site.statement.count > 1:
        return None  # Several long things are seldom bands: columns of text, bars of a plot, tiles.
    shares = (width / site.size[0], height / site.size[1])
    return "band" if max(shares) >= BAND[0] and min(shares) <= BAND[1] else None
