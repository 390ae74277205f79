"""Outcomes that have one cause, with what sets single ones of them apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from whatchanged.compare.run import Outcome
from whatchanged.compare.subtract import beyond_shared
from whatchanged.measured.groups import find_groups


@dataclass(frozen=True)
class Group:
    """Pairs that changed in the same way.

    number    what it is called, from 1
    members   their places among the outcomes, those with something beyond the common change first
    beyond    of the first members: what they show beside the common change, in sentences
    changed   how many of the members changed visibly
    sentence  what they share
    """

    number: int
    members: tuple[int, ...]
    beyond: tuple[tuple[str, ...], ...]
    changed: int
    sentence: str

    @property
    def odd(self) -> tuple[int, ...]:
        """The members that show something beyond the common change."""
        return self.members[: len(self.beyond)]


def group_outcomes(outcomes: Sequence[Outcome]) -> tuple[Group, ...]:
    """The groups, those in which most pictures changed first, noise last.

    Only pairs that were measured can be grouped: a model's sentence about a world of its own stands alone.
    """
    places = []
    answers = []
    for place, outcome in enumerate(outcomes):
        measured = None if outcome.answer is None else outcome.answer.measured
        if measured is not None and measured.verdict != "identical":
            places.append(place)
            answers.append(measured)
    found = []
    for group in find_groups(answers, [outcomes[place].pair.pair_id for place in places]):
        shown = beyond_shared([answers[index] for index in group.members])
        # A stable sort keeps the engine's order among members that show as much.
        ordered = sorted(zip(group.members, shown, strict=True), key=lambda pair: -len(pair[1]))
        members = tuple(places[index] for index, _ in ordered)
        beyond = tuple(tuple(one.sentence for one in statements) for _, statements in ordered if statements)
        changed = sum(outcomes[place].changed for place in members)
        found.append((members, beyond, changed, group.sentence))
    found.sort(key=lambda parts: (-parts[2], -len(parts[0]), parts[0]))
    return tuple(Group(number, *parts) for number, parts in enumerate(found, start=1))
