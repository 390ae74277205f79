"""Statements in plain words: a subject, a predicate and the consequences.

A statement names only what was measured or read. The subject may become known later, when words are read or a
model names the object. A statement therefore keeps all data that are needed to phrase it again (``reword``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from whatchanged import words
from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.result import Box, Kind, Statement, Values
from whatchanged.measured.rules.described import is_consequence, worth_telling
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.predicates import is_exact, length, predicate

MOST = 3
"""The largest number of statements of a pair that may be described and whose words are read."""
MOSTLY = 0.5
"""The fraction of the picture above which no single object is said to be added, removed or replaced."""
SEVERAL = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
"""Numbers that are written as words."""
DRAWN = "what is drawn"
"""The words for content on a background that is not text."""
OF_THE_WHOLE = ("turn", "canvas")
"""Aspects of statements about the entire picture, which name no object."""


@dataclass(frozen=True)
class Subject:
    """The subject of a statement, as far as it is known.

    noun      the sort of object in the singular: "button"
    words     the text in the object
    beside    the position relative to text: 'left of "Upload"'
    position  the position in the picture: "at the left"
    count     the number of similar objects
    """

    noun: str | None = None
    words: str | None = None
    beside: str | None = None
    position: str = ""
    count: int = 1

    @property
    def named(self) -> bool:
        """Whether text identifies the object."""
        return bool(self.words or self.beside)


def subject_text(subject: Subject, part: str | None = None, new: bool = False) -> str:
    """Return the subject in words: 'the button "Save"', 'the icon left of "Upload"', "something at the left".

    part: the part of the object that changed: "outline", "text".
    new: whether the object exists only after, so that it gets an indefinite article: "a button at the left".
    """
    whole = _thing(subject, new)
    if part == DRAWN:
        return f"{part} in {whole}"
    return whole if part is None or whole == f"the {part}" else f"the {part} of {whole}"


def _thing(subject: Subject, new: bool) -> str:
    """Return the words for the object itself."""
    is_whole = subject.noun in ("icon", "picture") and subject.position == words.OVER_ALL
    alone = bool(subject.words) or subject.noun == "plot" or is_whole
    where = subject.beside or ("" if alone else subject.position)
    said = f' "{subject.words}"' if subject.words else ""
    noun = subject.noun or ("text" if subject.words else None)
    if noun is None:
        several = f" in {number(subject.count)} places" if subject.count > 1 else ""
        return f"something{several} {where}".rstrip()
    if subject.count > 1:
        start = f"{number(subject.count)} {plural(noun)}"
        start = start if new and not subject.words else f"the {start}"
    elif new and not subject.words:
        start = f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"
    else:
        start = f"the {noun}"
    return f"{start}{said} {where}".rstrip()


def plural(noun: str) -> str:
    """Return the plural of a noun: "buttons", "entries", "boxes". In "line of text" the first word is
    inflected."""
    head, of, rest = noun.partition(" of ")
    if head.endswith(("x", "ch", "sh", "ss")):
        head = f"{head}es"
    elif head == "axis":
        head = "axes"
    elif head.endswith("y") and head[-2:-1] not in tuple("aeiou"):
        head = f"{head[:-1]}ies"
    elif not head.endswith("s"):
        head = f"{head}s"
    return f"{head}{of}{rest}"


def number(count: int) -> str:
    """Return a number in words or digits: "four", "12"."""
    return SEVERAL.get(count, str(count))


def plain_subject(statement: Statement, size: tuple[int, int]) -> Subject:
    """Return the subject that the rules alone know: the element or a noun that the change implies, and the
    position.

    size: the width and height of the picture of the box.
    """
    box = statement.box_after or statement.box_before
    if box is None:
        raise ValueError("a statement needs a place")
    noun = known_noun(statement) or statement.values.get("look")
    count = int(statement.values.get("number") or statement.count)
    return Subject(noun=noun, position=words.position_phrase(box, size), count=count)


def known_noun(statement: Statement) -> str | None:
    """Return the element of the object or a noun that its change implies, or None."""
    aspect = str(statement.values.get("aspect", ""))
    if aspect == "weight" and not is_exact(statement.kind, statement.values):
        aspect = ""  # More ink at the same position may belong to any object.
    return statement.element or _IMPLIED.get(aspect)


_IMPLIED = {
    "weight": "text",
    "slant": "text",
    "decoration": "text",
    "struck": "text",
    "letter spacing": "text",
    "line spacing": "text",
    "face": "text",
    "text size": "text",
    "text": "text",
    "row": "row",
    "column": "column",
    "line of text": "line of text",
    "dialog": "dialog",
    "legend": "legend",
    "data": "plot",
    "grid": "grid",
}
"""A mapping from an aspect to the noun that it implies."""

_PARTS = {"border": "outline", "ink": "text"}
"""A mapping from an aspect to the part of the object that has the colour. The fill counts as the object
itself."""

_ONE_PART = ("bar", "icon", "line", "series", "shape", "mark", "picture")
"""Objects that consist of one part, so that their outline or text is the object itself."""


def _part(subject: Subject, aspect: str) -> str | None:
    """Return the part of the object that has the colour, or None if it is the object itself."""
    part = _PARTS.get(aspect)
    noun = "text" if subject.noun is None else subject.noun.split()[-1]
    if part == "text" and noun in ("area", "band", "thing"):
        return DRAWN
    return None if part == noun or noun in _ONE_PART else part


def reword(statement: Statement, subject: Subject, size: tuple[int, int]) -> Statement:
    """Return the statement with a sentence about this subject. A statement about the entire picture stays
    unchanged.

    size: the width and height of the picture of the object's box.
    """
    if statement.values.get("aspect") in OF_THE_WHOLE:
        return statement
    return replace(statement, sentence=words.capitalised(_text(statement, subject)))


def _text(statement: Statement, subject: Subject, shared: bool = False) -> str:
    """Return the sentence of a statement without its capital letter and full stop.

    shared: whether the statement is about several pictures, so that no fraction of one is mentioned.
    """
    kind, values = statement.kind, statement.values
    if values.get("exchanged") and subject.noun == "text":
        values = {**values, "exchanged": False}  # Only an icon is said to be another one.
    by_amount = _by_amount(statement, subject)
    knows = subject.noun is not None or subject.words is not None
    exact = is_exact(kind, values)
    told_alone = not (exact or subject.named or shared)
    amount = f" ({words.percent(statement.share)} of the picture)" if told_alone and not knows else ""
    if is_mostly(statement) and told_alone:
        return "most of the picture differs"
    if statement.follows and kind == "moved" and not knows:
        subject, knows = replace(subject, noun=None, count=1), False
        position = "" if subject.position == words.OVER_ALL else subject.position
        told = f"what follows {position}".rstrip()
    else:
        part = _part(subject, str(values.get("aspect"))) if kind == "recolored" and knows else None
        told = subject_text(subject, part, new=kind == "added" and "state" not in values and not by_amount)
        carrier = _CARRIERS.get((kind, str(values.get("aspect"))))
        if carrier is not None and not knows:
            told = f"{carrier} {_nameless_position(subject)}".rstrip()
        if (kind, values.get("aspect")) == ("replaced", "fill") and not subject.words:
            told = f"what stood {_nameless_position(subject)}"
        if values.get("aspect") == "shadow" and _is_only_shadow(subject):
            came = bool(values.get("on_after"))
            shadow = subject_text(replace(subject, noun="shadow"), new=came)
            return f"{shadow} {'appeared' if came else 'disappeared'}"
        if values.get("aspect") == "gap" and "side" in values:
            told = _gap_text(str(values["side"]), told if knows else None, subject)
    # Without a noun it is unknown whether several boxes are one object or several.
    number_of = subject.count if knows else 1
    told_as = by_amount or predicate(kind, values, number_of)
    return f"{told} {told_as}{consequence(values)}{amount}"


def _is_only_shadow(subject: Subject) -> bool:
    """Return whether a shadow is all that is known of an object: at one side of it, it looks like a band."""
    return subject.count == 1 and not subject.words and subject.noun in (None, "band", "line")


def _gap_text(side: str, thing: str | None, subject: Subject) -> str:
    """Return the words for the gaps at a side of a thing, or between several things."""
    one, several = ("what stands", "the things")
    known = thing or f"{several if side == 'between' else one} {subject.beside or subject.position}"
    gaps = "gaps" if side == "between" or " and " in side or (thing and subject.count > 1) else "gap"
    return f"the {gaps} {side} {known}"


def is_mostly(statement: Statement) -> bool:
    """Return whether a statement says no more than that most of the picture differs."""
    return statement.share > MOSTLY and not is_exact(statement.kind, statement.values)


def _by_amount(statement: Statement, subject: Subject) -> str | None:
    """Return the predicate for more or less ink at a place where it is unknown what was added or removed, or
    None for all other changes."""
    values = statement.values
    if not values.get("by_amount") or statement.element or values.get("words") or subject.words:
        return None
    verb = "show" if subject.count > 1 and subject.noun is not None else "shows"
    return f"{verb} {'more' if statement.kind == 'added' else 'less'} than before"


_CARRIERS: dict[tuple[Kind | None, str], str] = {
    ("recolored", "fill"): "an area",
    ("recolored", "border"): "a line",
    ("recolored", "ink"): DRAWN,
    ("recolored", "palette"): DRAWN,
    ("replaced", "content"): "the area",
}
"""The nouns that kinds and aspects imply for an object that is otherwise unknown."""


def _nameless_position(subject: Subject) -> str:
    """Return the words for the position of an object without a noun."""
    several = f"in {number(subject.count)} places " if subject.count > 1 else ""
    return f"{several}{subject.beside or subject.position}"


def consequence(values: Values) -> str:
    """Return the words for a consequence, ", which moved the rest down by 24 pixels", or an empty text.

    values: the keys ``content`` and ``rest`` contain the movements [dx, dy] of the object's own content, and
    of the content after the object.
    """
    phrases = {"content": ", and its content moved", "rest": ", which moved the rest"}
    steps = {key: tuple(values.get(key) or (0, 0)) for key in phrases}
    return "".join(f"{phrases[key]} {words.way(*step)}" for key, step in steps.items() if any(step))


def statement(
    finding: Finding,
    box_before: Box | None,
    box_after: Box | None,
    pixels: int,
    size: tuple[int, int],
    cause: bool = True,
    boxes: tuple[Box, ...] = (),
    element: str | None = None,
    look: str | None = None,
) -> Statement:
    """Return one statement with its sentence.

    cause: False for a consequence of another statement.
    look: a plain noun for an object without an element, which is stored in the values.
    """
    box = box_after or box_before
    if box is None:
        raise ValueError("a statement needs a place")
    values = {"aspect": finding.aspect, **finding.values}
    if finding.aspect == "size" and box_before and box_after and len(boxes) <= 1:
        sizes = [[one[2] - one[0], one[3] - one[1]] for one in (box_before, box_after)]
        if sizes[0] != sizes[1]:
            values = {**values, "size_before": sizes[0], "size_after": sizes[1]}
    if look is not None and element is None and cause:
        values = {**values, "look": look}
    room = sum(area(one) for one in (*boxes, box_before, box_after) if one is not None)
    unworded = Statement(
        kind=finding.kind,
        box_before=box_before,
        box_after=box_after,
        sentence="",
        confidence=finding.confidence,
        share=min(1.0, min(pixels, room) / (size[0] * size[1])),  # The boxes may overlap.
        values=values,
        boxes=boxes or (box,),
        element=element,
        follows=not cause,
    )
    return reword(unworded, plain_subject(unworded, size), size)


def together(statements: Sequence[Statement], chosen: Sequence[Statement] | None = None) -> str:
    """Join the first statements into one sentence, followed by the number of the other ones.

    chosen: the statements that are described instead of the first ones.
    """
    chosen = worth_telling(statements) if chosen is None else chosen
    parts = [words.lowered(one.sentence)[:-1] for one in chosen]
    if len(chosen) > 1:
        grown = _grown_side(chosen[-1])
        if grown is not None:
            parts = [*parts[:-2], f"{parts[-2]}, and the picture {grown}"]
        elif is_consequence(chosen[-2], chosen[-1]):
            parts = [*parts[:-2], f"{parts[-2]}, and {parts[-1]}"]
    more = len(statements) - len(chosen)
    if more:
        parts.append(f"{more} more {'place differs' if more == 1 else 'places differ'}")
    return words.capitalised(words.joined(parts))


def _grown_side(last: Statement) -> str | None:
    """Return how much wider or taller the picture became, if only one of its sides changed; else None."""
    one_side = bool(last.values.get("dx")) != bool(last.values.get("dy"))
    return length(last.values) if last.values.get("aspect") == "canvas" and one_side else None


def of_several(statements: Sequence[Statement], sizes: Sequence[tuple[int, int]]) -> str:
    """Return a sentence with the common content of statements of one kind about several pictures.

    Amounts, positions, nouns and words are left out if they differ.

    sizes: the width and height of each picture.
    """
    first = statements[0]
    if all(one.sentence == first.sentence for one in statements):
        return first.sentence
    if first.values.get("aspect") in OF_THE_WHOLE:
        return (
            "The picture was turned." if first.values["aspect"] == "turn" else "The picture's size changed."
        )
    values = {
        key: value
        for key, value in first.values.items()
        if all(one.values.get(key) == value for one in statements)
    }
    subjects = [plain_subject(one, size) for one, size in zip(statements, sizes, strict=True)]
    subject = Subject(
        noun=_one_of({one.noun for one in subjects}),
        words=_one_of({one.values.get("words") for one in statements}),
        position=_one_of({one.position for one in subjects}) or "",
        count=_one_of({one.count for one in subjects}) or 1,
    )
    follows = all(one.follows for one in statements)
    shared = replace(first, values=values, follows=follows)
    return words.capitalised(_text(shared, subject, shared=True))


def _one_of(values: set[Any]) -> Any:
    """Return the only value of a set, or None if there are several."""
    return next(iter(values)) if len(values) == 1 else None


def joined(texts: Sequence[str]) -> str:
    """Join several sentences into one."""
    return words.capitalised(words.joined([words.lowered(one)[:-1] for one in texts]))
