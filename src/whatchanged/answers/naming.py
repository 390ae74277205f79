"""Name the things of measured statements by the text in and beside their boxes.

A thing without a noun can be named by the text in it or beside it. Text names a thing if it is the same in
both pictures, or if every letter of it is certain.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whatchanged.answers.answer import Answer
from whatchanged.answers.beside import (
    Wanted,
    beginning,
    lies_inside,
    moved,
    shift_of,
    words_beside,
)
from whatchanged.answers.holders import is_button
from whatchanged.answers.replaced import is_replacement, with_texts
from whatchanged.answers.rewriting import by_words
from whatchanged.measured import Box, Kind, Statement
from whatchanged.measured.pixels.boxes import area, common
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules import sentences
from whatchanged.measured.rules.sentences import (
    MOST,
    OF_THE_WHOLE,
    Subject,
    known_noun,
    plain_subject,
    reword,
)
from whatchanged.text.around import Around, is_text, lines_around, upright_lines
from whatchanged.text.quotes import ELLIPSIS, certain, handle, same_words, shortened
from whatchanged.text.reader import LineAt, PairReader, ReadLine, words_in

LARGE = 0.6
"""A box that covers at least this fraction of a picture is no thing that text could name."""
MOST_LINES = 6
"""How many lines of a thing are read, at most, in each picture."""
MOST_ALIKE = 12
"""How many alike things have their text read; of a larger group none is read."""
LENGTHY = 2.0
"""A line whose width is at least this multiple of its height is no row of icons."""
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
ONE_SIZE = 3
"""By how many pixels the sides of a moved thing may differ."""
AROUND_TEXT = frozenset(
    {"border", "outline", "border width", "radius", "shadow", "length", "icon", "picture", "filled"}
)
"""Finer words for a change of a thing, and not of the text in it."""

NAMELESS = "Something "
"""The beginning of a sentence about a thing without a name."""

Size = tuple[int, int]


@dataclass
class _Site:
    """A statement with the text lines around it, and the text read from them.

    statement  the statement in its present form
    around     the lines around its box before and after; none where it has none there
    size       width and height of the picture in which it is shown
    read       what the lines in it say, before and after
    """

    statement: Statement
    around: tuple[Around, Around]
    size: Size
    read: tuple[list[ReadLine], list[ReadLine]] = field(default_factory=lambda: ([], []))

    @property
    def side(self) -> int:
        """The picture in which the thing is shown: 1, the one after, unless it is only in the one before."""
        return 0 if self.statement.box_after is None else 1

    @property
    def box(self) -> Box:
        """The thing's box in that picture."""
        box = self.statement.box_after or self.statement.box_before
        assert box is not None
        return box


def with_names(answer: Answer, before: Pixels, after: Pixels) -> Answer:
    """Return the answer with its things named; unchanged where no change is certain, or a model wrote the
    sentence.

    before, after: (H, W, 3), RGB, on white. ``measured`` keeps the statements without names: pairs with the
    same change contain different text. Raises MissingExtra where the recogniser is not installed.
    """
    if answer.description is not None or answer.verdict != "changed" or not answer.changes:
        return answer
    changes = named(answer.changes, before, after)
    if is_replacement(changes[0]):
        changes = (with_texts(changes[0], (before, after)), *changes[1:])
    # "something at the left" says no more than "1 more place differs" does, beside a thing with a name
    told = [
        one
        for one in sentences.worth_telling(changes)
        if one is changes[0] or not one.sentence.startswith(NAMELESS)
    ]
    return replace(answer, changes=changes, sentence=sentences.together(changes, told))


