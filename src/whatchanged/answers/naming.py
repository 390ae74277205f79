"""Name the things of measured statements by the text in and beside their boxes.

A thing without a noun can be named by the text in it or beside it. Text names a thing if it is the same in
both pictures, or if every letter of it is certain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from whatchanged.answers.answer import Answer
from whatchanged.answers.axes import with_axis, without_axis
from whatchanged.answers.beside import (
    Wanted,
    beginning,
    lies_inside,
    moved,
    shift_of,
    words_beside,
)
from whatchanged.answers.drawn_thicker import with_thickness
from whatchanged.answers.elsewhere import all_still_there, still_there, without_old_text
from whatchanged.answers.highlights import ASPECT, with_items
from whatchanged.answers.line_by_line import by_lines, by_lines_of_all, is_unclear
from whatchanged.answers.line_ends import end_words
from whatchanged.answers.paragraphs import rewrapped
from whatchanged.answers.pushed import texts_before_pushed
from whatchanged.answers.replaced import with_texts
from whatchanged.answers.retyped import in_other_type
from whatchanged.answers.rewriting import by_words
from whatchanged.answers.sites import TextSite, came_or_went, is_large, quoted
from whatchanged.answers.subjects import AROUND_TEXT, nameless_subject, own_subject
from whatchanged.answers.wrapping import wrapped_elsewhere
from whatchanged.measured import Box, Statement
from whatchanged.measured.pixels.boxes import common
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.rules import sentences
from whatchanged.measured.rules.described import worth_telling
from whatchanged.measured.rules.sentences import (
    MOST,
    OF_THE_WHOLE,
    Subject,
    is_mostly,
    reword,
)
from whatchanged.text.around import (
    LENGTHY,
    Around,
    BesideLine,
    far_lines,
    first_words,
    is_text,
    lines_around,
    upright_lines,
)
from whatchanged.text.reader import LineAt, PairReader

MOST_LINES = 6
"""How many lines of a thing are read, at most, in each picture."""
MOST_ALIKE = 12
"""How many alike things have their text read; of a larger group none is read."""
ONE_SIZE = 3
"""By how many pixels the sides of a moved thing may differ."""
NAMELESS = "Something "
"""The beginning of a sentence about a thing without a name."""


def with_names(answer: Answer, before: Pixels, after: Pixels) -> Answer:
    """Return the answer with its things named; unchanged where no change is certain, or a model wrote the
    sentence.

    before, after: (H, W, 3), RGB, on white. ``measured`` keeps the statements without names: pairs with the
    same change contain different text. Raises MissingExtra where the recogniser is not installed.
    """
    if answer.description is not None or answer.verdict != "changed" or not answer.changes:
        return answer
    of_plot = with_thickness(with_axis(answer.changes, (before, after)), (before, after))
    if of_plot is not answer.changes:
        return replace(answer, changes=tuple(of_plot), sentence=of_plot[0].sentence)
    changes = named(answer.changes, before, after)
    if is_mostly(changes[0]):
        changes = (with_texts(changes[0], (before, after)), *changes[1:])
    # "something at the left" says no more than "1 more place differs" does, beside a thing with a name
    told = [
        one for one in worth_telling(changes) if one is changes[0] or not one.sentence.startswith(NAMELESS)
    ]
    return replace(answer, changes=changes, sentence=sentences.together(changes, told))


def named(statements: Sequence[Statement], before: Pixels, after: Pixels) -> tuple[Statement, ...]:
    """Return the statements, those of the sentence named by the text that was read.

    before, after: (H, W, 3), RGB. Raises MissingExtra where the recogniser is not installed.
    """
    pictures = (before, after)
    reader = PairReader(pictures)
    statements = [with_items(one, reader) for one in rewrapped(statements, reader)]
    sites = [_site(one, pictures) for one in statements[:MOST] if not _needs_no_name(one)]
    _read_own(sites, reader)
    for site in sites:
        site.statement = without_axis(site.statement, site.own_lines)
        site.statement = in_other_type(site.statement, site.read, pictures)
        if site.statement.count == 1:
            _apply_reading(site, pictures)
        else:
            site.statement = by_lines_of_all(site.statement, site.read, pictures)
        if site.statement.count == 1 and is_large(site) and is_unclear(site.statement):
            site.read = ([], [])  # The line at the top of a picture is no name of it.
    for site in sites:
        _look_around_again(site, pictures)
    told_elsewhere = _moved_by_words(sites) if before.shape == after.shape else []
    for site in sites:
        if not any(site is one for one in told_elsewhere):
            wrapped_elsewhere(site, reader)
            still_there(site, reader)
            all_still_there(site, sites, reader)
            without_old_text(site, reader)
    if sites and sites[0].statement.count == 1 and is_unclear(sites[0].statement):
        first = rewrapped(statements, reader, few_too=True)[0]
        if first.values.get("aspect") == "wrap":
            sites[0].statement = first
    subjects: list[Subject | None] = [own_subject(site, pictures) for site in sites]
    nameless = [number for number, subject in enumerate(subjects) if subject is None]
    told = [*(site.statement for site in sites), *statements]
    found = _beside([sites[number] for number in nameless], reader, told)
    for number, beside in zip(nameless, found, strict=True):
        subjects[number] = beside
    results: list[Statement | None] = list(statements)
    places = [place for place, one in enumerate(statements[:MOST]) if not _needs_no_name(one)]
    for place, site, subject in zip(places, sites, subjects, strict=True):
        # A thing with a noun from the rules keeps it where no text in it is read.
        was_read = site.statement != statements[place] or (subject is not None and subject.named)
        if subject is not None and (was_read or site.statement.element is None):
            results[place] = reword(_with_words(site, subject), subject, site.size)
        if any(site is one for one in told_elsewhere):
            results[place] = None
    return texts_before_pushed([one for one in results if one is not None])


def _apply_reading(site: TextSite, pictures: tuple[Pixels, Pixels]) -> None:
    """Change the statement of a site, in place, by what the text in it says of the change."""
    # Only single lines tell of a large place: others in it are not read.
    told = site.statement if is_large(site) else by_words(site.statement, site.read, pictures)
    told = by_lines(told, site.read, pictures)
    if came_or_went(told) and not came_or_went(site.statement):
        here = told.boxes[0]  # The other lines stayed.
        before, after = ([one for one in side if common(one.at.box, here)] for side in site.read)
        site.read = (before, after)
    site.statement = told


def _look_around_again(site: TextSite, pictures: tuple[Pixels, Pixels]) -> None:
    """Find the lines around a text anew, in place, if only a part of its line turned out to be another."""
    statement, lines = site.statement, site.read[site.side]
    if statement.kind != "rewritten" or not is_unclear(statement) or not lines:
        return
    if any(common(line.at.box, site.box) for line in lines):
        return
    boxes = (statement.box_before or site.box, statement.box_after or site.box)
    around = [lines_around(picture, box) for picture, box in zip(pictures, boxes, strict=True)]
    site.around, site.read = (around[0], around[1]), ([], [])


def _moved_by_words(sites: Sequence[TextSite]) -> list[TextSite]:
    """Merge a text that disappeared and the same text, as large, that appeared elsewhere, into one statement:
    it moved.

    Return the sites of the texts that appeared; the merged statements replace them.
    """
    results = _wrapped(sites)
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


def _wrapped(sites: Sequence[TextSite]) -> list[TextSite]:
    """Merge words that a line lost at an end, and the same words that another line gained, into one
    statement: they moved, because the text wraps elsewhere.

    Return the sites that have no statement of their own any more.
    """
    results: list[TextSite] = []
    for site in sites:
        found = end_words(site.statement, site.read)
        kind = None if found is None else ("removed", "added")[1 - found.side]
        for other in sites if found is not None else ():
            if found is None or other.statement.kind != kind or _all_words(other) != found.text:
                continue
            ends = (found.box, other.box) if found.side == 0 else (other.box, found.box)
            values = {"aspect": "position", "dx": ends[1][0] - ends[0][0], "dy": ends[1][1] - ends[0][1]}
            moved_there = replace(
                site.statement,
                kind="moved",
                box_before=ends[0],
                box_after=ends[1],
                boxes=(ends[1],),
                values=values,
            )
            site.statement = moved_there
            pairs = (site, other) if found.side == 0 else (other, site)
            site.read = (pairs[0].read[0], pairs[1].read[1])
            site.around = (pairs[0].around[0], pairs[1].around[1])
            results.append(other)
            break
    return results


def _all_words(site: TextSite) -> str | None:
    """Return all words of a text that appeared or disappeared; None where one is uncertain, or the box holds
    more than text.
    """
    if not is_text(tuple(line.at.box for line in site.read[site.side]), site.box):
        return None
    texts = [quoted(line, site.box, site.statement) for line in site.read[site.side]]
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


def _needs_no_name(statement: Statement) -> bool:
    """Return whether a statement needs no name: it is about the picture as a whole, it follows from another
    change, its items are named, or it is about the grid or the lines of a plot.
    """
    in_plot = statement.element == "grid" or (statement.element, statement.kind) == ("line", "restyled")
    named_already = "item_after" in statement.values or in_plot
    return statement.values.get("aspect") in OF_THE_WHOLE or statement.follows or named_already


def _site(statement: Statement, pictures: tuple[Pixels, Pixels]) -> TextSite:
    """Return a statement with the text lines around its box in each picture."""
    shown = pictures[statement.box_after is not None]
    site = TextSite(statement, (Around(), Around()), (shown.shape[1], shown.shape[0]))
    if not is_mostly(statement) and (is_unclear(statement) or not is_large(site)):
        boxes = (statement.box_before, statement.box_after)
        if statement.values.get("by_amount"):  # The text may be in both pictures.
            boxes = (site.box, site.box)
        before, after = (
            Around() if box is None or not lies_inside(box, picture.shape) else lines_around(picture, box)
            for picture, box in zip(pictures, boxes, strict=True)
        )
        site.around = (before, after)
    return site


def _read_own(sites: Sequence[TextSite], reader: PairReader) -> None:
    """Read the lines in the statements' boxes, those of the first statement first."""
    wanted = [(site, at) for site in sites for at in _own_lines(site, reader)]
    for (site, at), found in zip(wanted, reader.read(at for _, at in wanted), strict=True):
        if found is not None:
            site.read[at.side].append(found)


