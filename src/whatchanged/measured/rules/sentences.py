"""Statements in plain words: a subject, what happened to it, and what followed.

Nothing is named that was not measured or read. The subject is known better once words are read or a model has
named the thing, so a statement holds all that is needed to put it into words again (``reword``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from whatchanged import words
from whatchanged.measured.result import Box, Statement
from whatchanged.measured.rules.kinds import Finding
from whatchanged.measured.rules.predicates import Values, is_exact, predicate

MOST = 3
"""Statements of a pair that may be told, and whose words are read."""
MOST_PLACES = 3
"""Statements of a pair beside which a second one is told: of more of them the further ones seldom tell of a
change of their own."""
MOSTLY = 0.5
"""Share of the picture from which on no one thing is said to have come, gone or been exchanged."""
SEVERAL = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
"""Numbers that are written as words."""
DRAWN = "what is drawn"
"""What stands on the ground of a thing that is no text."""
NOT_BESIDE = (
    ("added", "fill"),
    ("recolored", "contrast"),
    ("recolored", "opacity"),
    ("recolored", "palette"),
    ("removed", "closed up"),
    ("replaced", "icon"),
    ("resized", "length"),
    ("restyled", "border"),
    ("restyled", "radius"),
    ("restyled", "shape"),
)
"""Kinds and finer words that are not told beside a first statement. On real pairs most such second statements
tell of the first one's change once more."""
OF_THE_WHOLE = ("turn", "canvas")
"""Aspects of statements about the picture as a whole, whose words do not name a thing."""


@dataclass(frozen=True)
class Subject:
    """What a statement is about, as far as it is known.

    noun      what sort of thing it is, in the singular: "button"
    words     what is written in it
    beside    where it stands beside words: 'left of "Upload"'
    position  where it stands in the picture: "at the left"
    count     how many alike things
    """

    noun: str | None = None
    words: str | None = None
    beside: str | None = None
    position: str = ""
    count: int = 1

    @property
    def named(self) -> bool:
        """Whether words tell which thing it is."""
        return bool(self.words or self.beside)


def subject_text(subject: Subject, part: str | None = None, new: bool = False) -> str:
    """The subject in words: 'the button "Save"', 'the icon left of "Upload"', "something at the left".

    part  what of the thing is meant: "outline", "text"
    new   whether the thing is there only after, so that nobody knows it yet: "a button at the left"
    """
    whole = _thing(subject, new)
    if part == DRAWN:
        return f"{part} in {whole}"
    return whole if part is None or whole == f"the {part}" else f"the {part} of {whole}"


def _thing(subject: Subject, new: bool) -> str:
    """The thing itself."""
    alone = bool(subject.words) or subject.noun == "plot"
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
    """More than one of it: "buttons", "entries", "boxes"; of "line of text" the first word counts."""
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
    """ "four", "12"."""
    return SEVERAL.get(count, str(count))


def plain_subject(statement: Statement, size: tuple[int, int]) -> Subject:
    """What the rules alone know of the thing: its element, or what its change implies; and its place.

    size: width and height of the picture that the box lies in.
    """
    box = statement.box_after or statement.box_before
    if box is None:
        raise ValueError("a statement needs a place")
    noun = known_noun(statement) or statement.values.get("look")
    count = int(statement.values.get("number") or statement.count)
    return Subject(noun=noun, position=words.position_phrase(box, size), count=count)


def known_noun(statement: Statement) -> str | None:
    """What the thing is: its element, or what its change implies; None where that tells nothing."""
    aspect = str(statement.values.get("aspect", ""))
    if aspect == "weight" and not is_exact(statement.kind, statement.values):
        aspect = ""  # more ink at the same place may be anything's
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
"""What a thing must be to have changed so."""

_PARTS = {"border": "outline", "ink": "text"}
"""What of a thing a colour belongs to, by the finer word; a thing's fill is the thing."""

_ONE_PART = ("icon", "line", "series", "shape", "mark", "picture")
"""Things that consist of one part: their outline or their text is nothing else than they are."""


def _part(subject: Subject, aspect: str) -> str | None:
    """What of a thing a colour belongs to; None where that is the thing itself."""
    part = _PARTS.get(aspect)
    noun = "text" if subject.noun is None else subject.noun.split()[-1]
    if part == "text" and noun in ("area", "band") and not subject.named:
        return DRAWN
    return None if part == noun or noun in _ONE_PART else part


def reword(statement: Statement, subject: Subject, size: tuple[int, int]) -> Statement:
    """The statement with the sentence that this subject gives it; one about the whole picture as it is.

    size: width and height of the picture that the box of the thing lies in.
    """
    if statement.values.get("aspect") in OF_THE_WHOLE:
        return statement
    return replace(statement, sentence=words.capitalised(_text(statement, subject)))


