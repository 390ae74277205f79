"""Group the outcomes that have one cause, and describe the differences of single members."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whatchanged.compare.evidence import log_odds
from whatchanged.compare.grouping import NOTHING_SHARED, find_groups, least_odds
from whatchanged.compare.run import Outcome
from whatchanged.compare.shared import parted, shared_sentence
from whatchanged.compare.subtract import beyond_shared, without_shared
from whatchanged.measured import Measured
from whatchanged.measured.rules import sentences


@dataclass(frozen=True)
class OutcomeGroup:
    """Pairs that changed in the same way.

    number    the number of the group, from 1
    members   the indices of the pairs in the outcomes; the odd members come first
    beyond    for each odd member, the sentences about its further changes
    changed   the number of members that changed visibly
    sentence  a sentence about the common change
    """

    number: int
    members: tuple[int, ...]
    beyond: tuple[tuple[str, ...], ...]
    changed: int
    sentence: str

    @property
    def odd(self) -> tuple[int, ...]:
        """Return the members that show a further change in addition to the common one."""
        return self.members[: len(self.beyond)]


DOMINANT = 2 / 3
"""The smallest share of the changed pictures in a dominant group.

The cause of a dominant group explains most of the changes, so the other pictures deserve more attention.
"""
LEAST_DOMINANT = 6
AT_ONCE = 1000
"""The number of answers that are compared with each other at once. This takes some hundred megabytes."""


def is_dominant(group: OutcomeGroup, groups: Sequence[OutcomeGroup], alone: int = 0) -> bool:
    """Return whether most of the changed pictures are in this group.

    alone: the number of changed pictures that are in no group.
    """
    changed = alone + sum(one.changed for one in groups)
    return group.changed >= LEAST_DOMINANT and group.changed >= DOMINANT * changed


def group_outcomes(outcomes: Sequence[Outcome]) -> tuple[OutcomeGroup, ...]:
    """Return the groups, largest first.

    A picture is in no group if no other picture changed in the same way, or if the picture did not change
    visibly.

    A group that explains most of the changes comes last, because the other groups deserve more attention.
    The sentences of the other groups then omit the changes of the last group. Only measured pairs can be
    grouped. A pair that a model answered about its own world is never grouped.
    """
    places, rules, said = [], [], []
    for index, outcome in enumerate(outcomes):
        if outcome.answer is None or not outcome.changed:
            continue
        measured = outcome.answer.measured
        if measured is not None and measured.verdict != "identical":
            places.append(index)
            rules.append(replace(measured, verdict="changed"))
            said.append(outcome.answer.sentence)
    groups = []
    for same in _of_one_cause(rules, [outcomes[place].pair.pair_id for place in places]):
        if len(same) == 1:
            continue
        shown = beyond_shared([rules[index] for index in same])
        # A stable sort keeps the order of members with the same number of further changes.
        ordered = sorted(zip(same, shown, strict=True), key=lambda pair: -len(pair[1]))
        members = tuple(places[index] for index, _ in ordered)
        beyond = tuple(tuple(one.sentence for one in statements) for _, statements in ordered if statements)
        sentence = _sentence([said[index] for index in same], [rules[index] for index in same])
        groups.append(OutcomeGroup(0, members, beyond, len(members), sentence))
    groups.sort(key=lambda group: (-len(group.members), group.members))
    alone = len(places) - sum(len(group.members) for group in groups)
    if groups and is_dominant(groups[0], groups, alone):
        answered = dict(zip(places, rules, strict=True))
        groups = [*(_beside(group, groups[0], answered) for group in groups[1:]), groups[0]]
    return tuple(replace(group, number=number) for number, group in enumerate(groups, start=1))


def _sentence(given: Sequence[str], rules: Sequence[Measured]) -> str:
    """Return the sentence about the common change.

    If all members have the same sentence, this sentence is returned. Otherwise, the result is a sentence by
    the rules.
    """
    if len(set(given)) == 1:
        return given[0]
    return shared_sentence(rules) or NOTHING_SHARED


def _beside(group: OutcomeGroup, dominant: OutcomeGroup, answers: Mapping[int, Measured]) -> OutcomeGroup:
    """Return the group with a sentence that omits the changes of the dominant group."""
    others = [answers[index] for index in dominant.members]
    left = [(answers[index], without_shared(answers[index].statements, others)) for index in group.members]
    sentence = shared_sentence(
        [replace(one, statements=kept, sentence=sentences.together(kept)) for one, kept in left if kept]
    )
    return replace(group, sentence=sentence) if sentence and all(kept for _, kept in left) else group


def _of_one_cause(answers: Sequence[Measured], names: Sequence[str]) -> list[list[int]]:
    """Return the indices of the answers for each cause.

    Comparing all answers with each other takes time and memory that grow with the square of their number. If
    there are many answers, ``AT_ONCE`` answers are therefore chosen at equal distances and grouped. Each
    other answer joins the nearest group, and this group is then divided again. Answers that are far from all
    groups are grouped among themselves in the same way.
    """
    results: list[list[int]] = []
    left = list(range(len(answers)))
    while left:
        spread = np.linspace(0, len(left) - 1, min(AT_ONCE, len(left)))
        chosen = [left[place] for place in sorted({int(place) for place in spread.round()})]
        groups = find_groups([answers[index] for index in chosen], [names[index] for index in chosen])
        new = [[chosen[index] for index in group.members] for group in groups]
        sizes = [len(members) for members in new]
        taken = set(chosen)
        left = _joined([index for index in left if index not in taken], new, answers, names)
        for members, size in zip(new, sizes, strict=True):
            results += [list(part) for part in parted(members, answers)] if len(members) > size else [members]
    return results


def _joined(
    left: Sequence[int],
    groups: Sequence[list[int]],
    answers: Sequence[Measured],
    names: Sequence[str],
) -> list[int]:
    """Add each answer to the nearest group. Return the answers that are far from all groups."""
    heads = [members[len(members) // 2] for members in groups]
    step = max(AT_ONCE // 10, AT_ONCE - len(heads), 1)
    far = []
    for start in range(0, len(left), step):
        chunk = left[start : start + step]
        both = [*heads, *chunk]
        odds = log_odds([answers[index] for index in both], [names[index] for index in both])
        least = least_odds(odds)
        for index, row in zip(chunk, odds[len(heads) :, : len(heads)], strict=True):
            nearest = int(row.argmax())
            if row[nearest] >= least:
                groups[nearest].append(index)
            else:
                far.append(index)
    return far