def _own_lines(site: TextSite, reader: PairReader) -> Iterator[LineAt]:
    """Return the lines in a statement's box in both pictures; of several alike things the first line in
    each.
    """
    if site.statement.count > 1:
        if site.statement.count <= MOST_ALIKE:
            yield from _alike_lines(site, reader)
        return
    if site.statement.values.get("aspect") == ASPECT:
        return  # Its boxes are two items with different text.
    for side, box in ((1, site.statement.box_after), (0, site.statement.box_before)):
        lines = tuple(line for line in site.around[side].own if not _stays(site, reader, line))[:MOST_LINES]
        lengthy = any(line[2] - line[0] >= LENGTHY * (line[3] - line[1]) for line in lines)
        upright = () if box is None or lengthy else upright_lines(reader.pictures[side], box)
        for line in upright or lines:
            yield LineAt(side, line, bool(upright))


def _stays(site: TextSite, reader: PairReader, line: Box) -> bool:
    """Return whether a line in a thing that appeared or disappeared is in both pictures; it is then no name
    of the thing.
    """
    in_both = all(lies_inside(line, picture.shape) for picture in reader.pictures)
    return came_or_went(site.statement) and in_both and reader.same_pixels(line, (0, 0))


def _alike_lines(site: TextSite, reader: PairReader) -> Iterator[LineAt]:
    """Return the first line in each of several alike things, in both pictures where they exist; each line
    once.
    """
    statement = site.statement
    shift = shift_of(statement)
    back = (-shift[0], -shift[1])
    stays = str(statement.values.get("aspect")) in AROUND_TEXT  # Other text that stays is no name.
    firsts = []
    for box in statement.boxes:
        lines = lines_around(reader.pictures[site.side], box).own
        same = [line for line in lines if stays and reader.same_pixels(line, shift)]
        firsts += [LineAt(site.side, beginning(line)) for line in first_words(same or lines)]
        if same:
            firsts.append(LineAt(0, beginning(moved(first_words(same)[0], back))))
        elif not came_or_went(statement) and lies_inside(moved(box, back), reader.pictures[0].shape):
            there = lines_around(reader.pictures[0], moved(box, back)).own
            firsts += [LineAt(0, beginning(line)) for line in first_words(there)]
    yield from dict.fromkeys(firsts)


