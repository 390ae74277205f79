"""What every member of a group shows: the statement by which they belong together, and its words.

A group tells nothing that is not true of each of its members. So members share a statement of one kind and
finer word, towards the same side and the same colour. Where their amounts, places or names differ, the
sentence leaves these out. One cause may also be told as two kinds, as a new face of type is told as another
shape here and as bolder text there: such members share the family of their kinds, which is all that their
sentence tells. Those that share nothing are parted.
"""

from collections.abc import Sequence

import numpy as np

from whatchanged.compare.subtract import COLORS
from whatchanged.measured.result import Measured, Statement
from whatchanged.measured.rules import sentences

LOOK, LAYOUT = "Something changed its look.", "Something changed its place or its size."
FAMILIES = {
    **dict.fromkeys(("restyled", "recolored", "replaced", "rewritten"), LOOK),
    **dict.fromkeys(("moved", "resized"), LAYOUT),
}
"""What is true of any statement of a kind. What was added is like nothing else, nor is what was removed."""

MEASURED = ("amount_after", "on_after", "color_after")
"""Values of statements that tell how much of something there is now, that it is there, or its colour."""
NEAR = 3
"""Pixels by which sides and sizes of rewritten texts may differ that are one text in two pictures."""
_RGB = (slice(1, 3), slice(3, 5), slice(5, 7))


def parted(members: Sequence[int], answers: Sequence[Measured]) -> list[tuple[int, ...]]:
    """The members in parts whose members all share a statement, the largest part first.

    members: indices of the answers. Those without statements are one part.
    """
    by_side = _by_side(members, answers)
    if len(by_side) > 1:
        return sorted(
            (part for side in by_side for part in parted(side, answers)), key=lambda part: -len(part)
        )
    left = [member for member in members if answers[member].statements]
    bare = tuple(member for member in members if not answers[member].statements)
    parts: list[tuple[list[int], list[Statement]]] = []
    shared = []
    while left:
        firsts = (one for member in left for one in answers[member].statements[:1])
        sharing = max(((_sharing(one, left, answers), one) for one in firsts), key=lambda part: len(part[0]))
        shared.append(sharing)
        left = [member for member in left if member not in sharing[0]]
    for found, statement in sorted(shared, key=lambda part: -len(part[0])):
        for into, told in parts:
            if all(_is_worded_otherwise(statement, one) for one in told):
                into.extend(found)
                told.append(statement)
                break
        else:
            parts.append((list(found), [statement]))
    results = [tuple(sorted(part)) for part, _ in parts]
    return sorted([*results, bare] if bare else results, key=lambda part: -len(part))


def _by_side(members: Sequence[int], answers: Sequence[Measured]) -> list[list[int]]:
    """The members in two parts where some push what follows down and others up, else in one.

    Those that push nothing stay with the larger part. Across, one cause may push to both sides, as bolder
    words do in columns and in centred lines.
    """
    pushed = {member: _push_down(answers[member]) for member in members}
    sides = [[member for member in members if pushed[member] * sign > 0] for sign in (1, -1)]
    if not all(sides):
        return [list(members)]
    least = min(sides, key=len)
    return [[member for member in members if member not in least], least]


def _push_down(answer: Measured) -> float:
    """How far down the first statement that pushes anything does so; below 0: up."""
    pushes = (one.values.get("rest") for one in answer.statements)
    _, down = next((push for push in pushes if push), (0.0, 0.0))
    return float(down)


def shared_sentence(answers: Sequence[Measured]) -> str | None:
    """A sentence that is true of all answers; None where they share neither a statement nor a family."""
    if len({answer.sentence for answer in answers}) == 1:
        return answers[0].sentence
    plainest = min(answers, key=lambda answer: len(answer.statements))
    told = []
    for statement in plainest.statements[: sentences.MOST]:
        alike = [_alike_in(statement, answer) for answer in answers]
        every = [one for one in alike if one is not None]
        if len(every) == len(answers):
            sizes = [answer.size_after for answer in answers]
            told.append(sentences.of_several(every, sizes))
    if told:
        return sentences.joined(list(dict.fromkeys(told)))
    families = [{FAMILIES.get(str(one.kind)) for one in answer.statements} for answer in answers]
    return next((told for told in (LOOK, LAYOUT) if all(told in family for family in families)), None)


def _sharing(statement: Statement, members: Sequence[int], answers: Sequence[Measured]) -> tuple[int, ...]:
    """The members that hold a statement alike to this one."""
    return tuple(member for member in members if _alike_in(statement, answers[member]) is not None)


def _alike_in(statement: Statement, answer: Measured) -> Statement | None:
    """The statement of an answer that says the same as this one, in the same words where one does; None
    where there is none."""
    alike = [one for one in answer.statements if _is_alike(statement, one)]
    return next((one for one in alike if one.sentence == statement.sentence), alike[0] if alike else None)


def _is_alike(one: Statement, other: Statement) -> bool:
    """Whether two statements are of one kind and finer word, one side and one colour."""
    return (
        one.kind == other.kind
        and one.values.get("aspect") == other.values.get("aspect")
        and one.values.get("state") == other.values.get("state")
        and all(_side(one, key) == _side(other, key) for key in ("dx", "dy"))
        and not _is_opposite(one, other)
        and _is_one_color(one.values.get("color_after"), other.values.get("color_after"))
        and (one.kind != "rewritten" or _is_one_text(one, other))
    )


def _is_one_text(one: Statement, other: Statement) -> bool:
    """Whether two rewritten texts may be one: of the same words, of one size or at one place.

    That a text reads differently says nothing of how, so without this any two rewritten texts would be alike.
    """
    words = [(said.values.get("text_before"), said.values.get("text_after")) for said in (one, other)]
    if words[0] == words[1] and all(words[0]):
        return True
    pairs = ((one.box_before, other.box_before), (one.box_after, other.box_after))
    boxes = [np.array([first, second]) for first, second in pairs if first and second]
    return any(
        bool((np.abs(box[0] - box[1])[:2] <= NEAR).all())
        or bool((np.abs((box[0] - box[1])[2:] - (box[0] - box[1])[:2]) <= NEAR).all())
        for box in boxes
    )


def _is_worded_otherwise(one: Statement, other: Statement) -> bool:
    """Whether two statements may tell one change in two ways: of one family, and of two kinds or finer words.

    Two of the same words that are not alike tell two changes, such as two new colours; and so do two of which
    each was measured, such as a weight and a radius.
    """
    family = FAMILIES.get(str(one.kind))
    if family is None or family != FAMILIES.get(str(other.kind)):
        return False
    if _is_opposite(one, other):
        return False
    words = [(said.kind, said.values.get("aspect")) for said in (one, other)]
    return words[0] != words[1] and not all(set(MEASURED) & set(said.values) for said in (one, other))


def _is_opposite(one: Statement, other: Statement) -> bool:
    """Whether one thing grew and the other shrank."""
    grew = {said.values.get("grew") for said in (one, other)}
    return grew == {True, False}


def _side(statement: Statement, key: str) -> int:
    """-1, 0 or 1: to which side a step goes; 0 where none was measured."""
    step = statement.values.get(key, 0)
    return (step > 0) - (step < 0) if isinstance(step, int | float) else 0


def _is_one_color(one: object, other: object) -> bool:
    """Whether two colours ("#rrggbb") are alike, or one of them was not measured."""
    if not (isinstance(one, str) and isinstance(other, str) and len(one) == len(other) == 7):
        return True
    return all(abs(int(one[part], 16) - int(other[part], 16)) <= COLORS for part in _RGB)