def named(statements: Sequence[Statement], before: Pixels, after: Pixels) -> tuple[Statement, ...]:
    """Return the statements, those of the sentence named by the text that was read.

    before, after: (H, W, 3), RGB. Raises MissingExtra where the recogniser is not installed.
    """
    pictures = (before, after)
    reader = PairReader(pictures)
    sites = [_site(one, pictures) for one in statements[:MOST] if not _is_whole(one)]
    _read_own(sites, reader)
    for site in sites:
        if site.statement.count == 1:
            site.statement = by_words(site.statement, site.read, pictures)
    told_elsewhere = _moved_by_words(sites) if before.shape == after.shape else []
    subjects: list[Subject | None] = [_own_subject(site, pictures) for site in sites]
    nameless = [number for number, subject in enumerate(subjects) if subject is None]
    found = _beside([sites[number] for number in nameless], reader, statements)
    for number, beside in zip(nameless, found, strict=True):
        subjects[number] = beside
    results: list[Statement | None] = list(statements)
    places = [place for place, one in enumerate(statements[:MOST]) if not _is_whole(one)]
    for place, site, subject in zip(places, sites, subjects, strict=True):
        # A thing with a noun from the rules keeps it where no text in it is read.
        was_read = site.statement != statements[place] or (subject is not None and subject.named)
        if subject is not None and (was_read or site.statement.element is None):
            results[place] = reword(_with_words(site, subject), subject, site.size)
        if any(site is one for one in told_elsewhere):
            results[place] = None
    return tuple(one for one in results if one is not None)


def _moved_by_words(sites: Sequence[_Site]) -> list[_Site]:
    """Merge a text that disappeared and the same text, as large, that appeared elsewhere, into one statement:
    it moved.

    Return the sites of the texts that appeared; the merged statements replace them.
    """
    results: list[_Site] = []
    for gone in sites:
        text = _all_words(gone) if gone.statement.kind == "removed" else None
        for came in sites if text else ():
            free = came.statement.kind == "added" and not any(came is one for one in results)
            moved_there = _as_moved(gone.statement, came.statement) if free else None
            if moved_there is not None and _all_words(came) == text:
                gone.statement = moved_there
                gone.read = (gone.read[0], came.read[1])
                gone.around = (gone.around[0], came.around[1])
                gone.size = came.size
                results.append(came)
                break
    return results


def _all_words(site: _Site) -> str | None:
    """Return all words of a text that appeared or disappeared; None where one is uncertain, or the box holds
    more than text.
    """
    if not is_text(tuple(line.at.box for line in site.read[site.side]), site.box):
        return None
    texts = [_quoted(line, site.box, site.statement) for line in site.read[site.side]]
    return None if site.statement.count > 1 or None in texts else " ".join(text or "" for text in texts)


def _as_moved(gone: Statement, came: Statement) -> Statement | None:
    """Return one statement that the thing moved; None where its size differs."""
    was, now = gone.box_before, came.box_after
    assert was is not None and now is not None
    dx, dy = now[0] - was[0], now[1] - was[1]
    if abs(now[2] - was[2] - dx) > ONE_SIZE or abs(now[3] - was[3] - dy) > ONE_SIZE:
        return None
    return replace(
        gone,
        kind="moved",
        box_after=now,
        boxes=(now,),
        share=gone.share + came.share,
        values={"aspect": "position", "dx": dx, "dy": dy},
    )


def _is_whole(statement: Statement) -> bool:
    """Return whether a statement is about the picture as a whole, or about something that follows from
    another change.
    """
    return statement.values.get("aspect") in OF_THE_WHOLE or statement.follows


def _site(statement: Statement, pictures: tuple[Pixels, Pixels]) -> _Site:
    """Return a statement with the text lines around its box in each picture."""
    shown = pictures[statement.box_after is not None]
    site = _Site(statement, (Around(), Around()), (shown.shape[1], shown.shape[0]))
    if not _is_large(site):
        boxes = (statement.box_before, statement.box_after)
        if statement.values.get("by_amount"):  # The text may be in both pictures.
            boxes = (site.box, site.box)
        before, after = (
            Around() if box is None or not lies_inside(box, picture.shape) else lines_around(picture, box)
            for picture, box in zip(pictures, boxes, strict=True)
        )
        site.around = (before, after)
    return site


def _is_large(site: _Site) -> bool:
    return area(site.box) >= LARGE * site.size[0] * site.size[1]


def _read_own(sites: Sequence[_Site], reader: PairReader) -> None:
    """Read the lines in the statements' boxes, those of the first statement first."""
    wanted = [(site, at) for site in sites for at in _own_lines(site, reader)]
    for (site, at), found in zip(wanted, reader.read(at for _, at in wanted), strict=True):
        if found is not None:
            site.read[at.side].append(found)