def _beside(sites: Sequence[TextSite], reader: PairReader, statements: Sequence[Statement]) -> list[Subject]:
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
    far = [
        number
        for number, site in enumerate(sites)
        if found[2 * number] is None
        and site.statement.count == 1
        and not is_large(site)
        and "text_before" not in site.statement.values  # Its words name it well enough.
    ]
    wanted = [
        Wanted(sites[number].side, _far_lines(sites[number], reader), shift_of(sites[number].statement))
        for number in far
    ]
    for number, words in zip(far, words_beside(wanted, reader, statements), strict=True):
        found[2 * number] = words
    return [
        nameless_subject(site, found[2 * number], found[2 * number + 1], reader.pictures)
        for number, site in enumerate(sites)
    ]


def _far_lines(site: TextSite, reader: PairReader) -> tuple[BesideLine, ...]:
    """Return the lines beside a thing that are farther away than those that were tried."""
    pixels = reader.pictures[site.side]
    return far_lines(pixels, site.box) if lies_inside(site.box, pixels.shape) else ()


def _with_words(site: TextSite, subject: Subject) -> Statement:
    """Return the statement with the read text among its values, as far as the text may be quoted."""
    statement = site.statement
    values: dict[str, Any] = {}
    read = " ".join(text for text in (quoted(line, site.box, statement) for line in site.own_lines) if text)
    # Text at a place that only shows more than before may be in both pictures.
    in_it = (
        not statement.values.get("by_amount")
        or subject.words
        or (subject.beside or "").startswith(("with", '"'))
    )
    if subject.named and read and in_it and "text_before" not in statement.values:
        values["words"] = read if statement.count == 1 else subject.words or read
    if subject.beside is not None:
        values["beside"] = subject.beside
    return replace(statement, values={**statement.values, **values}) if values else statement
