"""Which statements of a pair its sentence contains: the first, and at most one that has a change of its own.

Labels of real pairs set these rules. A second statement in a sentence has a change of its own in three of
four pairs of the training repositories. Without the rules it has one in half of them.
"""

from collections.abc import Sequence

from whatchanged.measured.pixels.boxes import gap, union
from whatchanged.measured.result import Box, Statement

MOST_PLACES = 3
"""The largest number of statements beside which a second one is described.

With more statements, the second one seldom describes a change of its own.
"""
APART = 16
"""The least distance in pixels between two changes that are described side by side.

What differs nearer to the first change mostly belongs to it: it is the rest of the object, or what moved with
it. On real pairs, 10 of 18 such statements have a change of their own, and 38 of 50 farther ones.
"""
OF_WHOLE_REGION = (
    ("recolored", "palette"),
    ("replaced", "content"),
    ("replaced", "icon"),
    ("replaced", "part"),
    ("replaced", "picture"),
)
"""Kinds and aspects of a first statement about everything in its region, which includes the second change."""
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
"""Kinds and aspects that are not described beside a first statement.

On real pairs, most such second statements describe the change of the first one again.
"""


def worth_telling(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements in the sentence of the entire answer: the first, and the second if it has a
    change of its own.

    The new size of the picture is always described: it is a fact.
    """
    first, *further = statements
    if further and (is_consequence(first, further[0]) or _has_own_change(statements)):
        return [first, further[0]]
    return [first]


def is_consequence(first: Statement, second: Statement) -> bool:
    """Return whether the first statement is the picture's new size, and the second one what moved with it."""
    return _is_canvas(first) and second.follows and second.kind == "moved"


def _has_own_change(statements: Sequence[Statement]) -> bool:
    """Return whether the second statement is about another change than the first one."""
    first, second = statements[:2]
    if len(statements) > MOST_PLACES or "rest" in first.values or second.follows:
        return False
    if _is_canvas(first) or _is_canvas(second):
        return True
    return (
        _category(first) not in OF_WHOLE_REGION
        and _category(second) not in NOT_BESIDE
        and not _moved_together(first, second)
        and gap(_span(first), _span(second)) >= APART
    )


def _moved_together(first: Statement, second: Statement) -> bool:
    """Return whether two objects moved in one direction: what moved farther was also moved by what lies
    between them."""
    if first.kind != "moved" or second.kind != "moved":
        return False
    return all(first.values.get(name, 0) * second.values.get(name, 0) >= 0 for name in ("dx", "dy"))


def _is_canvas(one: Statement) -> bool:
    """Return whether a statement is about the size of the picture."""
    return one.values.get("aspect") == "canvas"


def _category(one: Statement) -> tuple[str | None, str]:
    """Return the kind and aspect of a statement."""
    return one.kind, str(one.values.get("aspect", ""))


def _span(one: Statement) -> Box:
    """Return the box around an object in both pictures."""
    return union([box for box in (one.box_before, one.box_after) if box is not None])
