"""One comparison with its pairs, answers, groups and counts. All outputs are made from a ``Comparison``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from whatchanged.compare.groups import OutcomeGroup, group_outcomes, is_dominant
from whatchanged.compare.ignore import Ignored, unused_boxes
from whatchanged.compare.pairs import Matched
from whatchanged.compare.run import Outcome, answer_pairs
from whatchanged.compare.settings import CompareSettings
from whatchanged.compare.stored import StoredAnswers


@dataclass(frozen=True)
class Comparison:
    """The pairs and the results of one comparison.

    outcomes  the results, in the order of ``matched.pairs``
    groups    the groups of pairs with one cause, numbered from 1
    unused    the ignored boxes that no longer contain any difference
    """

    matched: Matched
    settings: CompareSettings
    outcomes: tuple[Outcome, ...]
    groups: tuple[OutcomeGroup, ...]
    unused: tuple[Ignored, ...]

    @property
    def changed(self) -> list[Outcome]:
        """Return the pairs of two files that changed visibly or that are too close to call."""
        return [one for one in self.outcomes if one.changed and one.answer is not None]

    @property
    def failed(self) -> list[Outcome]:
        """Return the pairs that could not be compared."""
        return [one for one in self.outcomes if one.failed]

    @property
    def noise(self) -> list[Outcome]:
        """Return the pairs whose pixels differ without a visible change."""
        return [one for one in self.outcomes if one.noise]

    @property
    def only_ignored(self) -> list[Outcome]:
        """Return the pairs whose visible differences are all in ignored boxes."""
        return [one for one in self.outcomes if one.ignored]

    def of_status(self, status: str) -> list[Outcome]:
        """Return the outcomes of files with the status "added", "removed" or "renamed"."""
        return [one for one in self.outcomes if one.pair.status == status]

    @cached_property
    def group_of(self) -> dict[int, int]:
        """Return the mapping from the index of an outcome to the number of its group."""
        return {index: group.number for group in self.groups for index in group.members}

    @property
    def dominant(self) -> OutcomeGroup | None:
        """Return the group whose cause explains most of the changes, or None if there is none."""
        alone = len(self.alone)
        return next((group for group in self.groups if is_dominant(group, self.groups, alone)), None)

    @cached_property
    def alone(self) -> list[Outcome]:
        """Return the changed pairs that are in no group."""
        return [
            one
            for index, one in enumerate(self.outcomes)
            if one.changed and one.answer is not None and index not in self.group_of
        ]

    @property
    def passes(self) -> bool:
        """Return whether nothing changed, was added or was removed, and every pair could be compared."""
        return not any(one.changed or one.failed for one in self.outcomes)


def compare(
    matched: Matched,
    settings: CompareSettings,
    stored: StoredAnswers | None = None,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda n: None,
) -> Comparison:
    """Answer every pair and find the groups. Raises WhatchangedError like ``answer_pairs``."""
    outcomes = answer_pairs(matched.pairs, settings, stored, workers, advance)
    touched = {index for outcome in outcomes for index in outcome.touched}
    return Comparison(
        matched,
        settings,
        tuple(outcomes),
        group_outcomes(outcomes),
        tuple(unused_boxes(settings.ignored, touched)),
    )