def _own_lines(site: _Site, reader: PairReader) -> Iterator[LineAt]:
    """Return the lines in a statement's box in both pictures; of several alike things the first line in
    each.
    """
    if site.statement.count > 1:
        if site.statement.count <= MOST_ALIKE:
            yield from _alike_lines(site, reader)
        return
    for side, box in ((1, site.statement.box_after), (0, site.statement.box_before)):
        lines = tuple(line for line in site.around[side].own if not _stays(site, reader, line))[:MOST_LINES]
        lengthy = any(line[2] - line[0] >= LENGTHY * (line[3] - line[1]) for line in lines)
        upright = () if box is None or lengthy else upright_lines(reader.pictures[side], box)
        for line in upright or lines:
            yield LineAt(side, line, bool(upright))


def _stays(site: _Site, reader: PairReader, line: Box) -> bool:
    """Return whether a line in a thing that appeared or disappeared is in both pictures; it is then no name
    of the thing.
    """
    in_both = all(lies_inside(line, picture.shape) for picture in reader.pictures)
    return _came_or_went(site.statement) and in_both and reader.same_pixels(line, (0, 0))


def _alike_lines(site: _Site, reader: PairReader) -> Iterator[LineAt]:
    """Return the first line in each of several alike things, in both pictures where they exist; each line
    once.
    """
    dx, dy = shift_of(site.statement)
    places = [(site.side, box) for box in site.statement.boxes]
    if not _came_or_went(site.statement):
        before = (moved(box, (-dx, -dy)) for box in site.statement.boxes)
        places += [(0, box) for box in before if lies_inside(box, reader.pictures[0].shape)]
    firsts = [
        LineAt(side, beginning(line))
        for side, box in places
        for line in lines_around(reader.pictures[side], box).own[:1]
    ]
    yield from dict.fromkeys(firsts)


def _came_or_went(statement: Statement) -> bool:
    """Return whether a thing is in one picture only, so that its text is the change."""
    return statement.box_before is None or statement.box_after is None


def _own_subject(site: _Site, pictures: tuple[Pixels, Pixels]) -> Subject | None:
    """Return the subject of a statement by the text in its box; None where no text may be quoted."""
    statement = site.statement
    if statement.count > 1:
        return _alike_subject(site)
    found = _own_words(site)
    if found is None:
        return None
    text, several = found
    aspect = str(statement.values.get("aspect", ""))
    noun = known_noun(statement)
    if noun is not None and noun != "text":
        return Subject(noun, text)
    if noun is None and is_button(pictures[site.side], site.box, site.around[site.side].own):
        return Subject("button", text)
    if aspect == "fill" and statement.kind == "recolored":
        return Subject("background", None, f'of "{text}"')
    lines = tuple(line.at.box for line in site.read[site.side] if handle(line) is not None)
    if noun == "text" or (is_text(lines, site.box) and aspect not in AROUND_TEXT):
        return Subject("text", f"{text} {ELLIPSIS}" if several and not text.endswith(ELLIPSIS) else text)
    return Subject("area", None, f'with "{text}"')


def _own_words(site: _Site) -> tuple[str, bool] | None:
    """Return the first quotable words in a thing, and whether it has more lines."""
    statement = site.statement
    if "text_before" in statement.values or "text_after" in statement.values:
        return None  # the words are reported as the change
    came_or_went = _came_or_went(statement)
    others = site.read[1 - site.side]
    lines = site.read[site.side]
    for line in lines:
        text = _quoted(line, site.box, statement)
        # A text that appeared or disappeared is in one picture, all others are in both.
        if text and any(_says(text, other) for other in others) != came_or_went:
            return shortened(text), len(lines) > 1
    return None


def _quoted(line: ReadLine, box: Box, statement: Statement) -> str | None:
    """Return the words of a line in a box, if they may be quoted: text that appeared or disappeared is the
    change.
    """
    within = words_in(line, box)
    return certain(line, within, alone=True) if _came_or_went(statement) else handle(line, within)


def _says(text: str, other: ReadLine) -> bool:
    """Return whether a line has the same text, or contains it."""
    theirs = handle(other)
    return theirs is not None and (same_words(text, theirs) or f" {text} " in f" {theirs} ")


