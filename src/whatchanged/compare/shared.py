"""What every member of a group shows: the statement by which they belong together, and its words.

A group tells nothing that is not true of each of its members. So members share a statement of one kind and
finer word, towards the same side and the same colour; those that do not are parted. Where their amounts,
places or names differ, the sentence leaves these out.
"""

from collections.abc import Sequence

from whatchanged.compare.subtract import COLORS
from whatchanged.measured.result import Measured, Statement
from whatchanged.measured.rules import sentences

_RGB = (slice(1, 3), slice(3, 5), slice(5, 7))


def parted(members: Sequence[int], answers: Sequence[Measured]) -> list[tuple[int, ...]]:
    """The members in parts whose members all share a statement, the largest part first.

    members: indices of the answers. Those without statements are one part.
    """
    left = [member for member in members if answers[member].statements]
    bare = tuple(member for member in members if not answers[member].statements)
    parts = []
    while left:
        shared = max(
            (_sharing(one, left, answers) for member in left for one in answers[member].statements[:1]),
            key=len,
        )
        parts.append(shared)
        left = [member for member in left if member not in shared]
    return sorted([*parts, bare] if bare else parts, key=lambda part: -len(part))


def shared_sentence(answers: Sequence[Measured]) -> str | None:
    """A sentence that is true of all answers; None where they share no statement."""
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
    return sentences.joined(list(dict.fromkeys(told))) if told else None


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
        and _is_one_color(one.values.get("color_after"), other.values.get("color_after"))
    )


def _side(statement: Statement, key: str) -> int:
    """-1, 0 or 1: to which side a step goes; 0 where none was measured."""
    step = statement.values.get(key, 0)
    return (step > 0) - (step < 0) if isinstance(step, int | float) else 0


def _is_one_color(one: object, other: object) -> bool:
    """Whether two colours ("#rrggbb") are alike, or one of them was not measured."""
    if not (isinstance(one, str) and isinstance(other, str) and len(one) == len(other) == 7):
        return True
    return all(abs(int(one[part], 16) - int(other[part], 16)) <= COLORS for part in _RGB)
