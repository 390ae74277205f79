"""The path from the changes that were found to ranked statements: similar changes once, causes before what
follows from them."""

from collections.abc import Sequence

from whatchanged.measured.result import Statement
from whatchanged.measured.rules import sentences
from whatchanged.measured.rules.alike import merged
from whatchanged.measured.rules.causes import (
    brings_about,
    following,
    ranked,
    with_rest,
    without_chance_likeness,
)
from whatchanged.measured.rules.centred import around_contents
from whatchanged.measured.rules.detected import DetectedChange


def in_words(
    changes: Sequence[DetectedChange], size: tuple[int, int], whole: Statement | None = None
) -> list[Statement]:
    """Return statements about the changes, best first. Similar changes are merged, and causes include their
    consequences.

    size: the width and height of the picture after.
    whole: the statement about the entire picture, if there is one.
    """
    changes = without_chance_likeness(list(changes))
    inside = None if whole is None else around_contents(changes, whole)
    if inside is not None:
        return [inside[1], *in_words(inside[0], size)] if inside[0] else [inside[1]]
    found = with_rest(ranked(merged(changes)), changes)
    told = found if whole is None else following(found, whole)
    if any(one.cause for one in told):
        told = [one for one in told if one.cause or one.finding.kind == "moved"]
    statements = [
        sentences.statement(
            one.finding,
            one.box_before,
            one.box_after,
            one.pixels,
            size,
            one.cause,
            one.boxes,
            one.element,
            one.look,
        )
        for one in told
    ]
    if whole is None or (statements and brings_about(changes, whole)):
        return statements
    follow = (found and told[0] is not found[0]) or all(not one.cause for one in told)
    return [whole, *statements] if follow else [*statements, whole]
