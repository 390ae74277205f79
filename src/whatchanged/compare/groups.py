"""Outcomes that have one cause, with what sets single ones of them apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whatchanged.compare.grouping import find_groups, pair_distances
from whatchanged.compare.run import Outcome
from whatchanged.compare.subtract import beyond_shared, without_shared
from whatchanged.measured import Measured
from whatchanged.measured.fitted import FAR
from whatchanged.measured.rules import sentences


@dataclass(frozen=True)
class OutcomeGroup:
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


DOMINANT = 2 / 3
"""Part of the changed pictures that one cause explains, so that the others are what to look at."""
LEAST_DOMINANT = 6
NAMES = frozenset({"words", "beside", "text_before"})
"""Keys of what was read for a statement."""
AT_ONCE = 1000
"""Answers that are held against one another at once: some hundred megabytes."""


def is_dominant(group: OutcomeGroup, groups: Sequence[OutcomeGroup]) -> bool:
    """Whether most of what changed has this cause."""
    changed = sum(one.changed for one in groups)
    return group.changed >= LEAST_DOMINANT and group.changed >= DOMINANT * changed


def group_outcomes(outcomes: Sequence[Outcome]) -> tuple[OutcomeGroup, ...]:
    """The groups, those in which most pictures changed first, noise last.

    A cause that explains most of what changed comes after the others, which are then what to look at; what it
    shows is left out of their sentences. Only pairs that were measured can be grouped: a model's sentence
    about a world of its own stands alone. What belongs together, and who stands out, is measured; a model's
    statements give the group its sentence.
    """
    places, rules, answers = [], [], []
    for index, outcome in enumerate(outcomes):
        if outcome.answer is None:
            continue
        measured, told = outcome.answer.measured, outcome.answer.as_measured
        if measured is not None and told is not None and measured.verdict != "identical":
            places.append(index)
            rules.append(measured)
            answers.append(told)
    results = []
    for same, sentence in _of_one_cause(answers, [outcomes[place].pair.pair_id for place in places]):
        shown = beyond_shared([rules[index] for index in same])
        # A stable sort keeps their order among members that show as much.
        ordered = sorted(zip(same, shown, strict=True), key=lambda pair: -len(pair[1]))
        members = tuple(places[index] for index, _ in ordered)
        beyond = tuple(tuple(one.sentence for one in statements) for _, statements in ordered if statements)
        changed = sum(outcomes[place].changed for place in members)
        results.append((members, beyond, changed, sentence))
    results.sort(key=lambda parts: (-parts[2], -len(parts[0]), parts[0]))
    groups = [OutcomeGroup(0, *parts) for parts in results]
    quiet = [group for group in groups if not group.changed]
    answered = dict(zip(places, answers, strict=True))
    if groups and is_dominant(groups[0], groups):
        others = [_beside(group, groups[0], answered) for group in groups[1:] if group.changed]
        groups = [*others, groups[0], *quiet]
    plain = dict(zip(places, rules, strict=True))
    groups = [_named_alike(group, outcomes, answered, plain) for group in groups]
    return tuple(replace(group, number=number) for number, group in enumerate(groups, start=1))


def _named_alike(
    group: OutcomeGroup,
    outcomes: Sequence[Outcome],
    answered: Mapping[int, Measured],
    plain: Mapping[int, Measured],
) -> OutcomeGroup:
    """The group with a sentence that names things where all members name them so, and else none.

    answered, plain: the answers by their places, as they give a group its sentence, and without names.
    """
    teller = next((place for place in group.members if answered[place].sentence == group.sentence), None)
    if teller is None:  # a part of what it shows is left out
        return group
    answers = [outcomes[place].answer for place in group.members]
    shared = {answer.sentence for answer in answers if answer is not None}
    if len(shared) == 1:
        return replace(group, sentence=shared.pop())
    named = any(NAMES & one.values.keys() for one in answered[teller].statements)
    return replace(group, sentence=plain[teller].sentence) if named else group


def _beside(group: OutcomeGroup, dominant: OutcomeGroup, answers: Mapping[int, Measured]) -> OutcomeGroup:
    """The group with a sentence that leaves out what the cause of most shows too."""
    teller = next((index for index in group.members if answers[index].sentence == group.sentence), None)
    if teller is None:
        return group
    left = without_shared(answers[teller].statements, [answers[index] for index in dominant.members])
    return replace(group, sentence=sentences.together(left)) if left else group


def _of_one_cause(answers: Sequence[Measured], names: Sequence[str]) -> list[tuple[list[int], str]]:
    """Indices of the answers of each cause, and what they share.

    Every answer is held against every other, which takes time and memory with the square of their number.
    So of many, ``AT_ONCE`` at equal distances are grouped, and each other one joins the nearest group. Those
    that are far from all are grouped among themselves in the same way.
    """
    results: list[tuple[list[int], str]] = []
    left = list(range(len(answers)))
    while left:
        spread = np.linspace(0, len(left) - 1, min(AT_ONCE, len(left)))
        chosen = [left[place] for place in sorted({int(place) for place in spread.round()})]
        groups = find_groups([answers[index] for index in chosen], [names[index] for index in chosen])
        new = [([chosen[index] for index in group.members], group.sentence) for group in groups]
        taken = set(chosen)
        left = _joined([index for index in left if index not in taken], new, answers, names)
        results += new
    return results


def _joined(
    left: Sequence[int],
    groups: Sequence[tuple[list[int], str]],
    answers: Sequence[Measured],
    names: Sequence[str],
) -> list[int]:
    """Put each answer into the nearest group; returns those that are far from all."""
    heads = [members[len(members) // 2] for members, _ in groups]
    step = max(AT_ONCE // 10, AT_ONCE - len(heads), 1)
    far = []
    for start in range(0, len(left), step):
        chunk = left[start : start + step]
        both = [*heads, *chunk]
        distances = pair_distances(
            [answers[index].signature for index in both], [names[index] for index in both]
        )
        for index, row in zip(chunk, distances[len(heads) :, : len(heads)], strict=True):
            nearest = int(row.argmin())
            if row[nearest] <= FAR:
                groups[nearest][0].append(index)
            else:
                far.append(index)
    return far