def _text(statement: Statement, subject: Subject, shared: bool = False) -> str:
    """The words of a statement, without capital and full stop.

    shared: it is of several pictures, so that no share of one is told.
    """
    kind, values = statement.kind, statement.values
    knows = subject.noun is not None or subject.words is not None
    exact = is_exact(kind, values)
    told_alone = not (exact or subject.named or shared)
    amount = f" ({words.percent(statement.share)} of the picture)" if told_alone and not knows else ""
    if statement.share > MOSTLY and told_alone:
        return f"most of the picture differs ({words.percent(statement.share)})"
    if statement.follows and kind == "moved" and not knows:
        subject, knows = replace(subject, noun=None, count=1), False
        told = f"what follows {subject.position}".rstrip()
    else:
        part = _part(subject, str(values.get("aspect"))) if kind == "recolored" and knows else None
        told = subject_text(subject, part, new=kind == "added" and "state" not in values)
        if kind == "recolored" and not knows:
            carrier = _COLORED.get(str(values.get("aspect")), "something")
            told = f"{carrier} {_nameless_position(subject)}".rstrip()
    # of a thing without a noun it is not known whether its places are one thing or several
    number_of = subject.count if knows else 1
    return f"{told} {predicate(kind, values, number_of)}{consequence(values)}{amount}"


_COLORED = {"fill": "an area", "border": "a line", "ink": DRAWN, "palette": DRAWN}
"""What carries a colour, where the thing is not known."""


def _nameless_position(subject: Subject) -> str:
    """Where a thing without a noun stands."""
    several = f"in {number(subject.count)} places " if subject.count > 1 else ""
    return f"{several}{subject.beside or subject.position}"


def consequence(values: Values) -> str:
    """What followed: ", which moved the rest down by 24 pixels"; empty where nothing did.

    values: ``rest``: [dx, dy], how far what comes after it moved.
    """
    dx, dy = values.get("rest") or (0, 0)
    return f", which moved the rest {words.way(dx, dy)}" if dx or dy else ""


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
    """One statement with its words; ``cause`` is false for what another statement brought about.

    look: a plain noun for what has no element, kept among the values.
    """
    box = box_after or box_before
    if box is None:
        raise ValueError("a statement needs a place")
    values = {"aspect": finding.aspect, **finding.values}
    if finding.aspect == "size" and box_before and box_after:
        sizes = [[one[2] - one[0], one[3] - one[1]] for one in (box_before, box_after)]
        if sizes[0] != sizes[1]:
            values = {**values, "size_before": sizes[0], "size_after": sizes[1]}
    if look is not None and element is None and cause:
        values = {**values, "look": look}
    unworded = Statement(
        kind=finding.kind,
        box_before=box_before,
        box_after=box_after,
        sentence="",
        confidence=finding.confidence,
        share=min(1.0, pixels / (size[0] * size[1])),  # places of one change may overlap
        values=values,
        boxes=boxes or (box,),
        element=element,
        follows=not cause,
    )
    return reword(unworded, plain_subject(unworded, size), size)


def worth_telling(statements: Sequence[Statement]) -> list[Statement]:
    """The statements that the sentence of the whole answer holds: the first, and the second where few differ.

    On real pairs of training repositories half of the second statements tell of a change of their own, of
    the third ones a quarter, and of those beside a change that moved the rest a third.
    """
    first, *further = statements
    if (
        not further
        or len(statements) > MOST_PLACES
        or "rest" in first.values
        or not _may_stand_beside(further[0])
    ):
        return [first]
    return [first, further[0]]


def _may_stand_beside(second: Statement) -> bool:
    """Whether a second statement may tell of a change of its own."""
    return not second.follows and (second.kind, second.values.get("aspect")) not in NOT_BESIDE


def together(statements: Sequence[Statement], chosen: Sequence[Statement] | None = None) -> str:
    """The first statements as one sentence; of the others how many there are.

    chosen: those that are told instead, some of the statements.
    """
    chosen = worth_telling(statements) if chosen is None else chosen
    parts = [words.lowered(one.sentence)[:-1] for one in chosen]
    more = len(statements) - len(chosen)
    if more:
        parts.append(f"{more} more {'place differs' if more == 1 else 'places differ'}")
    return words.capitalised(words.joined(parts))


def of_several(statements: Sequence[Statement], sizes: Sequence[tuple[int, int]]) -> str:
    """What statements of one kind, each of another picture, say alike: what differs among them is left out.

    sizes: width and height of each picture. Amounts, places, nouns and words that not all of them have are
    not told.
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
    """The one value of a set; None where there are several."""
    return next(iter(values)) if len(values) == 1 else None


def joined(texts: Sequence[str]) -> str:
    """Whole sentences as one."""
    return words.capitalised(words.joined([words.lowered(one)[:-1] for one in texts]))
