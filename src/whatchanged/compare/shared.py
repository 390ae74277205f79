"""Find the statement that all members of a group share, and write its sentence.

The sentence of a group must be true of each member. The members therefore share a statement with the same
kind and aspect, the same direction and the same colour. If the amounts, positions or names in these
statements differ, the sentence omits the amounts, positions or names.

One cause may also result in statements of two kinds. For example, a new typeface may look like another shape
in one picture and like bolder text in another. Such members share the family of their kinds, and the sentence
states only the family. Members that share nothing are divided into several groups.
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
"""A sentence for each family of kinds. The sentence is true of any statement of the family.

Added and removed elements belong to no family.
"""

MEASURED = ("amount_after", "on_after", "color_after")
"""The values of statements that give the amount, the state or the colour after the change."""
NEAR = 3
"""The largest difference, in pixels, between the sides or sizes of one rewritten text in two pictures."""
_RGB = (slice(1, 3), slice(3, 5), slice(5, 7))


def parted(members: Sequence[int], answers: Sequence[Measured]) -> list[tuple[int, ...]]:
    """Return the members divided into parts whose members all share a statement, largest part first.

    members: indices of the answers. Members without statements form one part.
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
    """Return two parts if some members shift the content below down and others up, otherwise one part.

    Members that shift nothing stay in the larger part. Horizontal shifts are not divided, because one cause
    may shift content both ways. For example, bolder words shift content both ways in columns and in centred
    lines.
    """
    pushed = {member: _push_down(answers[member]) for member in members}
    sides = [[member for member in members if pushed[member] * sign > 0] for sign in (1, -1)]
    if not all(sides):
        return [list(members)]
    least = min(sides, key=len)
    return [[member for member in members if member not in least], least]


def _push_down(answer: Measured) -> float:
    """Return the downward shift, in pixels, of the first statement that shifts anything.

    The result is negative for an upward shift.
    """
    pushes = (one.values.get("rest") for one in answer.statements)
    _, down = next((push for push in pushes if push), (0.0, 0.0))
    return float(down)


def shared_sentence(answers: Sequence[Measured]) -> str | None:
    """Return a sentence that is true of all answers; None if they share no statement and no family."""
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
    """Return the members that have a statement similar to ``statement``."""
    return tuple(member for member in members if _alike_in(statement, answers[member]) is not None)


def _alike_in(statement: Statement, answer: Measured) -> Statement | None:
    """Return the statement of an answer that is similar to ``statement``, or None if no statement is similar.

    A statement with the same wording takes precedence.
    """
    alike = [one for one in answer.statements if _is_alike(statement, one)]
    return next((one for one in alike if one.sentence == statement.sentence), alike[0] if alike else None)


def _is_alike(one: Statement, other: Statement) -> bool:
    """Return whether two statements have the same kind, aspect and direction and a similar colour."""
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
    """Return whether two rewritten texts may be the same text: with the same words, size or position.

    A statement that a text was rewritten does not describe the new text. Without this check, any two
    rewritten texts would be similar.
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
    """Return whether two statements may describe one change in two ways.

    The two statements must belong to one family and have different kinds or aspects. Two statements with the
    same kind and aspect that are not similar describe two changes, such as two new colours. Two measured
    statements, such as a weight and a radius, also describe two changes.
    """
    family = FAMILIES.get(str(one.kind))
    if family is None or family != FAMILIES.get(str(other.kind)):
        return False
    if _is_opposite(one, other):
        return False
    words = [(said.kind, said.values.get("aspect")) for said in (one, other)]
    return words[0] != words[1] and not all(set(MEASURED) & set(said.values) for said in (one, other))


def _is_opposite(one: Statement, other: Statement) -> bool:
    """Return whether one element grew and the other shrank."""
    grew = {said.values.get("grew") for said in (one, other)}
    return grew == {True, False}


def _side(statement: Statement, key: str) -> int:
    """Return the sign of a step: -1, 0 or 1. It is 0 if the step was not measured."""
    step = statement.values.get(key, 0)
    return (step > 0) - (step < 0) if isinstance(step, int | float) else 0


def _is_one_color(one: object, other: object) -> bool:
    """Return whether two colours ("#rrggbb") are similar.

    The result is also True if one of the colours was not measured.
    """
    if not (isinstance(one, str) and isinstance(other, str) and len(one) == len(other) == 7):
        return True
    return all(abs(int(one[part], 16) - int(other[part], 16)) <= COLORS for part in _RGB)
