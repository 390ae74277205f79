"""Divide the members of a group by contradictions, and write a sentence that is true of each member.

The evidence decides which pairs have one cause. One cause may show in different ways: a larger padding moves
some elements, resizes others, and cuts the text of others. Members therefore need not share a statement. But
members whose main statements contradict each other are divided: something added and something removed, a bar
that grew and a bar that shrank, a fill that turned red and a fill that turned green.

The sentence describes what all members share. If the amounts, positions or names in their statements differ,
the sentence omits the amounts, positions or names. Members whose statements are of different kinds share the
family of their kinds, or one of several families.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from whatchanged.compare.subtract import COLORS
from whatchanged.measured.result import Measured, Statement
from whatchanged.measured.rules import sentences

LOOK, LAYOUT = "changed its look", "changed its place or its size"
FAMILIES = {
    **dict.fromkeys(("restyled", "recolored", "replaced", "rewritten"), LOOK),
    **dict.fromkeys(("moved", "resized"), LAYOUT),
    "added": "was added",
    "removed": "was removed",
}
"""A predicate for each family of kinds. The predicate is true of any statement of the family."""
MOST_FAMILIES = 3
"""The largest number of families in one sentence."""
NEAR = 3
"""The largest difference, in pixels, between the sides or sizes of one rewritten text in two pictures."""
CONSEQUENCES = ("pushed in", "closed up")
"""The aspects of content that other content pushed into the picture or out of it.

One cause may push content in where it makes room, and push it out where it takes room.
"""
_RGB = (slice(1, 3), slice(3, 5), slice(5, 7))


def parted(members: Sequence[int], answers: Sequence[Measured]) -> list[tuple[int, ...]]:
    """Return the members divided into parts without contradictions, largest part first.

    members: indices of the answers. Members without statements form one part.
    """
    bare = [member for member in members if not answers[member].statements]
    parts = [[member for member in members if answers[member].statements]]
    parts = [side for part in parts for side in _by_side(part, answers)]
    for sort_of in (_presence, _state, _growth):
        parts = [one for part in parts for one in _by_sort(part, answers, sort_of)]
    parts = [one for part in parts for one in _by_fill(part, answers)]
    results = [tuple(sorted(part)) for part in (*parts, bare) if part]
    return sorted(results, key=lambda part: -len(part))


def _by_sort(
    members: Sequence[int], answers: Sequence[Measured], sort_of: Callable[[Statement], Hashable]
) -> list[list[int]]:
    """Return a part for each sort of main statement. Members of no sort (None) stay in the largest part."""
    sorts = {member: sort_of(answers[member].statements[0]) for member in members}
    counts = Counter(sort for sort in sorts.values() if sort is not None)
    if len(counts) < 2:
        return [list(members)]
    most = max(counts, key=lambda sort: counts[sort])
    for member, sort in sorts.items():
        sorts[member] = most if sort is None else sort
    return [[member for member in members if sorts[member] == sort] for sort in counts]


def _presence(statement: Statement) -> Hashable:
    """Return whether something was added, was removed, or changed places with something; None otherwise.

    Content that was only pushed into the picture or out of it is a consequence, and contradicts nothing.
    """
    aspect = statement.values.get("aspect")
    if aspect == "order":
        return "order"
    if aspect in CONSEQUENCES:
        return None
    return statement.kind if statement.kind in ("added", "removed") else None


def _state(statement: Statement) -> Hashable:
    """Return the aspect and the state of something that was turned on or off; None otherwise."""
    on = statement.values.get("on_after")
    return None if on is None else (statement.values.get("aspect"), on)


def _growth(statement: Statement) -> Hashable:
    """Return whether something grew or shrank; None if it did neither."""
    return statement.values.get("grew")


def _by_fill(members: Sequence[int], answers: Sequence[Measured]) -> list[list[int]]:
    """Return parts in which no two fills of one colour became two colours.

    Members without a new colour of a fill stay in the largest part.
    """
    parts: list[list[int]] = []
    rest = []
    for member in members:
        main = answers[member].statements[0]
        if main.values.get("aspect") != "fill" or "color_after" not in main.values:
            rest.append(member)
            continue
        for part in parts:
            if not any(_are_other_fills(main, answers[other].statements[0]) for other in part):
                part.append(member)
                break
        else:
            parts.append([member])
    if not parts:
        return [rest]
    max(parts, key=len).extend(rest)
    return parts


def _are_other_fills(one: Statement, other: Statement) -> bool:
    """Return whether two fills that may have had one colour became different colours."""
    before, after = (
        [said.values.get(key) for said in (one, other)] for key in ("color_before", "color_after")
    )
    return _is_one_color(*before) and not _is_one_color(*after)


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
    return _by_families(answers)


def _by_families(answers: Sequence[Measured]) -> str | None:
    """Return a sentence with the fewest families of which each answer has one; None if these are too many."""
    left = [{FAMILIES.get(str(one.kind)) for one in answer.statements} for answer in answers]
    told: list[str] = []
    while left:
        counts = Counter(family for families in left for family in sorted(filter(None, families)))
        if len(told) == MOST_FAMILIES or not counts or not all(families - {None} for families in left):
            return None
        (most, _), *_ = counts.most_common(1)
        told.append(most)
        left = [families for families in left if most not in families]
    return f"Something {' or '.join(told)}."


def _alike_in(statement: Statement, answer: Measured) -> Statement | None:
    """Return the statement of an answer that is similar to ``statement``, or None if no statement is similar.

    A statement with the same wording takes precedence.
    """
    alike = [one for one in answer.statements if _is_alike(statement, one)]
    return next((one for one in alike if one.sentence == statement.sentence), alike[0] if alike else None)


def _is_alike(one: Statement, other: Statement) -> bool:
    """Return whether two statements have the same kind, aspect and direction and a similar colour.

    Areas and letters that turned from one colour into the same other one are also similar.
    """
    return (
        one.kind == other.kind
        and (one.values.get("aspect") == other.values.get("aspect") or _took_one_color(one, other))
        and one.values.get("state") == other.values.get("state")
        and all(_side(one, key) == _side(other, key) for key in ("dx", "dy"))
        and not _is_opposite(one, other)
        and _is_one_color(one.values.get("color_after"), other.values.get("color_after"))
        and (one.kind != "rewritten" or _is_one_text(one, other))
    )


def _took_one_color(one: Statement, other: Statement) -> bool:
    """Return whether both statements tell the colour before and the colour after, and these are similar."""
    keys = ("color_before", "color_after")
    known = all(key in said.values for key in keys for said in (one, other))
    return known and all(_is_one_color(one.values[key], other.values[key]) for key in keys)


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