def _alike_subject(site: _Site) -> Subject | None:
    """Return the subject of alike things, by the text in them; None where none may be quoted."""
    statement = site.statement
    known = []
    for line in sorted(site.read[site.side], key=lambda one: (one.at.box[1], one.at.box[0])):
        box = max(statement.boxes, key=lambda box: common(box, line.at.box))
        text = _quoted(line, box, statement)
        if text and (_came_or_went(statement) or any(_says(text, other) for other in site.read[0])):
            known.append(shortened(text))
    if not known:
        return None
    noun, count = statement.element, statement.count
    if len(known) < count:
        words = " and ".join(f'"{text}"' for text in list(dict.fromkeys(known))[:2])
        return Subject(noun or "thing", None, f"with {words} among them", count=count)
    if all(same_words(text, known[0]) for text in known):
        return Subject(noun or "text", known[0], count=count)
    joined = f'"{known[0]}" and "{known[1]}"' if count == 2 else f'from "{known[0]}" to "{known[-1]}"'
    return Subject(noun or "text", None, joined, count=count)


def _beside(sites: Sequence[_Site], reader: PairReader, statements: Sequence[Statement]) -> list[Subject]:
    """Return the subjects of things without text of their own, by the text beside them.

    Of several alike things, only the first and the last are examined.
    """
    wanted: list[Wanted] = []
    for site in sites:
        shift = shift_of(site.statement)
        if site.statement.count == 1:
            wanted.append(Wanted(site.side, site.around[site.side].beside, shift))
            wanted.append(Wanted(site.side, ()))
            continue
        boxes = sorted(site.statement.boxes, key=lambda box: (box[1], box[0]))
        for box in (boxes[0], boxes[-1]):
            wanted.append(Wanted(site.side, lines_around(reader.pictures[site.side], box).beside, shift))
    found = words_beside(wanted, reader, statements)
    return [
        _nameless_subject(site, found[2 * number], found[2 * number + 1]) for number, site in enumerate(sites)
    ]


def _nameless_subject(site: _Site, first: tuple[str, str] | None, last: tuple[str, str] | None) -> Subject:
    """Return the subject of a thing without text of its own.

    first, last: the text beside it, or beside the first and the last of several things.
    """
    statement = site.statement
    plain = plain_subject(statement, site.size)
    if _is_large(site) and statement.count == 1:
        noun = _OF_LARGE.get((statement.kind, statement.values.get("aspect") == "fill"))
        return plain if noun is None else Subject(noun, None, "of the picture")
    noun = plain.noun or ("text" if _is_legible(site) and not _is_large_icon(site.box) else _shape(site))
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


_OF_LARGE: Mapping[tuple[Kind | None, bool], str] = {
    ("moved", False): "content",
    ("resized", False): "content",
    ("recolored", True): "background",
}
"""What property of a region changed, by the kind of change and whether the region is a fill."""


def _is_legible(site: _Site) -> bool:
    """Return whether a thing contains text, quotable or not."""
    lines = tuple(line.at.box for line in site.read[site.side] if handle(line) is not None)
    return is_text(lines, site.box)


def _is_large_icon(box: Box) -> bool:
    """Return whether a thing is about as wide as high, and too high for one or two letters.

    Letters that are read in it may be a ring, or belong to something beside it.
    """
    short, long = sorted((box[2] - box[0], box[3] - box[1]))
    return short >= LARGE_ICON and long <= ICON[2] * short


def _shape(site: _Site) -> str | None:
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
    shares = (width / site.size[0], height / site.size[1])
    return "band" if max(shares) >= BAND[0] and min(shares) <= BAND[1] else None


def _with_words(site: _Site, subject: Subject) -> Statement:
    """Return the statement with the read text among its values, as far as the text may be quoted."""
    statement = site.statement
    values: dict[str, Any] = {}
    read = " ".join(
        text for text in (_quoted(line, site.box, statement) for line in site.read[site.side]) if text
    )
    if subject.named and read and "text_before" not in statement.values:
        values["words"] = read if statement.count == 1 else subject.words or read
    if subject.beside is not None:
        values["beside"] = subject.beside
    return replace(statement, values={**statement.values, **values}) if values else statement
